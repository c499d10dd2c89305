#include "luminal/graph/dag.h"

#include <algorithm>

#include "luminal/graph/infer.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

struct AttributeHash {
  Hash& hash;
  void operator()(const attribute::None&) const {}
  void operator()(const attribute::Constant& a) const {
    hash.add(static_cast<std::uint64_t>(a.value.dtype)).add(a.value.bits);
  }
  void operator()(const attribute::Iota& a) const { hash.add(a.value.hash()); }
  void operator()(const attribute::Random& a) const { hash.add(a.stream); }
  void operator()(const attribute::Reduce& a) const { hash.add(a.axes).add(a.first_tie ? 1 : 0); }
  void operator()(const attribute::Axis& a) const { hash.add(a.axis); }
  void operator()(const attribute::Sort& a) const { hash.add(a.descending ? 1 : 0); }
  void operator()(const attribute::Print& a) const { hash.add(a.message); }
  void operator()(const attribute::Diff& a) const { hash.add(a.file); }
  void operator()(const attribute::Custom& a) const { hash.add(a.op->name); }
};

std::uint64_t hash_of(const Node& node) {
  Hash hash(static_cast<std::uint64_t>(node.op));
  hash.add(node.attribute.index());
  std::visit(AttributeHash{hash}, node.attribute);
  for (const auto& input : node.inputs) hash.add(input.node.value()).add(input.output).add(input.view.hash());
  for (const auto& output : node.outputs)
    hash.add(static_cast<std::uint64_t>(output.dtype)).add(output.shape.hash());
  return hash.value();
}

bool same_checks(const View& a, const View& b) {
  return std::equal(a.checks().begin(), a.checks().end(), b.checks().begin(), b.checks().end(),
                    [](const ViewCheck& x, const ViewCheck& y) { return x.holds == y.holds; });
}

/// The same elements, under the same conditions: a view that asks more of the dims must not give way to one
/// that asks less.
bool same_value(const Value& a, const Value& b) {
  return a == b && same_checks(a.view, b.view);
}

bool same_node(const Node& a, const Node& b) {
  return a.op == b.op && a.attribute == b.attribute && a.outputs == b.outputs && a.after == b.after &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), same_value);
}

std::string bounds_text(const Expr& variable) {
  const Interval bounds = variable.declared_bounds();
  return cat("[", bounds.low ? std::to_string(*bounds.low) : "-inf", ", ",
             bounds.high ? std::to_string(*bounds.high) : "inf", "]");
}

}  // namespace

std::string TensorType::text() const {
  return cat(dtype, shape);
}

bool has_effect(Op op) {
  return op == Op::print || op == Op::diff;
}

bool is_pure(Op op) {
  return !has_effect(op) && op != Op::custom && op != Op::input && op != Op::state;
}

const Dag::Slot& Dag::slot(NodeId id) const {
  if (!contains(id)) throw InternalError(cat("node ", id, " does not exist"));
  return slots_[id.index()];
}

const Node& Dag::node(NodeId id) const {
  return slot(id).node;
}

const TensorType& Dag::type(NodeId id, std::uint32_t output) const {
  const Node& found = node(id);
  if (output >= found.outputs.size()) throw InternalError(cat("node ", id, " has no output ", output));
  return found.outputs[output];
}

TensorType Dag::type(const Value& value) const {
  return {value.view.shape(), type(value.node, value.output).dtype};
}

Value Dag::whole(NodeId id, std::uint32_t output) const {
  const Slot& found = slot(id);
  if (output >= found.whole.size()) throw InternalError(cat("node ", id, " has no output ", output));
  return {id, output, found.whole[output]};
}

std::vector<NodeId> Dag::nodes() const {
  std::vector<NodeId> result;
  result.reserve(alive_);
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].alive) result.emplace_back(i);
  return result;
}

Node Dag::make(NewNode&& given) const {
  std::vector<TensorType> types;
  types.reserve(given.inputs.size());
  for (const auto& input : given.inputs) types.push_back(type(input));
  for (const auto earlier : given.after) slot(earlier);
  Inferred inferred = infer(given.op, given.attribute, types, given.type, given.where);
  return {given.op,
          std::move(given.attribute),
          std::move(given.inputs),
          std::move(given.after),
          std::move(inferred.outputs),
          std::move(inferred.checks),
          std::move(given.name),
          given.where};
}

NodeId Dag::add(NewNode given) {
  Node node = make(std::move(given));
  const bool shared = is_pure(node.op) && node.after.empty() && node.name.empty();
  std::uint64_t hash = 0;
  if (is_pure(node.op) && node.after.empty()) {
    if (index_stale_) rebuild_index();
    hash = hash_of(node);
  }
  if (shared) {
    const auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it)
      if (same_node(slots_[it->second.index()].node, node)) return it->second;
  }
  register_variables(node);
  const NodeId id(slots_.size());
  Slot slot;
  for (const auto& output : node.outputs) {
    const bool same = !node.inputs.empty() && node.inputs[0].view.movements().empty() &&
                      node.inputs[0].view.source() == output.shape;
    slot.whole.push_back(same ? node.inputs[0].view : View(output.shape));
  }
  if (is_pure(node.op) && node.after.empty()) index_.emplace(hash, id);
  slot.node = std::move(node);
  slots_.push_back(std::move(slot));
  ++alive_;
  return id;
}

void Dag::add_as(NodeId id, NewNode given) {
  if (contains(id)) throw Error(cat("node ", id, " exists already"), given.where);
  Node node = make(std::move(given));
  register_variables(node);
  Slot unused;
  unused.alive = false;
  if (slots_.size() <= id.index()) slots_.resize(id.index() + 1, unused);
  Slot slot;
  for (const auto& output : node.outputs) slot.whole.emplace_back(output.shape);
  slot.node = std::move(node);
  slots_[id.index()] = std::move(slot);
  ++alive_;
  index_stale_ = true;
}

void Dag::rebuild_index() {
  index_.clear();
  for (const auto id : nodes()) {
    const Node& node = slots_[id.index()].node;
    if (is_pure(node.op) && node.after.empty()) index_.emplace(hash_of(node), id);
  }
  index_stale_ = false;
}

void Dag::register_variable(const Expr& variable, Location where) {
  const std::string name(variable.name());
  const auto [found, added] = variables_.emplace(name, variable);
  if (!added && found->second != variable)
    throw Error(cat("dim '", name, "' is in ", bounds_text(found->second), " elsewhere and in ",
                    bounds_text(variable), " here"),
                where);
}

void Dag::declare(const Expr& variable, Location where) {
  register_variable(variable, where);
}

void Dag::register_variables(const Node& node) {
  const auto visit = [&](const Expr& e) {
    if (e.is_constant()) return;
    for (const auto& variable : e.variables())
      if (!variable.coordinate_axis()) register_variable(variable, node.where);
  };
  for (const auto& output : node.outputs)
    for (const auto& dim : output.shape) visit(dim);
  if (const auto* iota = node.try_get<attribute::Iota>()) visit(iota->value);
  for (const auto& input : node.inputs) register_variables(input.view, node.where);
}

void Dag::register_variables(const View& view, Location where) {
  for (const auto& variable : view.variables()) register_variable(variable, where);
}

void Dag::set_name(NodeId id, std::string name) {
  slot(id);
  slots_[id.index()].node.name = std::move(name);
}

void Dag::check_acyclic(NodeId from, NodeId to, Location where) const {
  // Whether `to` is reachable backwards from `from`.
  std::vector<bool> seen(slots_.size(), false);
  std::vector<NodeId> open{from};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (id == to)
      throw Error(cat("schedule: ", to, " would have to run both before and after ", from), where);
    if (seen[id.index()]) continue;
    seen[id.index()] = true;
    for (const auto& input : node(id).inputs) open.push_back(input.node);
    for (const auto earlier : node(id).after) open.push_back(earlier);
  }
}

void Dag::schedule(NodeId earlier, NodeId later, Location where) {
  check_acyclic(earlier, later, where);
  auto& after = slots_[later.index()].node.after;
  if (std::find(after.begin(), after.end(), earlier) == after.end()) after.push_back(earlier);
  index_stale_ = true;
}

void Dag::add_output(const Value& value) {
  type(value);
  const auto same = [&](const Value& other) { return same_value(other, value); };
  if (std::any_of(outputs_.begin(), outputs_.end(), same)) return;
  register_variables(value.view, node(value.node).where);
  outputs_.push_back(value);
}

void Dag::remove_output(const Value& value) {
  std::erase(outputs_, value);
}

void Dag::keep(NodeId id, std::uint32_t output) {
  type(id, output);
  kept_[{id, output}] = true;
}

void Dag::assign(NodeId state, const Value& value, Location where) {
  const Node& target = node(state);
  if (target.op != Op::state)
    throw Error(cat("assign: ", state, " is ", target.op, ", expected a state"), where);
  const TensorType given = type(value);
  const TensorType& wanted = target.outputs[0];
  const bool fits = given.dtype == wanted.dtype && given.shape.rank() == wanted.shape.rank() &&
                    std::equal(given.shape.begin(), given.shape.end(), wanted.shape.begin(),
                               [](const Expr& a, const Expr& b) { return prove_eq(a, b); });
  if (!fits)
    throw Error(cat("assign: the state '", target.name, "' is ", wanted, " and cannot take ", given), where);
  register_variables(value.view, where);
  assignments_.insert_or_assign(state, value);
}

std::vector<NodeId> Dag::roots() const {
  std::vector<NodeId> result;
  for (const auto& output : outputs_) result.push_back(output.node);
  for (const auto& [place, unused] : kept_) result.push_back(place.first);
  for (const auto& [state, value] : assignments_) {
    result.push_back(state);
    result.push_back(value.node);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].alive && has_effect(slots_[i].node.op)) result.emplace_back(i);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::vector<NodeId>> Dag::consumers() const {
  std::vector<std::vector<NodeId>> result(slots_.size());
  const auto add_to = [&](NodeId source, NodeId reader) {
    auto& list = result[source.index()];
    if (list.empty() || list.back() != reader) list.push_back(reader);
  };
  for (const auto id : nodes()) {
    for (const auto& input : node(id).inputs) add_to(input.node, id);
    for (const auto earlier : node(id).after) add_to(earlier, id);
  }
  return result;
}

bool Dag::replace(NodeId old, std::uint32_t output, const Value& by) {
  const TensorType before = type(old, output);
  if (type(by) != before)
    throw InternalError(cat("replace: ", old, " is ", before, " and its replacement ", type(by)));
  bool changed = false;
  const auto redirect = [&](Value& value) {
    if (value.node != old || value.output != output) return;
    value = {by.node, by.output, by.view.then(value.view)};
    changed = true;
  };
  std::vector<bool> below(slots_.size(), false);  // what `by` needs must not come to need `by`
  for (const auto id : execution_order(*this, {by.node})) below[id.index()] = true;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].alive || below[i]) continue;
    for (auto& input : slots_[i].node.inputs) redirect(input);
  }
  for (auto& value : outputs_) redirect(value);
  for (auto& [state, value] : assignments_) redirect(value);
  if (kept_.erase({old, output}) > 0) {
    kept_[{by.node, by.output}] = true;
    changed = true;
  }
  if (changed) replaced_.insert_or_assign({old, output}, by);
  index_stale_ = true;
  return changed;
}

Value Dag::resolve(Value value) const {
  for (auto found = replaced_.find({value.node, value.output}); found != replaced_.end();
       found = replaced_.find({value.node, value.output}))
    value = {found->second.node, found->second.output, found->second.view.then(value.view)};
  return value;
}

void Dag::make_input(NodeId id) {
  if (node(id).outputs.size() != 1) throw InternalError(cat("make_input: ", id, " has not one output"));
  Node& changed = slots_[id.index()].node;
  changed.op = Op::input;
  changed.attribute = attribute::None{};
  changed.inputs.clear();
  changed.after.clear();
  changed.checks.clear();
  index_stale_ = true;
}

void Dag::remove(const std::vector<NodeId>& doomed) {
  for (const auto id : doomed) {
    slot(id);
    slots_[id.index()].alive = false;
  }
  alive_ -= doomed.size();
  index_stale_ = true;
  const auto require = [&](NodeId reader, NodeId read) {
    if (!contains(read)) throw InternalError(cat("remove: ", read, " is still used by ", reader));
  };
  for (const auto id : nodes()) {
    for (const auto& input : node(id).inputs) require(id, input.node);
    for (const auto earlier : node(id).after) require(id, earlier);
  }
  std::erase_if(outputs_, [&](const Value& value) { return !contains(value.node); });
  std::erase_if(kept_, [&](const auto& entry) { return !contains(entry.first.first); });
  std::erase_if(assignments_,
                [&](const auto& entry) { return !contains(entry.first) || !contains(entry.second.node); });
}

const char* Dag::intern_file(const std::string& file) {
  auto& owned = files_[file];
  if (!owned) owned = std::make_shared<const std::string>(file);
  return owned->c_str();
}

bool same_graph(const Dag& a, const Dag& b) {
  if (a.nodes() != b.nodes() || a.outputs_ != b.outputs_ || a.kept_ != b.kept_ ||
      a.assignments_ != b.assignments_ || a.variables_ != b.variables_)
    return false;
  const auto ids = a.nodes();
  return std::all_of(ids.begin(), ids.end(), [&](NodeId id) {
    const Node& x = a.node(id);
    const Node& y = b.node(id);
    if (!same_node(x, y) || x.name != y.name || x.checks != y.checks) return false;
    for (std::size_t i = 0; i < x.inputs.size(); ++i)
      if (x.inputs[i].view.movements() != y.inputs[i].view.movements()) return false;
    return true;
  });
}

}  // namespace luminal
