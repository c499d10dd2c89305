#include "luminal/rewrite/lower.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "luminal/kernel/split.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::rewriting {
namespace {

using kernel::LoopId;
using kernel::LoopSet;
using kernel::Monoid;
using kernel::ValueId;
namespace value = kernel::value;

/// The coordinates at which a class is read.
using Place = std::vector<Expr>;

struct Use {
  const Body* body;
  Place place;
  friend bool operator==(const Use&, const Use&) = default;
};
struct UseHash {
  std::size_t operator()(const Use& use) const {
    Hash hash(reinterpret_cast<std::uintptr_t>(use.body));  // only for lookup: never seen in a result
    for (const auto& e : use.place) hash.add(e.hash());
    return hash.value();
  }
};

class Lowerer {
 public:
  explicit Lowerer(const Terms& terms) : terms_(terms) {}

  Lowered run(const std::vector<BodyRef>& bodies) {
    for (const auto& body : bodies) add_root(body);
    result_.kernel = kernel::split_loops(std::move(result_.kernel));
    return std::move(result_);
  }

 private:
  kernel::Kernel& kernel() { return result_.kernel; }
  const TermClass& class_of(const Body& body) const { return terms_[body.owner]; }

  // ---------------------------------------------------------------------------------------------- loops

  /// A loop of this extent that is not among `used`: equal sweeps get equal loops.
  LoopId loop_for(const Expr& extent, const LoopSet& used) {
    for (std::size_t k = 0; k < kernel().loops().size(); ++k)
      if (!used[k] && kernel().loops()[k].extent == extent) return LoopId(k);
    return kernel().add_loop(extent);
  }

  /// New coordinates for axes [first, last) of a shape, and the loops they run over; axes of size 1 need
  /// none.
  std::vector<LoopId> loops_over(const Shape& shape, std::size_t first, LoopSet used, Place& place) {
    std::vector<LoopId> loops;
    for (std::size_t axis = first; axis < shape.rank(); ++axis) {
      if (shape[axis] == Expr(1)) {
        place.emplace_back(0);
        continue;
      }
      const LoopId loop = loop_for(shape[axis], used);
      used.set(loop.index());
      loops.push_back(loop);
      place.push_back(kernel().variable(loop));
    }
    return loops;
  }

  LoopSet used_by(const Place& place) {
    LoopSet used;
    for (const auto& e : place) used |= kernel().free_of(e);
    return used;
  }

  // ---------------------------------------------------------------------------------------------- roots

  void add_root(const BodyRef& body) {
    if (body->term != nullptr && body->term->kind == Term::Kind::scatter) return add_scatter(*body);
    const TermClass& owner = class_of(*body);
    Place place;
    const auto domain = loops_over(owner.shape, 0, {}, place);
    ValueId root;
    if (body->term != nullptr && body->term->kind == Term::Kind::scan) {
      const ValueId argument = lower(body->children[0], place);
      const Expr& along = place.back();
      root = along.is_constant()
                 ? argument
                 : kernel().add(value::Scan{body->term->monoid, LoopId(*along.coordinate_axis()), argument},
                                owner.dtype);
    } else {
      root = lower(body, place);
    }
    store(*body, domain, place, root, kernel::Store::Mode::set);
    passed_on_.emplace(body->owner, std::pair(place, root));
  }

  void store(const Body& body, std::vector<LoopId> domain, Place place, ValueId root,
             kernel::Store::Mode mode, std::optional<ClassId> base = std::nullopt) {
    const TermClass& owner = class_of(body);
    const std::uint32_t output = kernel().add_output({owner.shape, owner.dtype});
    result_.outputs.push_back(body.owner);
    result_.bases.push_back(base);
    kernel().add_store({output, std::move(domain), std::move(place), root, mode});
  }

  void add_scatter(const Body& body) {
    const std::size_t axis = body.term->number;
    const TermClass& updates = terms_[body.children[2]->owner];
    const Expr& length = class_of(body).shape[axis];
    Place place;
    const auto domain = loops_over(updates.shape, 0, {}, place);
    const ValueId index = lower(body.children[1], place);
    const ValueId fresh = lower(body.children[2], place);
    Place target = place;
    target[axis] = scatter_position(index, length, place[axis], updates.shape);
    store(body, domain, target, fresh,
          body.term->op == Op::scatter_add ? kernel::Store::Mode::add : kernel::Store::Mode::set,
          body.children[0]->owner);
  }

  /// A place that data names; where the data is an index expression that lies inside, the place is that
  /// expression.
  Expr position(ValueId index, const Expr& length) {
    if (const auto* known = kernel().value(index).try_get<value::Index>())
      if (prove_le(0, known->value) && prove_lt(known->value, length)) return known->value;
    return kernel().variable(kernel().add(value::Position{index, length}, kernel().value(index).dtype));
  }

  /// The same for a scatter, whose every point is written: that index expressions which go up one by one lie
  /// inside is tested before the run instead of for every element.
  Expr scatter_position(ValueId index, const Expr& length, const Expr& along, const Shape& domain) {
    if (const auto* known = kernel().value(index).try_get<value::Index>()) {
      const Expr& e = known->value;
      const Expr rest = along.is_constant() ? e : e - along;
      if (kernel().free_of(rest).none()) {
        const Expr last = along.is_constant() ? Expr(0) : along.coordinate_extent() - 1;
        result_.checks.push_back({e, rest, rest + last, length, domain.element_count()});
        return e;
      }
    }
    return position(index, length);
  }

  // ---------------------------------------------------------------------------------------------- values

  ValueId lower(const BodyRef& body, const Place& place) {
    const Use use{body.get(), place};
    if (const auto found = memo_.find(use); found != memo_.end()) return found->second;
    const ValueId made = make(body, place);
    memo_.emplace(use, made);
    return made;
  }

  ValueId make(const BodyRef& body, const Place& place) {
    const TermClass& owner = class_of(*body);
    if (body->term == nullptr || body->term->kind == Term::Kind::leaf) return load(*body, place);
    const Term& term = *body->term;
    switch (term.kind) {
      case Term::Kind::constant:
        return constant(terms_.atoms->scalars[term.atom]);
      case Term::Kind::iota: {
        const Expr index = terms_.atoms->expressions[term.atom].substitute_coordinates(place);
        return kernel().add(value::Index{index}, owner.dtype);
      }
      case Term::Kind::random:
        return random(*body, place);
      case Term::Kind::view:
        return view(*body, place);
      case Term::Kind::map:
        return map(*body, place);
      case Term::Kind::reduce:
        return reduce(*body, place);
      case Term::Kind::gather: {
        const ValueId index = lower(body->children[1], place);
        Place inner = place;
        inner[term.number] = position(index, terms_[body->children[0]->owner].shape[term.number]);
        return lower(body->children[0], inner);
      }
      default:
        throw InternalError("lower: a scatter or scan inside of a kernel");
    }
  }

  ValueId constant(const Scalar& scalar) { return kernel().add(value::Constant{scalar}, scalar.dtype); }

  ValueId load(const Body& body, const Place& place) {
    const auto passed = passed_on_.find(body.owner);
    if (passed != passed_on_.end() && passed->second.first == place) return passed->second.second;
    // Of an array without elements nothing is read, though a value that does not count may name a place in
    // it.
    const Shape& shape = class_of(body).shape;
    if (std::find(shape.begin(), shape.end(), Expr(0)) != shape.end())
      return constant(make_scalar(class_of(body).dtype, 0));
    const auto [it, fresh] = input_of_.emplace(body.owner, 0);
    if (fresh) {
      it->second = kernel().add_input({class_of(body).shape, class_of(body).dtype});
      result_.inputs.push_back(body.owner);
    }
    return kernel().add(value::Load{it->second, place}, class_of(body).dtype);
  }

  ValueId random(const Body& body, const Place& place) {
    const Shape& shape = class_of(body).shape;
    Expr word = 0;
    for (std::size_t k = 0; k < shape.rank(); ++k) word = word * shape[k] + place[k];
    const ValueId key = lower(body.children[0], {});
    return kernel().add(value::Random{word, key, body.term->number}, DType::u32);
  }

  /// A guard that always or never holds is worth finding; with dims of unknown size the search for that can
  /// take long, and what the normal form does not see stays a guard.
  static Expr decided(const Expr& valid) {
    for (const auto& variable : valid.variables())
      if (!variable.coordinate_axis()) return valid;
    return valid.simplify();
  }

  ValueId view(const Body& body, const Place& place) {
    const IndexMap& map = terms_.atoms->maps[body.term->atom];
    const DType dtype = class_of(body).dtype;
    std::vector<value::Guard::Condition> conditions;
    for (const auto& guard : map.guards) {
      const Expr valid = decided(guard.valid.substitute_coordinates(place));
      if (valid == Expr(1)) continue;
      const Scalar fill = make_scalar(dtype, guard.fill);
      if (valid == Expr(0) && conditions.empty()) return constant(fill);
      conditions.push_back({valid, fill});
      if (valid == Expr(0)) break;
    }
    Place inner;
    inner.reserve(map.index.size());
    for (const auto& e : map.index) inner.push_back(e.substitute_coordinates(place));
    const ValueId read = lower(body.children[0], inner);
    if (conditions.empty()) return read;
    return kernel().add(value::Guard{std::move(conditions), read}, dtype);
  }

  ValueId map(const Body& body, const Place& place) {
    std::vector<ValueId> arguments;
    for (const auto& child : body.children) arguments.push_back(lower(child, place));
    if (row(body.term->op).commutative) std::sort(arguments.begin(), arguments.end());
    return kernel().add(value::Map{body.term->op, std::move(arguments)}, class_of(body).dtype);
  }

  ValueId reduce(const Body& body, const Place& place) {
    const Shape& shape = terms_[body.children[0]->owner].shape;
    const std::size_t first = shape.rank() - body.term->number;
    Place inner = place;
    std::vector<LoopId> loops = loops_over(shape, first, used_by(place), inner);
    std::vector<ValueId> arguments;
    for (const auto& child : body.children) arguments.push_back(lower(child, inner));
    if (body.term->monoid == Monoid::sum) {
      while (merge_inner_sum(loops, arguments[0])) {
      }
      arguments[0] = regrouped(arguments[0]);
    }
    if (loops.empty() && body.term->monoid != Monoid::soft_sum && body.term->monoid != Monoid::m2)
      return arguments[0];
    return kernel().add(value::Reduce{body.term->monoid, std::move(loops), std::move(arguments)},
                        class_of(body).dtype);
  }

  // ---------------------------------------------------------------------------------------------- normal
  // form

  /// Σ_j guard(Σ_k e) = Σ_jk guard(e), so that a fold (the backward of a convolution) is one contraction.
  bool merge_inner_sum(std::vector<LoopId>& loops, ValueId& element) {
    const auto* guard = kernel().value(element).try_get<value::Guard>();
    const ValueId inside = guard != nullptr ? guard->argument : element;
    const auto* sum = kernel().value(inside).try_get<value::Reduce>();
    if (sum == nullptr || sum->monoid != Monoid::sum) return false;
    const DType dtype = kernel().value(element).dtype;
    if (compute_dtype(dtype) != dtype) return false;  // the inner sum rounds
    LoopSet mine;
    for (const auto loop : loops) mine.set(loop.index());
    if ((kernel().value(inside).free & mine).none()) return false;
    LoopSet taken = mine;
    if (guard != nullptr) {
      for (const auto& condition : guard->conditions) {
        if (to_double(condition.fill) != 0) return false;
        taken |= kernel().free_of(condition.valid);
      }
    }
    for (const auto loop : sum->loops)
      if (taken[loop.index()]) return false;
    std::vector<value::Guard::Condition> conditions;
    if (guard != nullptr) conditions = guard->conditions;
    const ValueId summand = sum->arguments[0];
    loops.insert(loops.end(), sum->loops.begin(), sum->loops.end());
    element = conditions.empty() ? summand : guarded(conditions, summand);
    return true;
  }

  std::vector<ValueId> factors(ValueId id) {
    const auto* map = kernel().value(id).try_get<value::Map>();
    if (map == nullptr || map->op != Op::mul) return {id};
    std::vector<ValueId> all;
    const auto arguments = map->arguments;
    for (const auto argument : arguments)
      for (const auto factor : factors(argument)) all.push_back(factor);
    return all;
  }

  ValueId product(ValueId a, ValueId b) {
    std::vector<ValueId> arguments = {std::min(a, b), std::max(a, b)};
    return kernel().add(value::Map{Op::mul, std::move(arguments)}, kernel().value(a).dtype);
  }
  ValueId product(const std::vector<ValueId>& all) {
    ValueId result = all[0];
    for (std::size_t k = 1; k < all.size(); ++k) result = product(result, all[k]);
    return result;
  }

  /// A guard with fill 0 on a product sits on the factor with the fewest loops that has the guard's, and on
  /// those that would read outside of arrays without it. An infinite factor times that 0 is no 0, hence not
  /// where results must be exact.
  ValueId guarded(const std::vector<value::Guard::Condition>& conditions, ValueId element) {
    LoopSet needed;
    for (const auto& condition : conditions) needed |= kernel().free_of(condition.valid);
    auto all = factors(element);
    std::size_t best = all.size();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const LoopSet& free = kernel().value(all[k]).free;
      if ((needed & ~free).any()) continue;
      if (best == all.size() || free.count() < kernel().value(all[best]).free.count()) best = k;
    }
    const DType dtype = kernel().value(element).dtype;
    if (terms_.exact || all.size() < 2 || best == all.size())
      return kernel().add(value::Guard{conditions, element}, dtype);
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k != best && !kernel::leaves_arrays(kernel(), all[k])) continue;
      auto own = conditions;
      const LoopSet free = kernel().value(all[k]).free;
      const auto has_part = [&](const auto& c) { return (kernel().free_of(c.valid) & free).any(); };
      if (k != best && std::any_of(own.begin(), own.end(), has_part))
        std::erase_if(own, std::not_fn(has_part));
      all[k] = kernel().add(value::Guard{std::move(own), all[k]}, dtype);
    }
    return product(all);
  }

  /// A product's factors grouped by the loops they vary with, a factor with few of them absorbed by the
  /// smallest group that has them all: how often a factor is computed depends on the grouping.
  ValueId regrouped(ValueId element) {
    const DType dtype = kernel().value(element).dtype;
    if (terms_.exact || compute_dtype(dtype) != dtype) return element;
    auto all = factors(element);
    if (all.size() < 3) return element;
    std::sort(all.begin(), all.end());
    struct Group {
      LoopSet free;
      std::vector<ValueId> members;
    };
    std::vector<Group> groups;
    for (const auto factor : all) {
      const LoopSet& free = kernel().value(factor).free;
      const auto found =
          std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.free == free; });
      if (found != groups.end())
        found->members.push_back(factor);
      else
        groups.push_back({free, {factor}});
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Group& a, const Group& b) { return a.free.count() < b.free.count(); });
    for (std::size_t k = 0; k < groups.size();) {
      std::size_t host = groups.size();
      for (std::size_t j = k + 1; j < groups.size(); ++j)
        if ((groups[k].free & ~groups[j].free).none() && groups[j].free != groups[k].free) {
          host = j;
          break;
        }
      if (host == groups.size()) {
        ++k;
        continue;
      }
      groups[host].members.insert(groups[host].members.end(), groups[k].members.begin(),
                                  groups[k].members.end());
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
    }
    std::vector<ValueId> products;
    for (const auto& group : groups) products.push_back(product(group.members));
    return product(products);
  }

  const Terms& terms_;
  Lowered result_;
  std::unordered_map<Use, ValueId, UseHash> memo_;
  std::map<ClassId, std::uint32_t> input_of_;
  std::map<ClassId, std::pair<Place, ValueId>> passed_on_;  // outputs of this kernel: where and what
};

}  // namespace

Lowered lower(const Terms& terms, const std::vector<BodyRef>& bodies) {
  return Lowerer(terms).run(bodies);
}

}  // namespace luminal::rewriting
