#include "luminal/search/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "luminal/kernel/structure.h"

namespace luminal::search {

std::string_view name(Family family) {
  constexpr std::string_view names[family_count] = {"map",    "reduce",  "row", "contract",
                                                    "attend", "scatter", "scan"};
  return names[static_cast<std::size_t>(family)];
}

double MachineModel::least_seconds(double bytes, double operations) const {
  constexpr double own = 1 << 20;      // a worker
  constexpr double middle = 64 << 20;  // together
  const double rate = bytes <= own * workers ? cache_bandwidth
                      : bytes <= middle      ? middle_bandwidth
                                             : bandwidth;
  return std::max(bytes / rate, operations / contraction_rate);
}

double operation_weight(Op op) {
  switch (op) {
    case Op::recip:
    case Op::div:
    case Op::sqrt:
      return 4;
    case Op::exp2:
    case Op::log2:
      return 8;
    case Op::sin:
    case Op::cos:
    case Op::atan:
    case Op::erf:
    case Op::log1p:
    case Op::expm1:
    case Op::pow:
    case Op::mod:
      return 20;
    default:
      return 1;
  }
}

namespace {

using kernel::Kernel;
using kernel::LoopId;
using kernel::LoopSet;
using kernel::Monoid;
using kernel::ValueId;
namespace value = kernel::value;

enum class Contraction : std::uint8_t { none, vector, tile };

/// What a kernel's stores until now have computed and read: the next one has it for nothing.
struct Shared {
  explicit Shared(const Kernel& kernel)
      : computed(kernel.values().size(), false), read(kernel.inputs().size(), 0) {}
  std::vector<bool> computed;  // by value
  std::vector<double> read;    // elements, by input
};

/// One store's body under study.
class Study {
 public:
  Study(const Kernel& kernel, const kernel::Store& store, const MachineModel& machine, const DimMap& dims,
        const Shared& shared)
      : kernel_(kernel), store_(store), machine_(machine), shared_(shared) {
    for (const auto& loop : kernel.loops()) {
      const auto extent = loop.extent.try_eval(dims);
      extents_.push_back(static_cast<double>(std::max<std::int64_t>(1, extent.value_or(64))));
    }
    dims_ = dims;
    find_reachable();
    find_nesting();
    find_contractions();
    for (const auto loop : store.domain)
      if (extent(loop.index()) > 1) domain_.set(loop.index());
  }

  std::optional<Estimate> run() const {
    LoopSet grid = domain_;
    for (const auto r : outer_) grid &= kernel_.value(r).free;
    const LoopSet covered = domain_ & ~grid;
    std::optional<Estimate> best = priced(grid, covered, false);
    if (covered.any()) {
      const auto retiled = priced(domain_, covered, true);
      if (!best || (retiled && retiled->seconds < best->seconds)) best = retiled;
    }
    if (best) best->family = family(covered);
    return best;
  }

  void add_to(Shared& shared) const {
    for (std::size_t i = 0; i < reachable_.size(); ++i) {
      if (!reachable_[i]) continue;
      shared.computed[i] = true;
      if (const auto* load = kernel_.values()[i].try_get<value::Load>()) {
        double& read = shared.read[load->input];
        read = std::max(read, elements_of(*load, i));
      }
    }
  }

 private:
  double extent(std::size_t loop) const { return extents_[loop]; }
  double product(const LoopSet& loops) const {
    double result = 1;
    for (std::size_t k = 0; k < extents_.size(); ++k)
      if (loops[k]) result *= extents_[k];
    return result;
  }
  double blocks_along(const LoopSet& loops, double tile) const {
    double result = 1;
    for (std::size_t k = 0; k < extents_.size(); ++k)
      if (loops[k]) result *= std::ceil(extents_[k] / tile);
    return result;
  }
  /// How many different ones a load reads.
  double elements_of(const value::Load& load, std::size_t i) const {
    double all = 1;
    for (const auto& dim : kernel_.inputs()[load.input].shape)
      all *= static_cast<double>(std::max<std::int64_t>(1, dim.try_eval(dims_).value_or(64)));
    return std::min(all, product(kernel_.values()[i].free));
  }
  const value::Reduce& reduction(ValueId id) const { return *kernel_.value(id).try_get<value::Reduce>(); }

  void find_reachable() {
    const std::size_t count = kernel_.values().size();
    reachable_.assign(count, false);
    operands_.resize(count);
    std::vector<ValueId> stack = {store_.value};
    for (const auto& e : store_.index)
      for (const auto position : kernel::positions_of(e)) stack.push_back(position);
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (reachable_[id.index()]) continue;
      reachable_[id.index()] = true;
      operands_[id.index()] = kernel::operands(kernel_, id);
      stack.insert(stack.end(), operands_[id.index()].begin(), operands_[id.index()].end());
    }
    reads_.assign(count, false);
    for (std::size_t k = 0; k < count; ++k) {
      if (!reachable_[k]) continue;
      if (kernel_.values()[k].try_get<value::Reduce>() != nullptr) reductions_.emplace_back(k);
      reads_[k] = kernel_.values()[k].try_get<value::Load>() != nullptr ||
                  std::any_of(operands_[k].begin(), operands_[k].end(),
                              [&](ValueId operand) { return reads_[operand.index()]; });
    }
  }

  /// For each reduction what lies inside it; which reductions lie inside none; how many sweeps use a value.
  void find_nesting() {
    uses_.assign(reachable_.size(), 0);
    for (const auto r : reductions_) {
      inside_.push_back(kernel::inside(kernel_, r));
    }
    for (const auto r : reductions_) {
      const bool nested =
          std::any_of(inside_.begin(), inside_.end(), [&](const auto& set) { return set[r.index()]; });
      (nested ? nested_ : outer_).push_back(r);
    }
    count_sweeps();
  }

  /// A value is used in as many sweeps as there are different (loops, level) of reductions it lies in, and
  /// once more if the store reads it outside of all.
  void count_sweeps() {
    std::vector<std::set<std::pair<std::vector<std::uint32_t>, int>>> contexts(reachable_.size());
    std::vector<int> level(reductions_.size(), 1);
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      const LoopSet loops = kernel::set_of(reduction(reductions_[k]).loops);
      std::vector<bool> below(reachable_.size(), false);
      std::vector<ValueId> stack(reduction(reductions_[k]).arguments.begin(),
                                 reduction(reductions_[k]).arguments.end());
      while (!stack.empty()) {
        const ValueId id = stack.back();
        stack.pop_back();
        if (below[id.index()]) continue;
        below[id.index()] = true;
        stack.insert(stack.end(), operands_[id.index()].begin(), operands_[id.index()].end());
      }
      for (std::size_t j = 0; j < k; ++j)
        if (below[reductions_[j].index()] && (kernel::set_of(reduction(reductions_[j]).loops) & loops).any())
          level[k] = std::max(level[k], level[j] + 1);
      std::vector<std::uint32_t> names;
      for (const auto loop : reduction(reductions_[k]).loops) names.push_back(loop.value());
      for (std::size_t i = 0; i < reachable_.size(); ++i)
        if (inside_[k][i]) contexts[i].insert({names, level[k]});
    }
    for (std::size_t i = 0; i < reachable_.size(); ++i) uses_[i] = static_cast<double>(contexts[i].size());
    std::vector<bool> seen(reachable_.size(), false);
    std::vector<ValueId> stack = {store_.value};
    while (!stack.empty()) {
      const ValueId id = stack.back();
      stack.pop_back();
      if (seen[id.index()]) continue;
      seen[id.index()] = true;
      if (kernel_.value(id).try_get<value::Reduce>() != nullptr) continue;
      uses_[id.index()] += 1;
      stack.insert(stack.end(), operands_[id.index()].begin(), operands_[id.index()].end());
    }
    for (auto& n : uses_) n = std::max(n, 1.0);
    at_root_ = std::move(seen);
  }

  void factors(ValueId id, std::vector<ValueId>& all) const {
    const auto* map = kernel_.value(id).try_get<value::Map>();
    if (map == nullptr || map->op != Op::mul) {
      all.push_back(id);
      return;
    }
    for (const auto argument : map->arguments) factors(argument, all);
  }

  /// A sum of products whose factors vary with loops that the others lack is a matmul, and can be tiled in
  /// registers.
  void find_contractions() {
    contraction_.assign(reductions_.size(), Contraction::none);
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      const auto& r = reduction(reductions_[k]);
      std::vector<ValueId> all;
      if (r.monoid == Monoid::sum) {
        factors(r.arguments[0], all);
      } else if (r.monoid == Monoid::soft_sum) {
        all.push_back(r.arguments[0]);
        factors(r.arguments[1], all);
      }
      const LoopSet loops = kernel::set_of(r.loops);
      std::vector<LoopSet> sides;
      for (const auto f : all) {
        const LoopSet& free = kernel_.value(f).free;
        if ((free & loops).none()) continue;
        LoopSet side = free & kernel_.value(reductions_[k]).free;
        for (std::size_t i = 0; i < extents_.size(); ++i)
          if (extents_[i] < 8) side.reset(i);
        sides.push_back(side);
      }
      for (const auto& a : sides)
        for (const auto& b : sides) {
          if ((a & ~b).any() && (b & ~a).any()) contraction_[k] = Contraction::tile;
          if (a != b && contraction_[k] == Contraction::none) contraction_[k] = Contraction::vector;
        }
      has_template_.push_back(contraction_[k] != Contraction::none);
      // Inside of another reduction no template tiles it, but for attention's, if nothing else reads it.
      for (std::size_t j = 0; j < reductions_.size(); ++j)
        if (contraction_[k] == Contraction::tile && inside_[j][reductions_[k].index()] &&
            (at_root_[reductions_[k].index()] || !attends(j))) {
          contraction_[k] = Contraction::vector;
          has_template_[k] = false;
        }
      // Nor where guards keep its reads inside of arrays.
      if (contraction_[k] == Contraction::tile &&
          kernel::needs_guards(kernel_, std::span(&store_.value, 1), reductions_[k])) {
        contraction_[k] = Contraction::vector;
        has_template_[k] = false;
      }
    }
  }

  /// Whether a contraction in this reduction counts as tiled: in a softmax' sum that mixes columns, which the
  /// template for attention takes; and, though no template takes it, in one that does not where a matrix of
  /// the scores would be too large to be kept: there it is the only way, and must not lose to worse ones.
  bool attends(std::size_t k) const {
    constexpr double most_scores = 1 << 24;
    const auto& mine = reduction(reductions_[k]);
    if (mine.monoid != Monoid::soft_sum) return false;
    const LoopSet& scores = kernel_.value(mine.arguments[0]).free;
    return product(scores) > most_scores ||
           std::any_of(reductions_.begin(), reductions_.end(), [&](ValueId id) {
             const auto& other = reduction(id);
             return other.monoid == Monoid::soft_sum && other.arguments[0] == mine.arguments[0] &&
                    (kernel_.value(id).free & ~scores).any();
           });
  }

  bool has_tiles() const {
    return std::find(contraction_.begin(), contraction_.end(), Contraction::tile) != contraction_.end();
  }

  std::optional<Estimate> priced(const LoopSet& grid, const LoopSet& covered, bool retile) const {
    const double row_tile = has_tiles() ? std::min(64.0, product(grid)) : 1;
    if (!retile)
      for (const auto r : outer_)
        if (product(kernel_.value(r).free & ~grid) * row_tile > machine_.on_chip) return std::nullopt;
    std::vector<double> again(reachable_.size(), 1);
    recompute(retile, again);
    double vector = 0;
    double tiles = 0;
    struct Traffic {
      double footprint = 0;
      double uses = 0;
      double kept = 0;
      double again = 1;
    };
    std::map<std::uint32_t, Traffic> traffic;
    for (std::size_t i = 0; i < reachable_.size(); ++i) {
      if (!reachable_[i] || shared_.computed[i]) continue;
      const auto& v = kernel_.values()[i];
      const double kept = product(v.free & ~grid) * (has_tiles() ? row_tile : 1);
      const double repeat = again[i] * (kept > machine_.on_chip ? uses_[i] : 1);
      const double points = product(v.free);
      if (const auto* map = v.try_get<value::Map>()) {
        if (!feeds_tile(ValueId(i)))
          vector += times_computed(i) * repeat * operation_weight(map->op) * prologue(i, map->op);
      } else if (v.try_get<value::Guard>() != nullptr || v.try_get<value::Index>() != nullptr) {
        vector += times_computed(i) * repeat;
      } else if (v.try_get<value::Random>() != nullptr) {
        vector += points * repeat * 24;
      } else if (v.try_get<value::Scan>() != nullptr) {
        vector += points * repeat * 4;
      } else if (const auto* r = v.try_get<value::Reduce>()) {
        const std::size_t k = index_of(ValueId(i));
        const double work = points * product(kernel::set_of(r->loops)) * repeat;
        if (contraction_[k] == Contraction::tile)
          tiles += 2 * work;
        else
          vector += work;
        if (r->monoid == Monoid::soft_sum)
          vector += product(kernel_.value(r->arguments[0]).free) * 10 * again[i];
        if (r->monoid == Monoid::m2) vector += work * 6;
      } else if (const auto* load = v.try_get<value::Load>()) {
        Traffic& t = traffic[load->input];
        t.footprint = std::max(t.footprint, elements_of(*load, i));
        t.uses += uses_[i];
        t.kept = std::max(t.kept, kept);
        t.again = std::max(t.again, again[i]);
      }
    }
    double bytes = 0;
    for (const auto& [input, t] : traffic) {
      const double size = static_cast<double>(byte_size(kernel_.inputs()[input].dtype));
      bytes += std::max(0.0, t.footprint - shared_.read[input]) * size *
               (t.kept > machine_.on_chip ? t.uses : 1) *
               (t.footprint * size > machine_.shared_cache ? t.again : 1);
    }
    return combined(grid, covered, retile, bytes, vector, tiles, row_tile);
  }

  std::optional<Estimate> combined(const LoopSet& grid, const LoopSet& covered, bool retile, double bytes,
                                   double vector, double tiles, double row_tile) const {
    const double written =
        product(domain_) * static_cast<double>(byte_size(kernel_.outputs()[store_.output].dtype));
    double blocks = product(domain_) / 1024;
    if (!reductions_.empty()) {
      if (has_tiles() && (retile || covered.none()))
        blocks = std::max(1.0, product(domain_) / (64 * 128));
      else if (retile)
        blocks = product(domain_) / 128;
      else
        blocks = product(grid) / row_tile;
    }
    double share = std::min(1.0, std::max(1.0, blocks) / machine_.workers);
    double extra = 0;
    if (share < 1 && !reductions_.empty()) {
      double depth = 1;
      for (const auto r : reductions_) depth = std::max(depth, product(kernel::set_of(reduction(r).loops)));
      const double split = std::min(1.0, blocks * std::max(1.0, depth / 256) / machine_.workers);
      if (split > share) {
        share = split;
        extra = 0.5 * machine_.launch;
      }
    }
    const double arithmetic = tiles / machine_.contraction_rate + vector / machine_.vector_rate;
    Estimate result;
    result.bytes = bytes + written;
    result.operations = tiles + vector;
    // A little of the write always shows, so that of two equal plans the one that writes less wins.
    result.seconds = machine_.launch + extra + 0.01 * written / machine_.bandwidth +
                     std::max((bytes + written) / machine_.bandwidth, arithmetic) / share;
    result.without_write = machine_.launch + extra + std::max(bytes / machine_.bandwidth, arithmetic) / share;
    return result;
  }

  /// How often values are computed again because blocks do not share them.
  void recompute(bool retile, std::vector<double>& again) const {
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      const ValueId r = reductions_[k];
      const bool is_outer = std::find(outer_.begin(), outer_.end(), r) != outer_.end();
      const LoopSet lacking = domain_ & ~kernel_.value(r).free;
      double times = 1;
      if (is_outer)
        times = retile ? blocks_along(lacking, 128) : 1;
      else
        times = blocks_along(lacking, 256);
      if (times <= 1) continue;
      again[r.index()] = std::max(again[r.index()], times);
      for (std::size_t i = 0; i < again.size(); ++i)
        if (inside_[k][i]) again[i] = std::max(again[i], times);
    }
  }

  std::size_t index_of(ValueId r) const {
    return static_cast<std::size_t>(std::find(reductions_.begin(), reductions_.end(), r) -
                                    reductions_.begin());
  }
  /// The product inside a tiled contraction is part of its multiply-add.
  bool feeds_tile(ValueId id) const {
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      if (contraction_[k] != Contraction::tile) continue;
      const auto& arguments = reduction(reductions_[k]).arguments;
      if (std::find(arguments.begin(), arguments.end(), id) != arguments.end()) return true;
    }
    return false;
  }
  /// How often an element-wise value is computed: at each point of the loops around it, down to the last one
  /// that it varies with. Templates compute what feeds their tiles apart, once a point. Simple arithmetic on
  /// coordinates counts as nothing, for it is never worth memory.
  double times_computed(std::size_t i) const {
    const LoopSet& free = kernel_.values()[i].free;
    const auto* map = kernel_.values()[i].try_get<value::Map>();
    if (!reads_[i] && (map == nullptr || operation_weight(map->op) <= 1)) return 0;
    LoopSet around;
    bool is_inside = false;
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      if (!inside_[k][i]) continue;
      if (has_template_[k]) return product(free);
      is_inside = true;
      around |= kernel_.value(reductions_[k]).free;
    }
    if (!is_inside) {
      LoopSet next;
      for (const auto loop : store_.domain) {
        next.set(loop.index());
        if (free[loop.index()]) around = next;
      }
    }
    return product(free | around);
  }
  /// What is computed on the way into a tiled contraction is computed once for every tile that reads it.
  double prologue(std::size_t i, Op op) const {
    if (op == Op::mul) return 1;
    double times = 1;
    for (std::size_t k = 0; k < reductions_.size(); ++k)
      if (contraction_[k] == Contraction::tile && inside_[k][i])
        times = std::max(times,
                         blocks_along(kernel_.value(reductions_[k]).free & ~kernel_.values()[i].free, 128));
    return times;
  }

  Family family(const LoopSet& covered) const {
    if (kernel_.value(store_.value).try_get<value::Scan>() != nullptr) return Family::scan;
    for (const auto& e : store_.index)
      if (!kernel::positions_of(e).empty()) return Family::scatter;
    if (reductions_.empty()) return Family::map;
    for (std::size_t k = 0; k < reductions_.size(); ++k) {
      if (reduction(reductions_[k]).monoid != Monoid::soft_sum) continue;
      for (std::size_t j = 0; j < reductions_.size(); ++j)
        if (j != k && inside_[k][reductions_[j].index()] && reduction(reductions_[j]).monoid == Monoid::sum)
          return Family::attend;
    }
    for (const auto c : contraction_)
      if (c != Contraction::none) return Family::contract;
    return covered.any() ? Family::row : Family::reduce;
  }

  const Kernel& kernel_;
  const kernel::Store& store_;
  const MachineModel& machine_;
  const Shared& shared_;
  DimMap dims_;
  std::vector<double> extents_;
  LoopSet domain_;
  std::vector<bool> reachable_;
  std::vector<bool> reads_;  // depends on memory, not on coordinates alone
  std::vector<std::vector<ValueId>> operands_;
  std::vector<ValueId> reductions_;
  std::vector<std::vector<bool>> inside_;  // by reduction
  std::vector<ValueId> outer_;
  std::vector<ValueId> nested_;
  std::vector<double> uses_;
  std::vector<bool> at_root_;  // read by the store, not only inside of reductions
  std::vector<Contraction> contraction_;
  std::vector<bool> has_template_;  // by reduction: whether it is a contraction on its own
};

}  // namespace

std::optional<Estimate> Roofline::estimate(const Kernel& kernel, const DimMap& dims) {
  Estimate total;
  Shared shared(kernel);
  bool first = true;
  for (const auto& store : kernel.stores()) {
    const Study study(kernel, store, machine_, dims, shared);
    const auto one = study.run();
    if (!one) return std::nullopt;
    study.add_to(shared);
    if (first) {
      total = *one;
      first = false;
      continue;
    }
    total.seconds += one->seconds - machine_.launch;
    total.without_write += one->without_write - machine_.launch;
    total.bytes += one->bytes;
    total.operations += one->operations;
  }
  return total;
}

}  // namespace luminal::search
