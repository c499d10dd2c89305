#include "luminal/egraph/database.h"

#include <algorithm>

#include "luminal/support/text.h"

namespace luminal::egraph {

Database::Database()
    : primitives_(std::make_shared<std::vector<Primitive>>()), atoms_(std::make_shared<Atoms>()) {}

SortId Database::add_sort(Sort sort) {
  const SortId id(sorts_.size());
  sort_names_.emplace(sort.name, id);
  sorts_.push_back(std::move(sort));
  dirty_.emplace_back();
  return id;
}

std::optional<SortId> Database::find_sort(std::string_view name) const {
  const auto found = sort_names_.find(name);
  if (found == sort_names_.end()) return std::nullopt;
  return found->second;
}

FunctionId Database::add_function(Function function) {
  const FunctionId id(functions_.size());
  for (std::uint32_t i = 0; i <= function.inputs.size(); ++i) {
    const Sort& column = sort(function.column(i));
    if (column.is_classes()) {
      function.class_columns.push_back(i);
    } else if (column.holds_classes) {
      function.container_columns.push_back(i);
    }
  }
  function_names_.emplace(function.name, id);
  functions_.push_back(std::move(function));
  marks_.push_back(0);
  return id;
}

std::optional<FunctionId> Database::find_function(std::string_view name) const {
  const auto found = function_names_.find(name);
  if (found == function_names_.end()) return std::nullopt;
  return found->second;
}

Global Database::add_global(const std::string& name, SortId id, Value value) {
  const std::string table = "@globals of " + sort(id).name;
  auto function = find_function(table);
  if (!function) {
    function = add_function({table,
                             FunctionKind::global,
                             {*find_sort("i64")},
                             id,
                             1,
                             false,
                             true,
                             MergeKind::refuse,
                             {},
                             Table(1),
                             {},
                             {}});
  }
  const Global global{*function, atoms_->integer(static_cast<std::int64_t>(globals_.size()))};
  globals_.emplace(name, global);
  set(global.function, &global.number, value);
  return global;
}

std::optional<Global> Database::find_global(std::string_view name) const {
  const auto found = globals_.find(name);
  if (found == globals_.end()) return std::nullopt;
  return found->second;
}

PrimitiveId Database::add_primitive(Primitive primitive) {
  const PrimitiveId id(primitives_->size());
  primitive_names_[primitive.name].push_back(id);
  primitives_->push_back(std::move(primitive));
  return id;
}

std::span<const PrimitiveId> Database::overloads(std::string_view name) const {
  const auto found = primitive_names_.find(name);
  if (found == primitive_names_.end()) return {};
  return found->second;
}

std::size_t Database::bytes() const {
  std::size_t total = classes_.bytes();
  for (const Function& function : functions_) total += function.table.bytes();
  return total;
}

std::size_t Database::used_bytes() const {
  std::size_t total = classes_.size() * sizeof(Value);
  for (const Function& function : functions_) total += function.table.used_bytes();
  return total;
}

void Database::unite(SortId sort, Value a, Value b) {
  join(sort, a, b, blamed_, FunctionId());
}

void Database::join(SortId sort, Value a, Value b, RuleId rule, FunctionId function) {
  const Value left = classes_.find_and_compress(a);
  const Value right = classes_.find_and_compress(b);
  if (left == right) return;
  if (tracking_) {
    reasons_.push_back({a, b, rule, function});
    if (!function.none()) {
      reasons_.back().arguments = congruence_.arguments;
      reasons_.back().made = congruence_.made;
    }
  }
  dirty_[sort.index()].push_back(classes_.join(left, right));
  any_dirty_ = true;
  ++changes_;
}

Value Database::make_row(Function& function, const Value* arguments, std::uint32_t hash, Value output) {
  scratch_.assign(arguments, arguments + function.inputs.size());
  scratch_.push_back(output);
  function.table.append(scratch_.data(), hash, false, now_);
  ++changes_;
  ++live_rows_;
  return output;
}

Value Database::make(FunctionId id, const Value* arguments) {
  Function& function = functions_[id.index()];
  const std::uint32_t hash = function.table.hash_of(arguments);
  const Row row = function.table.find(arguments, hash);
  if (row != no_row) return function.table.output(row);
  return make_row(function, arguments, hash, classes_.make());
}

Value Database::make_into(FunctionId id, const Value* arguments, Value into) {
  Function& function = functions_[id.index()];
  const std::uint32_t hash = function.table.hash_of(arguments);
  const Row row = function.table.find(arguments, hash);
  if (row == no_row) {
    if (tracking_) {
      made_.insert_or_assign(term_of(id, arguments), reasons_.size());
      reasons_.push_back({into, into, blamed_, FunctionId()});
    }
    return make_row(function, arguments, hash, into);
  }
  const Value found = function.table.output(row);
  if (found != into) unite(function.output, into, found);
  return found;
}

void Database::set(FunctionId id, const Value* arguments, Value value) {
  std::vector<Value> cells(arguments, arguments + functions_[id.index()].inputs.size());
  cells.push_back(value);
  write(id, cells.data(), false);
}

void Database::stage_set(FunctionId function, const Value* arguments, Value value) {
  stage(function, arguments, &value, writes_);
}

void Database::stage_removal(FunctionId function, const Value* arguments) {
  stage(function, arguments, nullptr, removals_);
}

void Database::stage(FunctionId id, const Value* arguments, const Value* value, std::vector<Write>& list) {
  list.push_back({id, static_cast<std::uint32_t>(staged_.size()), value == nullptr});
  staged_.insert(staged_.end(), arguments, arguments + functions_[id.index()].inputs.size());
  if (value != nullptr) staged_.push_back(*value);
}

void Database::discard() {
  removals_.clear();
  writes_.clear();
  staged_.clear();
}

// Merging may stage more, so each round works on lists of its own. A round that throws leaves nothing staged.
void Database::flush() {
  while (!removals_.empty() || !writes_.empty()) {
    std::vector<Write> removals = std::move(removals_);
    std::vector<Write> writes = std::move(writes_);
    const std::vector<Value> cells = std::move(staged_);
    discard();
    for (const Write& removal : removals) {
      Table& table = functions_[removal.function.index()].table;
      const Row row = table.find(cells.data() + removal.first);
      if (row == no_row || row >= marks_[removal.function.index()]) continue;
      table.kill(row);
      ++changes_;
      --live_rows_;
    }
    std::size_t written = 0;
    for (const Write& staged : writes) {
      if (++written % 1024 == 0) check_time();
      if (!staged.subsume) {
        write(staged.function, cells.data() + staged.first, false);
        continue;
      }
      Table& table = functions_[staged.function.index()].table;
      const Row row = table.find(cells.data() + staged.first);
      if (row == no_row || table.subsumed(row)) continue;
      table.subsume(row);
      ++changes_;
    }
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) marks_[i] = functions_[i].table.rows();
}

void Database::write(FunctionId id, const Value* cells, bool subsumed) {
  Function& function = functions_[id.index()];
  const Row row = function.table.find(cells);
  if (row == no_row) {
    function.table.append(cells, subsumed, now_);
    ++changes_;
    ++live_rows_;
    return;
  }
  merge_into(id, row, cells[function.inputs.size()], subsumed);
}

void Database::merge_into(FunctionId id, Row row, Value value, bool subsumed) {
  const Value old_value = functions_[id.index()].table.output(row);
  // What was united since the last rebuild is not the same yet.
  const bool is_same = old_value == value;
  const bool was_subsumed = functions_[id.index()].table.subsumed(row);
  const Value result = merged(id, old_value, value, is_same);
  Table& table = functions_[id.index()].table;
  if (result != old_value) {
    // Computing the merge may have written rows, but never moves this one: only `rebuild` compacts.
    table.replace(row, result, subsumed || was_subsumed, now_);
    ++changes_;
  } else if (subsumed && !was_subsumed) {
    table.subsume(row);
    ++changes_;
  }
}

Value Database::merged(FunctionId id, Value old_value, Value new_value, bool is_same) {
  const Function& function = functions_[id.index()];
  const SortId output = function.output;
  const Value before = canonical(output, old_value);
  const Value after = canonical(output, new_value);
  switch (function.merge) {
    case MergeKind::unite:
      if (before == after) return before;
      join(output, old_value, new_value, RuleId(), id);
      return std::min(before, after);
    case MergeKind::refuse:
      if (before == after) return before;
      throw ProgramError(cat("illegal merge attempted for function ", function.name), Span{}, Fault::failed);
    case MergeKind::compute:
      break;
  }
  const Code& code = is_same ? function.merge_code.same : function.merge_code.code;
  std::vector<Value> registers(code.registers);
  registers[0] = before;
  registers[1] = after;
  std::copy(code.constants.begin(), code.constants.end(), registers.begin() + code.inputs);
  execute(code, registers.data());
  return registers[code.result];
}

}  // namespace luminal::egraph
