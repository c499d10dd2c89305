#include "luminal/egraph/frozen.h"

#include <algorithm>

namespace luminal::egraph {
namespace {
// Visits the rows that terms can be made of, in a fixed order.
template <typename F>
void for_each_row(const Database& database, F visit) {
  for (std::size_t i = 0; i < database.function_count(); ++i) {
    const Function& function = database.function(FunctionId(i));
    if (!function.constructs() || !function.extractable) continue;
    for (Row row = 0; row < function.table.rows(); ++row) {
      if (function.table.matchable(row)) visit(FunctionId(i), function, row);
    }
  }
}
}  // namespace

Frozen::Frozen(Database& database) {
  database.rebuild();
  number_classes(database);
  std::vector<std::uint32_t> counts(class_count() + 1, 0);
  for_each_row(database, [&](FunctionId, const Function& function, Row row) {
    ++counts[class_of(function.table.output(row)) + 1];
  });
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
  first_nodes_ = counts;
  nodes_.resize(first_nodes_.back());
  for_each_row(database, [&](FunctionId id, const Function& function, Row row) {
    FrozenNode node;
    node.function = id;
    node.owner = class_of(function.table.output(row));
    node.cost = function.cost;
    node.first_child = static_cast<std::uint32_t>(children_.size());
    node.first_cell = static_cast<std::uint32_t>(cells_.size());
    const Value* cells = function.table.row(row);
    cells_.insert(cells_.end(), cells, cells + function.inputs.size());
    for (std::size_t i = 0; i < function.inputs.size(); ++i) {
      add_children(database, function.inputs[i], cells[i], node);
    }
    node.child_count = static_cast<std::uint32_t>(children_.size()) - node.first_child;
    nodes_[counts[node.owner]++] = node;
  });
}

void Frozen::number_classes(const Database& database) {
  numbers_.assign(database.class_ids(), no_class);
  const auto mark = [&](Value id) { numbers_[id] = 0; };
  for_each_row(database,
               [&](FunctionId, const Function& function, Row row) { mark(function.table.output(row)); });
  for (Value id = 0; id < numbers_.size(); ++id) {
    if (numbers_[id] == no_class) continue;
    numbers_[id] = static_cast<std::uint32_t>(class_ids_.size());
    class_ids_.push_back(id);
  }
}

// A child class without nodes is kept as `no_class`: a node that has one can never be part of a term.
void Frozen::add_children(const Database& database, SortId id, Value value, FrozenNode& node) {
  const Sort& sort = database.sort(id);
  if (sort.is_classes()) {
    children_.push_back(class_of(database.find(value)));
  } else if (sort.is_container()) {
    const Elements& elements = database.atoms().elements_of(value);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const SortId element = database.element_sort(sort, elements, i);
      if (!element.none()) add_children(database, element, elements[i], node);
    }
  } else {
    ++node.cost;
  }
}

}  // namespace luminal::egraph
