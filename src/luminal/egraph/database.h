#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "luminal/egraph/atoms.h"
#include "luminal/egraph/function.h"
#include "luminal/egraph/primitive.h"
#include "luminal/egraph/sort.h"
#include "luminal/egraph/union_find.h"

namespace luminal::egraph {

/// Where a top-level `let` keeps its value: all globals of a sort are rows of one function, keyed by a
/// number.
struct Global {
  FunctionId function;
  Value number;
};

/// Why two ids were joined, or if they are the same, a term made in its class; kept only while reasons are
/// tracked.
struct Reason {
  Value left;
  Value right;
  /// The rule that did; none for a top-level action or congruence.
  RuleId rule;
  /// Of congruence: the function, and the arguments that had become equal.
  FunctionId function;
  std::vector<std::pair<Value, Value>> arguments = {};
  /// Of congruence: the reasons for which the left and the right term were made in their classes.
  std::array<std::optional<std::size_t>, 2> made = {};
};

struct OutOfTime {};

/// Sorts, functions with their tables, and which classes are equal. Writing happens in two steps: actions
/// read the state as it was and are staged, `flush` applies removals, then writes; `rebuild` restores
/// congruence. A copy is independent, except that both intern new atoms in one pool.
class Database {
 public:
  Database();

  SortId add_sort(Sort sort);
  std::optional<SortId> find_sort(std::string_view name) const;
  const Sort& sort(SortId id) const { return sorts_[id.index()]; }
  std::size_t sort_count() const { return sorts_.size(); }

  FunctionId add_function(Function function);
  std::optional<FunctionId> find_function(std::string_view name) const;
  const Function& function(FunctionId id) const { return functions_[id.index()]; }
  Function& function(FunctionId id) { return functions_[id.index()]; }
  std::size_t function_count() const { return functions_.size(); }

  Global add_global(const std::string& name, SortId sort, Value value);
  std::optional<Global> find_global(std::string_view name) const;

  PrimitiveId add_primitive(Primitive primitive);
  const Primitive& primitive(PrimitiveId id) const { return (*primitives_)[id.index()]; }
  /// All overloads of a name, in the order of registration.
  std::span<const PrimitiveId> overloads(std::string_view name) const;

  /// A function or primitive as a value, and a call of it. No result means that a primitive has none, or a
  /// function no row. Throws `ProgramError` for what the caller may not do.
  static Value callee(FunctionId function) { return function.value() * 2; }
  static Value callee(PrimitiveId primitive) { return primitive.value() * 2 + 1; }
  std::optional<Value> call(Value callee, Access access, std::span<const Value> arguments);
  std::optional<Value> call(PrimitiveId primitive, Access access, std::span<const Value> arguments);
  const std::string& callee_name(Value callee) const;
  /// The sort of a container's element; none for what a function calls.
  SortId element_sort(const Sort& sort, const Elements& elements, std::size_t i) const;

  Atoms& atoms() const { return *atoms_; }
  Value find(Value id) const { return classes_.find(id); }
  /// The value as it is now written: a class's name, a container with such names inside, anything else
  /// unchanged.
  Value canonical(SortId sort, Value value);

  Stamp now() const { return now_; }
  void advance() { ++now_; }
  /// Grows with every row written or removed and every union.
  std::uint64_t changes() const { return changes_; }
  std::size_t live_rows() const { return live_rows_; }
  std::size_t class_ids() const { return classes_.size(); }
  /// The memory reserved by tables and classes, and the part of it that they need.
  std::size_t bytes() const;
  std::size_t used_bytes() const;

  /// Runs code on the registers (inputs and constants filled in), staging its writes. Throws `ProgramError`.
  void execute(const Code& code, Value* registers);
  /// The same on many register files, one after the other in memory. Each instruction runs for all of them
  /// before the next one does, which hides the time that memory takes.
  void execute_batch(const Code& code, Value* registers, std::size_t count);
  /// Forgets what was staged.
  void discard();
  /// Applies what was staged.
  void flush();
  /// Restores congruence: equal keys are one row, every cell is canonical. Throws `OutOfTime` at the
  /// deadline, and is then of no use but to be replaced by a copy made before.
  void rebuild(std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());
  /// Becomes what it was when the copy was made; `changes` grows all the same.
  void restore(Database&& copy);

  Value make(FunctionId function, const Value* arguments);
  void unite(SortId sort, Value a, Value b);
  void set(FunctionId function, const Value* arguments, Value value);
  /// Staged, as what actions do.
  void stage_set(FunctionId function, const Value* arguments, Value value);
  void stage_removal(FunctionId function, const Value* arguments);

  /// From now on every union remembers its reason. What the database holds does not depend on it.
  void track_reasons() { tracking_ = true; }
  bool tracking() const { return tracking_; }
  const std::vector<Reason>& reasons() const { return reasons_; }
  void blame(RuleId rule) { blamed_ = rule; }

 private:
  struct Write {
    FunctionId function;
    std::uint32_t first;
    bool subsume;
  };
  Value make_into(FunctionId function, const Value* arguments, Value into);
  Value make_row(Function& function, const Value* arguments, std::uint32_t hash, Value output);
  void make_batch(const Code& code, const Instruction& instruction, Value* registers, std::size_t count);
  void join(SortId sort, Value a, Value b, RuleId rule, FunctionId function);
  std::vector<Value> term_of(FunctionId function, const Value* arguments) const;
  std::optional<std::size_t> take_made(FunctionId function, const Value* arguments);
  void note_congruence(FunctionId function, const Value* before, const Value* after);
  void stage(FunctionId function, const Value* arguments, const Value* value, std::vector<Write>& list);
  void write(FunctionId function, const Value* cells, bool subsumed);
  void merge_into(FunctionId function, Row row, Value value, bool subsumed);
  Value merged(FunctionId function, Value old_value, Value new_value, bool is_same);
  void rebuild_function(FunctionId function, const std::vector<std::vector<Value>>& stale);
  void collect_stale(Function& function, const std::vector<std::vector<Value>>& stale,
                     std::vector<Row>& rows);
  void rewrite_row(FunctionId function, Row row, const Value* cells, std::uint32_t hash);
  void run(const Code& code, const Instruction& instruction, Value* registers);
  void check_time() const;

  std::vector<Sort> sorts_;
  std::map<std::string, SortId, std::less<>> sort_names_;
  std::vector<Function> functions_;
  std::map<std::string, FunctionId, std::less<>> function_names_;
  std::map<std::string, Global, std::less<>> globals_;
  std::shared_ptr<std::vector<Primitive>> primitives_;
  std::map<std::string, std::vector<PrimitiveId>, std::less<>> primitive_names_;
  std::shared_ptr<Atoms> atoms_;
  UnionFind classes_;
  /// By sort: ids that stopped being canonical and may still be in tables.
  std::vector<std::vector<Value>> dirty_;
  bool any_dirty_ = false;
  Stamp now_ = 1;
  std::uint64_t changes_ = 0;
  std::size_t live_rows_ = 0;
  std::vector<Write> removals_;
  std::vector<Write> writes_;
  std::vector<Value> staged_;
  /// By function: rows from here on were made since the last flush, and staged removals do not reach them.
  std::vector<Row> marks_;
  std::vector<Value> scratch_;
  std::vector<Value> batch_keys_;
  std::vector<std::uint32_t> batch_hashes_;
  std::unordered_map<std::uint64_t, Value> container_memo_;  // by sort and value
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  bool tracking_ = false;
  RuleId blamed_;
  Reason congruence_;
  std::vector<Reason> reasons_;
  std::map<std::vector<Value>, std::size_t> made_;  // by term: the reason for which it is in its class
};

}  // namespace luminal::egraph
