#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/graph/node.h"

namespace luminal {

/// What `Dag::add` needs to make a node; see `infer` for `type`.
struct NewNode {
  Op op = Op::input;
  Attribute attribute;
  std::vector<Value> inputs;
  TensorType type;
  std::vector<NodeId> after;
  std::string name;
  Location where;
};

/// The graph as data: nodes that read each other's outputs through views, what is to be computed from them,
/// and the new values of states. Everything but values. Building is hash-consed: adding the same pure node
/// twice gives one.
class Dag {
 public:
  /// Adds a node, or finds the equal one. Throws `Error` as `infer` does, and for a variable that is already
  /// in use with other bounds.
  NodeId add(NewNode node);

  bool contains(NodeId id) const { return id.index() < slots_.size() && slots_[id.index()].alive; }
  const Node& node(NodeId id) const;
  const TensorType& type(NodeId id, std::uint32_t output = 0) const;
  /// The type as seen through the view.
  TensorType type(const Value& value) const;
  /// A whole output, unmoved.
  Value whole(NodeId id, std::uint32_t output = 0) const;
  /// All nodes that were not removed, in order of id.
  std::vector<NodeId> nodes() const;
  std::size_t node_count() const { return alive_; }
  /// One more than the largest id that was ever given.
  std::size_t id_bound() const { return slots_.size(); }

  void set_name(NodeId id, std::string name);
  /// `later` runs after `earlier`, without reading it. `Error` if that closes a circle.
  void schedule(NodeId earlier, NodeId later, Location where);

  /// What a run must compute for the user, in the order it was asked for.
  const std::vector<Value>& outputs() const { return outputs_; }
  void add_output(const Value& value);
  void remove_output(const Value& value);
  /// Node outputs that no pass may remove and whose data stay after a run.
  const std::map<std::pair<NodeId, std::uint32_t>, bool>& kept() const { return kept_; }
  void keep(NodeId id, std::uint32_t output);
  void unkeep(NodeId id, std::uint32_t output) { kept_.erase({id, output}); }
  /// A state's value after the run.
  const std::map<NodeId, Value>& assignments() const { return assignments_; }
  void assign(NodeId state, const Value& value, Location where);

  /// Every variable in use, by name: dims, and what views and iotas compute with.
  const std::map<std::string, Expr, std::less<>>& variables() const { return variables_; }
  /// Fixes a variable's bounds before its first use.
  void declare(const Expr& variable, Location where);

  /// Outputs, kept values, assignments and side effects: what a run starts from, backwards.
  std::vector<NodeId> roots() const;
  /// For every id below id_bound, who reads it or is scheduled after it; ascending, without repetition.
  std::vector<std::vector<NodeId>> consumers() const;

  /// Lets everything that reads output `output` of `node` read `by` instead, views included; what `by` itself
  /// is computed from stays as it is. Types must be equal. Returns whether anything read it. `resolve`
  /// follows the replacement.
  bool replace(NodeId node, std::uint32_t output, const Value& by);
  /// Where a value is to be found after all replacements; a value that was not replaced is its own answer.
  Value resolve(Value value) const;
  /// Removes nodes that nothing but each other reads; `InternalError` if something else still does.
  void remove(const std::vector<NodeId>& nodes);

  /// Makes a node with one output an input of that type: what it read is no longer read.
  void make_input(NodeId id);

  /// Adds a node under an id that no node has or had, without hash-consing: how the text format is read. Ids
  /// in between stay unused.
  void add_as(NodeId id, NewNode node);

  /// A file name for a Location that lives as long as this graph.
  const char* intern_file(const std::string& file);

  /// The same nodes under the same ids, the same outputs, keeps and assignments. Locations do not count.
  friend bool same_graph(const Dag& a, const Dag& b);

 private:
  struct Slot {
    Node node;
    std::vector<View> whole;  // one identity view an output, shared by all readers
    bool alive = true;
  };
  const Slot& slot(NodeId id) const;
  Node make(NewNode&& node) const;
  void register_variables(const Node& node);
  void register_variables(const View& view, Location where);
  void register_variable(const Expr& variable, Location where);
  void check_acyclic(NodeId from, NodeId to, Location where) const;
  void rebuild_index();

  std::deque<Slot> slots_;  // a node stays where it is while others are added
  std::size_t alive_ = 0;
  std::unordered_multimap<std::uint64_t, NodeId> index_;  // hash of a pure node → its id
  bool index_stale_ = false;
  std::vector<Value> outputs_;
  std::map<std::pair<NodeId, std::uint32_t>, bool> kept_;
  std::map<NodeId, Value> assignments_;
  std::map<std::pair<NodeId, std::uint32_t>, Value> replaced_;
  std::map<std::string, Expr, std::less<>> variables_;
  std::map<std::string, std::shared_ptr<const std::string>> files_;
};

/// Ops whose result depends on nothing but inputs and attribute, hence may be shared.
bool is_pure(Op op);
/// Ops that run for their effect.
bool has_effect(Op op);

/// `roots` and all they need, each after what it reads and what it is scheduled after; among the free ones,
/// smallest id first. `InternalError` on a circle.
std::vector<NodeId> execution_order(const Dag& dag, const std::vector<NodeId>& roots);

/// Checks every promise the graph makes (types as inferred, views of what they read, no circles, no removed
/// nodes in use) and throws `InternalError` with the printed graph if one is broken.
void verify(const Dag& dag);

}  // namespace luminal
