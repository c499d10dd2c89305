#include "luminal/search/map.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "luminal/search/components.h"
#include "luminal/search/cut.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal::search {
namespace {

using rewriting::Term;
using rewriting::TermClass;

class Mapper {
 public:
  Mapper(const Terms& terms, CostOracle& oracle, const DimMap& dims, const MapOptions& options,
         std::vector<std::string>* reasons)
      : terms_(terms), oracle_(oracle), dims_(dims), options_(options), reasons_(reasons) {
    const std::size_t count = terms.classes.size();
    cuts_.resize(count);
    best_.assign(count, -1);
    // Before a plan exists, a value is expected to be read as often as it is in the graph as it was given.
    for (const auto& c : terms.classes) expected_.push_back(std::max(1.0, static_cast<double>(c.readers)));
    references_ = expected_;
    is_root_.assign(count, false);
    for (const auto root : terms.roots) is_root_[root.index()] = true;
    combine_ = is_large() ? std::min<std::size_t>(options_.combine, 3) : options_.combine;
    find_candidates();
    find_components();
    find_largest_io();
    find_savings();
  }

  Mapping run() {
    std::map<ClassId, CutRef> best;
    double best_seconds = 0;
    const int rounds = is_large() ? std::min(options_.rounds, 2) : options_.rounds;
    for (int round = 0; round < rounds; ++round) {
      for (const auto& component : components_) visit(component);
      auto plan = select();
      const double seconds = total(plan);
      if (best.empty() || seconds < best_seconds) {
        best = plan;
        best_seconds = seconds;
      }
      count_references(plan);
    }
    best = refined(std::move(best));
    if (auto other = plan_of(options_.from); !other.empty())
      if (other = refined(std::move(other)); total(other) <= total(best)) best = std::move(other);
    Mapping result;
    result.seconds = total(best);
    result.evaluated = memo_.size();
    for (const auto owner : ordered(best)) result.bodies.push_back(best.at(owner)->body);
    return result;
  }

 private:
  /// Classes that are written in terms of each other are visited until every one that can has a body, and
  /// then twice more.
  void visit(const std::vector<ClassId>& component) {
    int left = component.size() == 1 ? 1 : 3;
    while (left-- > 0) {
      bool reached = false;
      for (const auto owner : component) {
        const bool before = cuts_[owner.index()].empty();
        step(owner);
        reached = reached || (before && !cuts_[owner.index()].empty());
      }
      if (reached && component.size() > 1) left = std::max(left, 2);
    }
  }

  // ------------------------------------------------------------------------------------------ what may exist
  // in memory

  /// Outputs; what is read through views, by reductions or by several; new reductions read so; static values.
  /// What one element-wise reader uses is better computed there, and what lacks an axis is better kept
  /// without it.
  void find_candidates() {
    const std::size_t count = terms_.classes.size();
    std::vector<bool> read_apart(count, false);
    for (const auto& c : terms_.classes)
      for (const auto& term : c.terms)
        if (term.kind != Term::Kind::map)
          for (const auto child : term.children) read_apart[child.index()] = true;
    candidate_.assign(count, false);
    for (std::size_t k = 0; k < count; ++k) {
      const TermClass& c = terms_.classes[k];
      const bool computes = std::any_of(c.terms.begin(), c.terms.end(), [](const Term& t) {
        return t.kind != Term::Kind::view && t.kind != Term::Kind::constant && t.kind != Term::Kind::iota &&
               t.kind != Term::Kind::leaf;
      });
      const bool reduces = std::any_of(c.terms.begin(), c.terms.end(),
                                       [](const Term& t) { return t.kind == Term::Kind::reduce; });
      if (c.is_single || std::any_of(c.terms.begin(), c.terms.end(), is_kernel_root)) {
        candidate_[k] = true;
        continue;
      }
      if (!computes || c.value || lacks_an_axis(c)) continue;
      candidate_[k] =
          is_root_[k] || c.is_static || c.is_shared || (!c.is_original && reduces && read_apart[k]);
    }
    // What a scatter starts from is copied or written in place: it must exist.
    for (const auto& c : terms_.classes)
      for (const auto& term : c.terms)
        if (term.kind == Term::Kind::scatter) candidate_[term.children[0].index()] = true;
  }

  static bool lacks_an_axis(const TermClass& c) {
    for (std::size_t axis = 0; axis < c.shape.rank() && axis < 62; ++axis)
      if (c.shape[axis] != Expr(1) && (c.varies >> axis & 1) == 0) return true;
    return false;
  }

  double elements(ClassId id, const DimMap& dims) const {
    double result = 1;
    for (const auto& dim : terms_[id].shape)
      result *= static_cast<double>(std::max<std::int64_t>(1, dim.try_eval(dims).value_or(64)));
    return result;
  }
  double elements(ClassId id) const { return elements(id, dims_); }
  /// With the largest dims.
  double most_elements(ClassId id) const {
    return options_.largest_dims.empty() ? elements(id) : elements(id, options_.largest_dims);
  }

  void find_largest_io() {
    const auto add = [this](ClassId id) {
      largest_io_ = std::max(largest_io_, elements(id));
      most_io_ = std::max(most_io_, most_elements(id));
    };
    for (const auto root : terms_.roots) add(root);
    for (std::size_t k = 0; k < terms_.classes.size(); ++k)
      if (terms_.classes[k].is_source()) add(ClassId(k));
  }

  void find_components() {
    std::vector<std::vector<std::size_t>> children(terms_.classes.size());
    for (std::size_t k = 0; k < children.size(); ++k)
      for (const auto& term : terms_.classes[k].terms)
        for (const auto child : term.children) children[k].push_back(child.index());
    component_of_.assign(terms_.classes.size(), 0);
    std::vector<std::size_t> roots;
    for (const auto root : terms_.roots) roots.push_back(root.index());
    for (const auto& component : strong_components(children, roots)) {
      components_.emplace_back();
      for (const auto member : component) {
        components_.back().emplace_back(member);
        component_of_[member] = components_.size();
      }
    }
  }

  // ------------------------------------------------------------------------------------------ prices

  struct Price {
    std::optional<Estimate> cost;
    std::uint64_t lowered = 0;
  };

  const std::optional<Estimate>& price(const Cut& cut) {
    if (cut.priced) return cut.cost;
    cut.priced = true;
    auto [known, first_time] = prices_.try_emplace(cut.key);
    if (first_time) known->second = priced(cut);
    cut.cost = known->second.cost;
    cut.lowered = known->second.lowered;
    return cut.cost;
  }

  Price priced(const Cut& cut) {
    if (options_.lowered != nullptr)
      if (const auto known = options_.lowered->entries.find(cut.key);
          known != options_.lowered->entries.end())
        if (const auto cost = recalled(known->second.kernel)) return {*cost, known->second.on_classes};
    const auto lowered = rewriting::lower(terms_, {cut.body});
    const std::uint64_t kernel = kernel::hash(lowered.kernel);
    const std::uint64_t here = on_classes(lowered);
    const auto [it, fresh] = memo_.emplace(kernel, std::nullopt);
    if (fresh) it->second = oracle_.estimate(lowered.kernel, dims_);
    if (options_.lowered != nullptr) options_.lowered->entries[cut.key] = {kernel, here};
    return {it->second, here};
  }

  std::optional<std::optional<Estimate>> recalled(std::uint64_t kernel) {
    if (const auto found = memo_.find(kernel); found != memo_.end()) return found->second;
    const auto cost = oracle_.recall(kernel);
    if (cost) memo_.emplace(kernel, *cost);
    return cost;
  }

  /// What is computed once, when weights are set, counts as if shared by a hundred runs: it also takes
  /// memory.
  static double loading(double seconds) { return 0.01 * seconds; }

  double flow(ClassId id) const {
    if (terms_[id].is_source()) return 0;
    return (best_[id.index()] < 0 ? 1e9 : best_[id.index()]) / references_[id.index()];
  }
  double flow(const Cut& cut) const {
    double sum = 0;
    for (const auto leaf : cut.leaves) sum += flow(leaf);
    return sum;
  }

  /// An intermediate far larger than anything that goes in or out is avoided where that costs little; one
  /// that is huge, or becomes so as dims grow, is taken only where there is no other way.
  double memory_price(ClassId id) const {
    if (is_root_[id.index()]) return 0;
    constexpr double huge = 256 << 20;
    const double n = elements(id);
    const double size = static_cast<double>(byte_size(terms_[id].dtype));
    const double traffic = n * size / 2e10;
    const double most = most_elements(id);
    if (options_.memory_budget > 0) return most * size > options_.memory_budget ? 1e4 * traffic : 0;
    if (most * size > huge && most > 4 * most_io_) return 1e4 * traffic;
    constexpr double cached = 16 << 20;
    if (n <= 4 * largest_io_ || n <= 65536 || (options_.measured && n * size <= cached)) return 0;
    return 4 * traffic;
  }

  // ------------------------------------------------------------------------------------------ cuts

  std::vector<CutRef> options(ClassId id, std::size_t limit) {
    const TermClass& c = terms_[id];
    if (c.is_source()) return {leaf_cut(id)};
    std::vector<CutRef> result;
    if (candidate_[id.index()] && best_[id.index()] >= 0) result.push_back(leaf_cut(id));
    if (c.is_single) return result;
    const auto& kept = cuts_[id.index()];
    if (c.is_static && !result.empty()) limit = 2;
    for (std::size_t k = 0; k < kept.size() && k < limit; ++k)
      if (!is_kernel_root(*kept[k]->body->term)) result.push_back(kept[k]);
    return result;
  }

  void step(ClassId owner) {
    const TermClass& c = terms_[owner];
    if (c.is_source()) return;
    std::map<std::uint64_t, CutRef> found;
    for (std::size_t n = 0; n < c.terms.size(); ++n) add_cuts(owner, c.terms[n], n, found);
    if (found.empty() && cut_below(c))
      for (std::size_t n = 0; n < c.terms.size(); ++n) add_cuts(owner, c.terms[n], n, found);
    rank(owner, found);
  }

  /// Where no body is small enough, what is read may exist in memory after all. False if that changes
  /// nothing.
  bool cut_below(const TermClass& c) {
    bool more = false;
    for (const auto& term : c.terms)
      for (const auto child : term.children) {
        if (terms_[child].is_source() || candidate_[child.index()] || cuts_[child.index()].empty()) continue;
        candidate_[child.index()] = true;
        step(child);
        more = more || best_[child.index()] >= 0;
      }
    return more;
  }

  void add_cuts(ClassId owner, const Term& term, std::size_t number, std::map<std::uint64_t, CutRef>& found) {
    const std::size_t limit = affordable(term.children.size() == 1 ? options_.keep : combine_);
    std::vector<std::vector<CutRef>> choices;
    for (std::size_t k = 0; k < term.children.size(); ++k) {
      if (term.kind == Term::Kind::scatter && k == 0) {
        choices.push_back({leaf_cut(term.children[0])});
        continue;
      }
      choices.push_back(options(term.children[k], limit));
    }
    std::vector<CutRef> picked(choices.size());
    const std::function<void(std::size_t)> pick = [&](std::size_t k) {
      if (k == choices.size()) {
        const auto cut = combined(owner, term, number, picked);
        if (cut && fits(*cut)) found.emplace(cut->key, cut);
        return;
      }
      for (const auto& choice : choices[k]) {
        // The same child twice takes the same body twice.
        bool clash = false;
        for (std::size_t j = 0; j < k; ++j)
          if (term.children[j] == term.children[k] && picked[j]->key != choice->key) clash = true;
        if (clash) continue;
        picked[k] = choice;
        pick(k + 1);
      }
    };
    pick(0);
  }

  bool fits(const Cut& cut) const {
    return cut.size <= options_.max_size && cut.reductions.size() <= options_.max_reductions &&
           cut.leaves.size() <= options_.max_leaves;
  }

  struct Ranked {
    double without_write;
    double seconds;
    CutRef cut;
  };

  void rank(ClassId owner, const std::map<std::uint64_t, CutRef>& found) {
    std::vector<Ranked> ranked;
    std::set<std::uint64_t> seen;
    for (const auto& [key, cut] : found) {
      const auto& cost = price(*cut);
      if (!seen.insert(cut->lowered).second) {
        drop(owner, "another body gives the same kernel");
        continue;
      }
      if (!cost) {
        drop(owner, "does not fit on chip");
        continue;
      }
      const double leaves = flow(*cut);
      ranked.push_back({cost->without_write + leaves, cost->seconds + leaves, cut});
    }
    if (ranked.empty()) return;
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return std::tie(a.without_write, a.seconds, a.cut->size, a.cut->key) <
             std::tie(b.without_write, b.seconds, b.cut->size, b.cut->key);
    });
    std::vector<CutRef> keep;
    const auto add = [&](const CutRef& cut) {
      if (std::find(keep.begin(), keep.end(), cut) == keep.end()) keep.push_back(cut);
    };
    // The shallowest body is never lost: it is what everything else is made of.
    const auto shallow = std::min_element(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
      return std::tie(a.cut->size, a.cut->key) < std::tie(b.cut->size, b.cut->key);
    });
    add(shallow->cut);
    // Nor is the best one that reads nothing but sources: what it computes again may be shared further up.
    const auto from_sources = std::find_if(ranked.begin(), ranked.end(), [&](const Ranked& r) {
      return std::all_of(r.cut->leaves.begin(), r.cut->leaves.end(),
                         [&](ClassId leaf) { return terms_[leaf].is_source(); });
    });
    if (from_sources != ranked.end()) add(from_sources->cut);
    // Of classes that are written in terms of each other each keeps a way that needs none of the others.
    const auto apart = std::find_if(ranked.begin(), ranked.end(), [&](const Ranked& r) {
      return std::none_of(r.cut->leaves.begin(), r.cut->leaves.end(), [&](ClassId leaf) {
        return component_of_[leaf.index()] == component_of_[owner.index()];
      });
    });
    if (apart != ranked.end()) add(apart->cut);
    std::set<std::vector<ClassId>> leaf_sets;
    for (const auto& cut : keep) leaf_sets.insert(cut->leaves);
    for (const auto& r : ranked) {
      if (keep.size() >= options_.keep) break;
      if (leaf_sets.insert(r.cut->leaves).second) add(r.cut);
    }
    for (std::size_t k = 0; k < 2 && k < ranked.size(); ++k) add(ranked[k].cut);
    add(std::min_element(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
          return a.seconds < b.seconds;
        })->cut);
    add(std::min_element(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
          return a.cut->leaves.size() < b.cut->leaves.size();
        })->cut);
    for (const auto& r : ranked)
      if (std::find(keep.begin(), keep.end(), r.cut) == keep.end()) drop(owner, "slower than those kept");
    if (candidate_[owner.index()] || is_root_[owner.index()]) {
      double best = -1;
      for (const auto& cut : keep) {
        const double seconds = price(*cut)->seconds + flow(*cut);
        if (best < 0 || seconds < best) best = seconds;
      }
      best_[owner.index()] = terms_[owner].is_static ? loading(best) : best + memory_price(owner);
    }
    cuts_[owner.index()] = std::move(keep);
  }

  void drop(ClassId owner, std::string_view why) {
    if (reasons_ != nullptr) reasons_->push_back(cat("class ", owner.value(), ": ", why));
  }

  // ------------------------------------------------------------------------------------------ plans

  using Plan = std::map<ClassId, CutRef>;

  /// Bodies as cuts.
  Plan plan_of(const std::vector<BodyRef>& bodies) const {
    std::map<const rewriting::Body*, CutRef> known;  // parts are shared, and stay so
    const std::function<CutRef(const BodyRef&)> cut_of = [&](const BodyRef& body) {
      CutRef& cut = known[body.get()];
      if (cut != nullptr) return cut;
      if (body->term == nullptr) return cut = leaf_cut(body->owner);
      std::vector<CutRef> children;
      for (const auto& child : body->children) children.push_back(cut_of(child));
      const auto number = body->term - terms_[body->owner].terms.data();
      cut = combined(body->owner, *body->term, static_cast<std::size_t>(number), children);
      if (cut == nullptr)
        throw InternalError(cat("mapping: class ", body->owner.value(), " would be written in two ways"));
      return cut;
    };
    Plan plan;
    for (const auto& body : bodies) plan.emplace(body->owner, cut_of(body));
    return plan;
  }

  bool needs_body(ClassId id) const { return !terms_[id].is_source(); }

  std::vector<CutRef> by_price(ClassId id) {
    auto all = cuts_[id.index()];
    std::stable_sort(all.begin(), all.end(), [&](const CutRef& a, const CutRef& b) {
      return price(*a)->seconds + flow(*a) < price(*b)->seconds + flow(*b);
    });
    return all;
  }

  Plan select() {
    Plan plan;
    std::map<ClassId, int> state;  // 1: being chosen, 2: done
    for (const auto root : terms_.roots)
      if (needs_body(root) && !choose(root, plan, state))
        throw InternalError(cat("mapping: class ", root.value(), " cannot be computed"));
    return pruned(plan);
  }

  bool choose(ClassId id, Plan& plan, std::map<ClassId, int>& state) {
    if (!needs_body(id)) return true;
    if (const auto found = state.find(id); found != state.end()) return found->second == 2;
    state[id] = 1;
    for (const auto& cut : by_price(id)) {
      const bool circular = std::any_of(cut->leaves.begin(), cut->leaves.end(), [&](ClassId leaf) {
        const auto found = state.find(leaf);
        return found != state.end() && found->second == 1;
      });
      if (circular) continue;
      bool all = true;
      for (const auto leaf : cut->leaves) all = choose(leaf, plan, state) && all;
      if (!all) continue;
      plan[id] = cut;
      state[id] = 2;
      return true;
    }
    state.erase(id);
    return false;
  }

  Plan pruned(const Plan& plan) const {
    Plan result;
    std::vector<ClassId> stack(terms_.roots.begin(), terms_.roots.end());
    while (!stack.empty()) {
      const ClassId id = stack.back();
      stack.pop_back();
      if (!needs_body(id) || result.contains(id)) continue;
      const CutRef& cut = plan.at(id);
      result.emplace(id, cut);
      stack.insert(stack.end(), cut->leaves.begin(), cut->leaves.end());
    }
    return result;
  }

  double total(const Plan& plan) {
    double sum = 0;
    for (const auto& [id, cut] : plan)
      sum += terms_[id].is_static ? loading(price(*cut)->seconds) : price(*cut)->seconds + memory_price(id);
    return sum - saved(plan);
  }

  /// What running bodies as one saves, the most first.
  double saved(const Plan& plan) const {
    if (savings_.empty()) return 0;
    std::unordered_set<std::uint64_t> left;
    for (const auto& [id, cut] : plan)
      if (!terms_[id].is_static) left.insert(cut->lowered);
    double sum = 0;
    for (const auto& [seconds, together] : savings_) {
      const auto& parts = together->parts;
      if (!std::all_of(parts.begin(), parts.end(),
                       [&](const Together::Part& part) { return left.contains(part.on_classes); }))
        continue;
      for (const auto& part : parts) left.erase(part.on_classes);
      sum += seconds;
    }
    return sum;
  }

  void find_savings() {
    for (const auto& together : options_.together) {
      const auto seconds = [&](std::uint64_t kernel) -> std::optional<double> {
        const auto known = oracle_.recall(kernel);
        return known && *known ? std::optional((*known)->seconds) : std::nullopt;
      };
      const auto whole = seconds(together.kernel);
      double saving = whole ? -*whole : 0;
      bool known = whole.has_value();
      for (const auto& part : together.parts) {
        const auto alone = seconds(part.kernel);
        known = known && alone;
        saving += alone.value_or(0);
      }
      if (known && saving > 0) savings_.emplace_back(saving, &together);
    }
    std::stable_sort(savings_.begin(), savings_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    constexpr std::size_t most = 64;
    if (savings_.size() > most) savings_.resize(most);
  }

  void count_references(const Plan& plan) {
    std::vector<double> counted(references_.size(), 0);
    for (const auto& [id, cut] : plan)
      for (const auto leaf : cut->leaves) counted[leaf.index()] += 1;
    for (std::size_t k = 0; k < counted.size(); ++k)
      references_[k] = counted[k] > 0 ? counted[k] : expected_[k];
  }

  /// Children first; empty if the plan is circular.
  std::vector<ClassId> ordered(const Plan& plan) const {
    std::vector<ClassId> order;
    std::map<ClassId, int> state;
    bool circular = false;
    const std::function<void(ClassId)> visit = [&](ClassId id) {
      const auto found = plan.find(id);
      if (found == plan.end() || circular) return;
      int& mine = state[id];
      if (mine == 2) return;
      if (mine == 1) {
        circular = true;
        return;
      }
      mine = 1;
      for (const auto leaf : found->second->leaves) visit(leaf);
      state[id] = 2;
      order.push_back(id);
    };
    for (const auto root : terms_.roots) visit(root);
    return circular ? std::vector<ClassId>{} : order;
  }

  bool complete(Plan& plan, ClassId from) {
    std::vector<ClassId> stack = {from};
    while (!stack.empty()) {
      const ClassId id = stack.back();
      stack.pop_back();
      if (!needs_body(id) || plan.contains(id)) continue;
      const auto all = by_price(id);
      if (all.empty()) return false;
      plan[id] = all[0];
      stack.insert(stack.end(), all[0]->leaves.begin(), all[0]->leaves.end());
    }
    return true;
  }

  Plan refined(Plan plan) {
    double current = total(plan);
    bool moved = true;
    while (moved) {
      moved = false;
      std::vector<ClassId> members;
      for (const auto& [id, cut] : plan) members.push_back(id);
      for (const auto id : members) {
        if (!plan.contains(id)) continue;
        for (const auto& cut : cuts_[id.index()]) {
          if (cut == plan.at(id)) continue;
          Plan next = plan;
          next[id] = cut;
          const bool whole = std::all_of(cut->leaves.begin(), cut->leaves.end(),
                                         [&](ClassId leaf) { return complete(next, leaf); });
          if (!whole || ordered(next).empty()) continue;
          next = pruned(next);
          const double seconds = total(next);
          if (seconds >= current - 1e-12) continue;
          plan = std::move(next);
          current = seconds;
          moved = true;
          break;
        }
      }
    }
    return plan;
  }

  /// The more was priced, the less is tried from then on: graphs of many equal ways end in seconds, too.
  std::size_t affordable(std::size_t usual) const {
    constexpr std::size_t many = 100'000;
    if (prices_.size() < many) return usual;
    return std::min<std::size_t>(usual, prices_.size() < 2 * many ? 2 : 1);
  }

  /// Of a region with so many classes less is tried a class, so that it takes seconds.
  bool is_large() const { return terms_.classes.size() > 2000; }

  const Terms& terms_;
  CostOracle& oracle_;
  const DimMap& dims_;
  const MapOptions& options_;
  std::vector<std::string>* reasons_;
  std::vector<bool> candidate_;
  std::vector<bool> is_root_;
  std::vector<std::vector<ClassId>> components_;
  std::vector<std::size_t> component_of_;  // by class
  std::vector<std::vector<CutRef>> cuts_;
  std::vector<double> best_;
  std::vector<double> expected_;
  std::vector<double> references_;
  std::unordered_map<std::uint64_t, Price> prices_;                  // by a cut's key
  std::unordered_map<std::uint64_t, std::optional<Estimate>> memo_;  // by the kernel's hash
  std::vector<std::pair<double, const Together*>> savings_;          // seconds
  std::size_t combine_ = 0;
  double largest_io_ = 1;
  double most_io_ = 1;  // with the largest dims
};

}  // namespace

std::uint64_t on_classes(const rewriting::Lowered& lowered) {
  Hash hash(3);
  hash.add(kernel::hash(lowered.kernel));
  for (const auto input : lowered.inputs) hash.add(input.value());
  return hash.value();
}

Mapping map(const Terms& terms, CostOracle& oracle, const DimMap& dims, const MapOptions& options,
            std::vector<std::string>* reasons) {
  return Mapper(terms, oracle, dims, options, reasons).run();
}

}  // namespace luminal::search
