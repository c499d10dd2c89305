#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/egraph/database.h"

namespace luminal::egraph {

inline constexpr std::uint32_t no_class = std::numeric_limits<std::uint32_t>::max();

/// One way to write a class's value.
struct FrozenNode {
  FunctionId function;
  /// The class it belongs to.
  std::uint32_t owner = 0;
  /// Its declared cost, plus one for every atom among its arguments.
  std::uint64_t cost = 0;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::uint32_t first_cell = 0;
};

/// A flat, read-only picture of all terms: classes, their nodes, the nodes' child classes (those inside
/// containers too, with repetitions). Classes are numbered by their ids' order, nodes by class, function and
/// age.
class Frozen {
 public:
  /// Subsumed rows and unextractable constructors are left out.
  explicit Frozen(Database& database);

  std::size_t class_count() const { return class_ids_.size(); }
  /// The class that a canonical id is, or `no_class` if it has no node.
  std::uint32_t class_of(Value id) const { return id < numbers_.size() ? numbers_[id] : no_class; }
  Value id_of(std::uint32_t owner) const { return class_ids_[owner]; }
  std::size_t node_count() const { return nodes_.size(); }
  const FrozenNode& node(std::uint32_t index) const { return nodes_[index]; }
  /// Node numbers [first, last) of a class.
  std::uint32_t first_node(std::uint32_t owner) const { return first_nodes_[owner]; }
  std::uint32_t last_node(std::uint32_t owner) const { return first_nodes_[owner + 1]; }
  std::span<const std::uint32_t> children(const FrozenNode& node) const {
    return {children_.data() + node.first_child, node.child_count};
  }
  /// The node's arguments as they stand in its row.
  std::span<const Value> cells(const FrozenNode& node, const Database& database) const {
    return {cells_.data() + node.first_cell, database.function(node.function).inputs.size()};
  }

 private:
  void number_classes(const Database& database);
  void add_children(const Database& database, SortId sort, Value value, FrozenNode& node);

  std::vector<std::uint32_t> numbers_;
  std::vector<Value> class_ids_;
  std::vector<FrozenNode> nodes_;
  std::vector<std::uint32_t> first_nodes_;
  std::vector<std::uint32_t> children_;
  std::vector<Value> cells_;
};

}  // namespace luminal::egraph
