#include <algorithm>

#include "luminal/egraph/database.h"

namespace luminal::egraph {

Value Database::canonical(SortId id, Value value) {
  const Sort& sort = sorts_[id.index()];
  if (sort.is_classes()) return classes_.find_and_compress(value);
  if (!sort.holds_classes) return value;
  const std::uint64_t key = std::uint64_t{id.value()} << 32 | value;
  const auto known = container_memo_.find(key);
  if (known != container_memo_.end()) return known->second;
  Elements elements = atoms_->elements_of(value);
  const std::vector<SortId> element_sorts = sort.elements;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = canonical(element_sorts[i % element_sorts.size()], elements[i]);
  }
  if (sort.kind == SortKind::set || sort.kind == SortKind::multiset) {
    std::sort(elements.begin(), elements.end());
    if (sort.kind == SortKind::set) elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  } else if (sort.kind == SortKind::map) {
    elements = sorted_map(std::move(elements));
  }
  const Value result = atoms_->container(std::move(elements));
  container_memo_.emplace(key, result);
  return result;
}

void Database::rebuild() {
  flush();
  while (any_dirty_) {
    std::vector<std::vector<Value>> stale(sorts_.size());
    stale.swap(dirty_);
    any_dirty_ = false;
    container_memo_.clear();
    for (std::size_t i = 0; i < functions_.size(); ++i) rebuild_function(FunctionId(i), stale);
    container_memo_.clear();
    flush();
  }
  for (Function& function : functions_) function.table.compact_if_sparse();
  for (std::size_t i = 0; i < functions_.size(); ++i) marks_[i] = functions_[i].table.rows();
}

void Database::rebuild_function(FunctionId id, const std::vector<std::vector<Value>>& stale) {
  Function& function = functions_[id.index()];
  if (function.table.live() == 0) return;
  rows_to_rewrite_.clear();
  collect_stale(function, stale);
  // A merge may run code that makes rows anywhere, so neither the list nor the function may be held by reference.
  const std::vector<Row> rows = rows_to_rewrite_;
  for (const Row row : rows) rewrite_row(id, row);
}

// Either through the indexes, or, if much is stale, by looking at every row.
void Database::collect_stale(Function& function, const std::vector<std::vector<Value>>& stale) {
  Table& table = function.table;
  std::size_t probes = 0;
  for (const std::uint32_t column : function.class_columns) {
    probes += stale[function.column(column).index()].size();
  }
  const bool scan = !function.container_columns.empty() || probes * 2 > table.live();
  if (probes == 0 && function.container_columns.empty()) return;
  if (!scan) {
    for (const std::uint32_t column : function.class_columns) {
      const std::vector<Value>& ids = stale[function.column(column).index()];
      if (ids.empty()) continue;
      const ColumnIndex& index = table.index(column);
      for (const Value id : ids) {
        for (Row row = index.chain(id).head; row != no_row; row = index.next(row)) {
          if (!table.dead(row)) rows_to_rewrite_.push_back(row);
        }
      }
    }
    return;
  }
  for (Row row = 0; row < table.rows(); ++row) {
    if (table.dead(row)) continue;
    const Value* cells = table.row(row);
    bool changed = std::any_of(function.class_columns.begin(), function.class_columns.end(),
                               [&](std::uint32_t column) { return !classes_.canonical(cells[column]); });
    for (std::size_t i = 0; !changed && i < function.container_columns.size(); ++i) {
      const std::uint32_t column = function.container_columns[i];
      changed = canonical(function.column(column), cells[column]) != cells[column];
    }
    if (changed) rows_to_rewrite_.push_back(row);
  }
}

void Database::rewrite_row(FunctionId id, Row row) {
  Function& function = functions_[id.index()];
  Table& table = function.table;
  if (table.dead(row)) return;
  std::vector<Value>& cells = scratch_;
  cells.assign(table.row(row), table.row(row) + table.width());
  for (const std::uint32_t column : function.class_columns) cells[column] = classes_.find_and_compress(cells[column]);
  for (const std::uint32_t column : function.container_columns) {
    cells[column] = canonical(function.column(column), cells[column]);
  }
  const bool subsumed = table.subsumed(row);
  const bool key_changed = !std::equal(cells.begin(), cells.end() - 1, table.row(row));
  if (!key_changed) {
    if (cells.back() != table.output(row)) {
      table.replace(row, cells.back(), subsumed, now_);
      ++changes_;
    }
    return;
  }
  table.kill(row);
  ++changes_;
  --live_rows_;
  const std::vector<Value> copy = cells;  // writing may merge, and merging uses the scratch cells
  write(id, copy.data(), subsumed);
}

}  // namespace luminal::egraph
