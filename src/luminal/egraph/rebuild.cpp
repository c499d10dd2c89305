#include <algorithm>
#include <array>

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
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const SortId element = element_sort(sort, elements, i);
    if (!element.none()) elements[i] = canonical(element, elements[i]);
  }
  if (sort.kind == SortKind::set || sort.kind == SortKind::multiset) {
    std::sort(elements.begin(), elements.end());
    if (sort.kind == SortKind::set)
      elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  } else if (sort.kind == SortKind::map) {
    elements = sorted_map(std::move(elements));
  }
  const Value result = atoms_->container(std::move(elements));
  container_memo_.emplace(key, result);
  return result;
}

void Database::check_time() const {
  if (deadline_ != std::chrono::steady_clock::time_point::max() &&
      std::chrono::steady_clock::now() > deadline_)
    throw OutOfTime{};
}

void Database::restore(Database&& copy) {
  const std::uint64_t changes = changes_;
  *this = std::move(copy);
  changes_ = changes + 1;
}

void Database::rebuild(std::chrono::steady_clock::time_point deadline) {
  deadline_ = deadline;
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
  deadline_ = std::chrono::steady_clock::time_point::max();
  for (Function& function : functions_) function.table.compact_if_sparse();
  for (std::size_t i = 0; i < functions_.size(); ++i) marks_[i] = functions_[i].table.rows();
}

// In batches: first the new cells of every row and where the table will look, then the rewriting. What a
// row's rewriting makes stale in the rest of its batch is dirty again and comes back in the next round.
void Database::rebuild_function(FunctionId id, const std::vector<std::vector<Value>>& stale) {
  Function& function = functions_[id.index()];
  if (function.table.live() == 0) return;
  check_time();
  std::vector<Row> rows;
  collect_stale(function, stale, rows);
  const std::size_t width = function.table.width();
  constexpr std::size_t batch = 32;
  std::vector<Value> cells(batch * width);
  std::array<std::uint32_t, batch> hashes{};
  for (std::size_t first = 0; first < rows.size(); first += batch) {
    check_time();
    const std::size_t count = std::min(batch, rows.size() - first);
    for (std::size_t i = 0; i < count; ++i) __builtin_prefetch(function.table.row(rows[first + i]));
    for (std::size_t i = 0; i < count; ++i) {
      Value* fresh = cells.data() + i * width;
      const Value* row = function.table.row(rows[first + i]);
      function.table.prefetch(function.table.hash_of(row));
      std::copy_n(row, width, fresh);
      for (const std::uint32_t column : function.class_columns) {
        fresh[column] = classes_.find_and_compress(fresh[column]);
      }
      for (const std::uint32_t column : function.container_columns) {
        fresh[column] = canonical(function.column(column), fresh[column]);
      }
      hashes[i] = function.table.hash_of(fresh);
      function.table.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) function.table.prefetch_row(hashes[i]);
    for (std::size_t i = 0; i < count; ++i)
      rewrite_row(id, rows[first + i], cells.data() + i * width, hashes[i]);
  }
}

// Either through the indexes, or, if much is stale, by looking at every row.
void Database::collect_stale(Function& function, const std::vector<std::vector<Value>>& stale,
                             std::vector<Row>& rows) {
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
          if (!table.dead(row)) rows.push_back(row);
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
    if (changed) rows.push_back(row);
  }
}

std::vector<Value> Database::term_of(FunctionId id, const Value* arguments) const {
  std::vector<Value> term = {static_cast<Value>(id.index())};
  term.insert(term.end(), arguments, arguments + functions_[id.index()].inputs.size());
  return term;
}

std::optional<std::size_t> Database::take_made(FunctionId id, const Value* arguments) {
  const auto found = made_.extract(term_of(id, arguments));
  return found.empty() ? std::nullopt : std::optional(found.mapped());
}

/// The reason for which a term is joined with the one that it became.
void Database::note_congruence(FunctionId id, const Value* before, const Value* after) {
  const Function& function = functions_[id.index()];
  congruence_ = {};
  for (const std::uint32_t column : function.class_columns) {
    if (column < function.inputs.size() && before[column] != after[column]) {
      congruence_.arguments.emplace_back(before[column], after[column]);
    }
  }
  const auto other = made_.find(term_of(id, after));
  if (other != made_.end()) congruence_.made[0] = other->second;  // `merged` has it on the left
  congruence_.made[1] = take_made(id, before);
}

void Database::rewrite_row(FunctionId id, Row row, const Value* cells, std::uint32_t hash) {
  Function& function = functions_[id.index()];
  Table& table = function.table;
  if (table.dead(row)) return;
  const std::size_t inputs = function.inputs.size();
  const bool subsumed = table.subsumed(row);
  if (std::equal(cells, cells + inputs, table.row(row))) {
    if (cells[inputs] == table.output(row)) return;
    table.replace(row, cells[inputs], subsumed, now_);
    ++changes_;
    return;
  }
  table.kill(row);
  ++changes_;
  const Row other = table.find(cells, hash);
  if (tracking_ && other != no_row) note_congruence(id, table.row(row), cells);
  if (other == no_row) {
    if (tracking_)
      if (const auto made = take_made(id, table.row(row))) made_.insert_or_assign(term_of(id, cells), *made);
    table.append(cells, hash, subsumed, now_);
    return;
  }
  --live_rows_;
  merge_into(id, other, cells[inputs], subsumed);
}

}  // namespace luminal::egraph
