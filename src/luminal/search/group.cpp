// Kernels with several outputs.
#include <algorithm>
#include <map>
#include <set>

#include "luminal/search/map.h"

namespace luminal::search {
namespace {

using kernel::LoopId;
using kernel::Monoid;
using kernel::ValueId;
using rewriting::Lowered;
using rewriting::Term;
namespace value = kernel::value;

void add_leaves(const BodyRef& body, std::set<ClassId>& leaves, std::set<const rewriting::Body*>& seen) {
  if (!seen.insert(body.get()).second) return;
  if (body->term == nullptr || body->term->kind == Term::Kind::leaf) {
    leaves.insert(body->owner);
    return;
  }
  for (const auto& child : body->children) add_leaves(child, leaves, seen);
}

struct Member {
  BodyRef body;
  std::set<ClassId> leaves;
  Lowered lowered;
  std::size_t text = 0;  // about how long its program is
  bool is_map = false;
  bool contracts = false;
  bool scatters = false;
  bool scans = false;
};

/// A sum of products of two things, however it is tiled.
bool is_contraction(const kernel::Kernel& kernel) {
  for (const auto& v : kernel.values()) {
    const auto* r = v.try_get<value::Reduce>();
    if (r == nullptr || r->monoid != Monoid::sum) continue;
    const auto* product = kernel.value(r->arguments[0]).try_get<value::Map>();
    if (product != nullptr && product->op == Op::mul && product->arguments[0] != product->arguments[1])
      return true;
  }
  return false;
}

/// Functions that are no instruction are long programs; what is the same everywhere is likely shared.
std::size_t text_of(const kernel::Value& v) {
  const auto* map = v.try_get<value::Map>();
  if (map == nullptr || v.free.none()) return 1;
  constexpr double function = 8;
  return operation_weight(map->op) >= function ? 100 : 1;
}

class Grouper {
 public:
  Grouper(const Terms& terms, const Mapping& mapping) : terms_(terms) {
    for (const auto& body : mapping.bodies) {
      Member member;
      member.body = body;
      std::set<const rewriting::Body*> seen;
      if (body->term != nullptr && body->term->kind == Term::Kind::leaf)
        member.leaves.insert(body->owner);
      else
        for (const auto& child : body->children) add_leaves(child, member.leaves, seen);
      member.lowered = rewriting::lower(terms, {body});
      const auto& values = member.lowered.kernel.values();
      for (const auto& v : values) member.text += text_of(v);
      member.is_map = std::none_of(values.begin(), values.end(), [](const kernel::Value& v) {
        return v.try_get<value::Reduce>() != nullptr || v.try_get<value::Scan>() != nullptr;
      });
      member.scatters = body->term != nullptr && body->term->kind == Term::Kind::scatter;
      member.scans = body->term != nullptr && body->term->kind == Term::Kind::scan;
      member.contracts = is_contraction(member.lowered.kernel);
      number_[body->owner] = members_.size();
      members_.push_back(std::move(member));
    }
  }

  std::vector<std::vector<BodyRef>> run() {
    for (std::size_t k = 0; k < members_.size(); ++k) place(k);
    return in_order();
  }

 private:
  bool is_static(std::size_t k) const { return terms_[members_[k].body->owner].is_static; }

  /// Puts a body into an earlier group if it fits, else into a new one.
  void place(std::size_t k) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!fits(k, groups_[g]) || closes_circle(k, g)) continue;
      groups_[g].push_back(k);
      group_of_[k] = g;
      return;
    }
    group_of_[k] = groups_.size();
    groups_.push_back({k});
  }

  /// Whether a body may join a group; that no circle closes is seen elsewhere.
  bool fits(std::size_t k, const std::vector<std::size_t>& group) const {
    const Member& mine = members_[k];
    // Compilers take long over large programs.
    constexpr std::size_t most_members = 512;
    constexpr std::size_t most_text = 12'000;
    std::size_t text = mine.text;
    for (const auto g : group) text += members_[g].text;
    if (group.size() >= most_members || text > most_text) return false;
    const std::size_t first = group[0];
    const Member& other = members_[first];
    if (is_static(k) != is_static(first) || mine.scans || other.scans) return false;
    const bool same_shape = terms_[mine.body->owner].shape == terms_[other.body->owner].shape;
    const bool depends = std::any_of(group.begin(), group.end(), [&](std::size_t g) {
      return mine.leaves.contains(members_[g].body->owner);
    });
    if (mine.scatters || other.scatters)
      return mine.scatters && other.scatters && same_shape && !reaches(k, group);
    // What goes over one domain without reducing shares the loops, whatever it reads; also behind small
    // reductions.
    // A contraction's tiles take along only what is made of its own results.
    if (mine.is_map && same_shape && (depends || other.is_map || !contracts(group)))
      return !depends || reads_in_place(mine, group);
    if (depends || reaches(k, group)) return false;
    if (mine.contracts && other.contracts) return shares_leaf(mine, group);
    return same_shape && shares_reduction(mine, other);
  }

  bool contracts(const std::vector<std::size_t>& group) const {
    return std::any_of(group.begin(), group.end(), [&](std::size_t g) { return members_[g].contracts; });
  }

  bool shares_leaf(const Member& mine, const std::vector<std::size_t>& group) const {
    for (const auto g : group)
      for (const auto leaf : members_[g].leaves)
        if (mine.leaves.contains(leaf)) return true;
    return false;
  }

  /// Reads the group's results only at the coordinates at which they are written.
  bool reads_in_place(const Member& mine, const std::vector<std::size_t>& group) const {
    const auto& kernel = mine.lowered.kernel;
    for (const auto& v : kernel.values()) {
      const auto* load = v.try_get<value::Load>();
      if (load == nullptr) continue;
      const ClassId read = mine.lowered.inputs[load->input];
      const bool in_group = std::any_of(group.begin(), group.end(),
                                        [&](std::size_t g) { return members_[g].body->owner == read; });
      if (in_group && load->index != kernel.stores()[0].index) return false;
    }
    return true;
  }

  static bool shares_reduction(const Member& a, const Member& b) {
    std::set<std::string> texts;
    for (const auto& text : reductions(a.lowered.kernel, a.lowered.inputs)) texts.insert(text);
    for (const auto& text : reductions(b.lowered.kernel, b.lowered.inputs))
      if (texts.contains(text)) return true;
    return false;
  }

  /// Every reduction as text over classes, so that equal ones in two kernels have equal texts.
  static std::vector<std::string> reductions(const kernel::Kernel& kernel,
                                             const std::vector<ClassId>& inputs) {
    std::vector<std::string> texts(kernel.values().size());
    std::vector<std::string> result;
    for (std::size_t k = 0; k < texts.size(); ++k) {
      texts[k] = describe(kernel, inputs, texts, ValueId(k));
      if (kernel.values()[k].try_get<value::Reduce>() != nullptr && texts[k].size() < 4096)
        result.push_back(texts[k]);
    }
    return result;
  }
  static std::string describe(const kernel::Kernel& kernel, const std::vector<ClassId>& inputs,
                              const std::vector<std::string>& texts, ValueId id);

  // ------------------------------------------------------------------------------------------ order

  std::set<std::size_t> needed_groups(std::size_t k) const {
    std::set<std::size_t> result;
    for (const auto leaf : members_[k].leaves)
      if (const auto found = number_.find(leaf); found != number_.end())
        if (const auto group = group_of_.find(found->second); group != group_of_.end())
          result.insert(group->second);
    return result;
  }

  /// Whether what member k needs reaches the group through another group.
  bool closes_circle(std::size_t k, std::size_t g) const {
    std::set<std::size_t> seen;
    std::vector<std::size_t> stack;
    for (const auto needed : needed_groups(k))
      if (needed != g) stack.push_back(needed);
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      if (at == g) return true;
      if (!seen.insert(at).second) continue;
      for (const auto member : groups_[at])
        for (const auto needed : needed_groups(member))
          if (needed != at) stack.push_back(needed);
    }
    return false;
  }

  bool reaches(std::size_t k, const std::vector<std::size_t>& group) const {
    std::set<std::size_t> seen;
    std::vector<std::size_t> stack = {k};
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      for (const auto leaf : members_[at].leaves) {
        const auto found = number_.find(leaf);
        if (found == number_.end()) continue;
        if (std::find(group.begin(), group.end(), found->second) != group.end()) return true;
        if (seen.insert(found->second).second) stack.push_back(found->second);
      }
    }
    return false;
  }

  std::vector<std::vector<BodyRef>> in_order() const {
    std::vector<int> state(groups_.size(), 0);
    std::vector<std::size_t> order;
    std::vector<std::pair<std::size_t, bool>> stack;
    for (std::size_t g = groups_.size(); g-- > 0;) stack.emplace_back(g, false);
    while (!stack.empty()) {
      const auto [g, done] = stack.back();
      stack.pop_back();
      if (done) {
        if (state[g] != 2) order.push_back(g);
        state[g] = 2;
        continue;
      }
      if (state[g] != 0) continue;
      state[g] = 1;
      stack.emplace_back(g, true);
      for (const auto member : groups_[g])
        for (const auto needed : needed_groups(member))
          if (needed != g && state[needed] == 0) stack.emplace_back(needed, false);
    }
    std::vector<std::vector<BodyRef>> result;
    for (const auto g : order) {
      result.emplace_back();
      for (const auto member : groups_[g]) result.back().push_back(members_[member].body);
    }
    return result;
  }

  const Terms& terms_;
  std::vector<Member> members_;
  std::map<ClassId, std::size_t> number_;
  std::vector<std::vector<std::size_t>> groups_;
  std::map<std::size_t, std::size_t> group_of_;
};

std::string Grouper::describe(const kernel::Kernel& kernel, const std::vector<ClassId>& inputs,
                              const std::vector<std::string>& texts, ValueId id) {
  const auto& v = kernel.value(id);
  std::string text;
  if (const auto* load = v.try_get<value::Load>()) {
    text = "c" + std::to_string(inputs[load->input].value());
    for (const auto& e : load->index) text += "," + e.text();
    return text;
  }
  if (const auto* constant = v.try_get<value::Constant>()) return std::to_string(constant->value.bits);
  if (const auto* index = v.try_get<value::Index>()) return index->value.text();
  if (const auto* map = v.try_get<value::Map>()) text = std::string(luminal::name(map->op));
  if (const auto* r = v.try_get<value::Reduce>()) {
    text = std::string(kernel::name(r->monoid));
    for (const auto loop : r->loops) text += "i" + std::to_string(loop.value());
  }
  if (const auto* guard = v.try_get<value::Guard>())
    for (const auto& c : guard->conditions) text += c.valid.text() + "?" + std::to_string(c.fill.bits);
  for (const auto operand : kernel::operands(kernel, id)) text += "(" + texts[operand.index()] + ")";
  if (text.size() > 8192) text = std::to_string(std::hash<std::string>{}(text));
  return text;
}

}  // namespace

std::vector<std::vector<BodyRef>> group(const Terms& terms, const Mapping& mapping) {
  return Grouper(terms, mapping).run();
}

}  // namespace luminal::search
