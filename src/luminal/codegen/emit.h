#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/codegen/helpers.h"
#include "luminal/kernel/kernel.h"
#include "luminal/kernel/structure.h"

namespace luminal::codegen {

/// A register value in the printed program: an expression that costs nothing to repeat.
struct Operand {
  std::string text;
  /// Whether it has a value a lane of the vector loop around, or one for all.
  bool lanes = false;
};

/// Values kept in memory over some loops: row-major over `axes`; of the loops around, it holds for the points
/// at which it was made.
struct Array {
  std::string name;
  std::vector<kernel::LoopId> axes;
  /// Elements are vectors over the vector loop around.
  bool lanes = false;
};

/// A block of the printed program. Values are printed in the outermost block that binds all loops they vary
/// with, and are seen from the blocks inside, unless these bind such a loop anew.
struct Scope {
  Scope* parent = nullptr;
  int depth = 1;
  kernel::LoopSet binds;
  /// The vector loop that this block binds.
  std::optional<kernel::LoopId> vector;
  /// Its vectors begin at multiples of the lanes.
  bool aligned = true;
  /// Values that may fail elsewhere stay inside.
  bool guards = false;
  /// Which lanes are valid here: a bool vector; empty: all.
  std::string mask;
  std::string text;
  std::unordered_map<kernel::ValueId, Operand> values;
  std::unordered_map<kernel::ValueId, Array> arrays;
};

/// Prints values and loops of one kernel into nested blocks.
class Emitter {
 public:
  Emitter(const kernel::Kernel& kernel, const Dialect& dialect, Helpers& helpers);

  // --- Blocks.
  void line(const std::string& text) { line_in(*scope_, text); }
  /// Opens a block inside the current one; what is printed outside before `close` comes before it.
  Scope& open();
  /// Closes the current block; the header stands before its brace.
  void close(const std::string& header);
  Scope& scope() { return *scope_; }
  /// A loop over [begin, end) in steps of one, or of `lanes` as vectors over it.
  void open_loop(kernel::LoopId loop, int lanes = 1);
  void close_loop(kernel::LoopId loop, const std::string& begin, const std::string& end, int lanes = 1);
  std::string text() const { return root_->text; }

  // --- Values.
  /// The value at the point that the blocks around bind.
  Operand value(kernel::ValueId id);
  /// The same with one value a lane if `lanes`.
  std::string value(kernel::ValueId id, bool lanes);
  /// As value, in an argument's dtype: `a` and `b` where the value is their product, for a fused
  /// multiply-add.
  bool is_lanes(kernel::ValueId id) const;
  bool is_lanes(const kernel::LoopSet& free) const;
  std::string splat(const Operand& operand, DType held);
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }
  int width(bool lanes) const { return lanes ? lanes_ : 1; }
  /// The extent, and any index expression, in C; Positions are printed first where they are needed.
  std::string text(const Expr& expression);
  std::string extent(kernel::LoopId loop) { return text(kernel_.loop(loop).extent); }
  /// Stores the value, which has one value a lane if the index varies with the vector loop, at a place of an
  /// output.
  void store(const kernel::Store& store);
  /// Whether evaluating the value where its guards do not hold could read outside of an array.
  bool is_unsafe(kernel::ValueId id) const { return unsafe_[id.index()]; }

  /// What the roots need outside of guards: what a guard keeps from failing is computed inside of it only.
  kernel::ValueSet exposed(const std::vector<kernel::ValueId>& roots) const {
    return kernel::unguarded(kernel_, roots, unsafe_);
  }

  // --- Reductions.
  /// Computes reductions over equal loops together; those that vary with loops that are not bound yet are
  /// kept in arrays over them.
  void sweep(const std::vector<kernel::ValueId>& reductions);
  /// Keeps the value, over the loops that are not bound yet, in memory.
  void stage(kernel::ValueId id);
  /// Runs the sweeps that the roots need inside the current block, which binds `within`.
  void sweeps_inside(const std::vector<kernel::ValueId>& roots, const kernel::LoopSet& within);
  bool available(kernel::ValueId id) const;
  /// Whether the current block is the outermost that binds all loops of the value.
  bool belongs_here(kernel::ValueId id) const {
    return home(kernel_.value(id).free, is_unsafe(id)) == scope_;
  }

  // --- Scratch.
  /// An array of `count` elements of this type, a multiple of 64 bytes from the last.
  std::string allocate(const std::string& name, DType held, bool lanes, const Expr& count);
  Expr scratch_bytes() const { return scratch_; }

  /// The loop among `candidates` along which the values are cheapest as vectors; nullopt: none pays.
  std::optional<kernel::LoopId> best_vector_loop(const std::vector<kernel::LoopId>& candidates,
                                                 const std::vector<kernel::ValueId>& roots) const;

  const kernel::Kernel& kernel() const { return kernel_; }
  Helpers& helpers() { return helpers_; }
  const Dialect& dialect() const { return dialect_; }
  std::string fresh(std::string_view prefix) { return std::string(prefix) + std::to_string(next_++); }

 private:
  const kernel::Kernel& kernel_;
  const Dialect& dialect_;
  Helpers& helpers_;
  std::map<std::string, Expr, std::less<>> renamed_;
  kernel::ValueSet unsafe_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  Scope* root_ = nullptr;
  Scope* scope_ = nullptr;
  int lanes_ = 1;
  int next_ = 0;
  Expr scratch_ = Expr(0);

  static void line_in(Scope& scope, const std::string& text);
  void find_unsafe();
  Scope* binder(std::size_t loop) const;
  Scope* home(const kernel::LoopSet& free, bool unsafe) const;
  const Array* array_of(kernel::ValueId id) const;
  kernel::LoopId vector_loop() const;
  bool is_aligned() const;
  std::string mask() const;

  Operand compute(kernel::ValueId id);
  Operand declare(kernel::ValueId id, const std::string& text, bool lanes);
  Operand compute_load(kernel::ValueId id, const kernel::value::Load& load);
  Operand compute_index(kernel::ValueId id, const kernel::value::Index& index);
  Operand compute_map(kernel::ValueId id, const kernel::value::Map& map);
  Operand compute_guard(kernel::ValueId id, const kernel::value::Guard& guard);
  Operand compute_position(kernel::ValueId id, const kernel::value::Position& position);
  Operand compute_random(kernel::ValueId id, const kernel::value::Random& random);
  Operand read_array(kernel::ValueId id, const Array& array);

  /// An element of memory, of `count`, at a flat index: one, or one a lane.
  std::string load_text(const std::string& pointer, DType stored, const Expr& offset, bool lanes,
                        const std::string& mask, const std::string& result, const Expr& count);
  std::optional<std::string> lanes_condition(const Expr& valid);
  /// The step of an index expression along the vector loop, if it is the same everywhere.
  std::optional<Expr> step(const Expr& offset, kernel::LoopId loop) const;
  /// Prints statements once a lane: inside, the vector loop's variable and Positions are the lane's, and l
  /// its number.
  void each_lane(const std::vector<Expr>& expressions, const std::string& statement);
};

/// Prints the sweep of reductions over equal loops into the emitter's current block, and makes them known
/// there.
void print_sweep(Emitter& emitter, const std::vector<kernel::ValueId>& reductions);

/// The loops of a set, in order of their ids.
std::vector<kernel::LoopId> loops_in(const kernel::LoopSet& set);

}  // namespace luminal::codegen
