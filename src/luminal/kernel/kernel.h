#pragma once
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "luminal/op/dtype.h"
#include "luminal/op/op.h"
#include "luminal/op/scalar.h"
#include "luminal/shape/expr.h"
#include "luminal/shape/shape.h"
#include "luminal/support/id.h"

/// The kernel IR: what one kernel computes, as scalar SSA values over loop variables. No family of kernels
/// has a constructor of its own: a matmul, a softmax and flash attention differ in their structure only.
///
/// Semantics. A value is a function from the loop variables it varies with to one element of its dtype. A
/// store says: for every point of its domain, write that value at that place. Values have no order of
/// evaluation but their operands; a value may be computed once, again, or ahead of time. Element-wise ops
/// mean what `op/scalar.h` says, result by result: f16, bf16 and 8-bit floats compute in f32 and round after
/// each op. Reductions accumulate in the compute dtype, in any order, and round once.
namespace luminal::kernel {

using ValueId = Id<struct KernelValueTag>;
using LoopId = Id<struct KernelLoopTag>;

inline constexpr std::size_t max_loops = 128;
using LoopSet = std::bitset<max_loops>;

/// A loop variable: 0, 1 … extent − 1. In index expressions loop k is the coordinate "i<k>" of that extent.
struct Loop {
  Expr extent;
};

/// How a reduction combines. With one argument x: sum, max, prod as the graph's reductions, and m2 = Σ(x −
/// mean)². With two, x and w: soft_sum = Σ exp(x − max x)·w; 0 where every x is −inf or there is none.
enum class Monoid : std::uint8_t { sum, max, prod, soft_sum, m2 };
std::string_view name(Monoid monoid);

namespace value {
/// The element at `index` (one Expr an axis) of a row-major input.
struct Load {
  std::uint32_t input = 0;
  std::vector<Expr> index;
  friend bool operator==(const Load&, const Load&) = default;
};
struct Constant {
  Scalar value;
  friend bool operator==(const Constant&, const Constant&) = default;
};
/// An index expression, converted from i64 to the value's dtype.
struct Index {
  Expr value;
  friend bool operator==(const Index&, const Index&) = default;
};
/// An element-wise op; cast and bitcast go to the value's dtype.
struct Map {
  Op op = Op::add;
  std::vector<ValueId> arguments;
  friend bool operator==(const Map&, const Map&) = default;
};
/// The first condition that is 0 gives its fill; if none is, the argument, which is evaluated only then.
struct Guard {
  struct Condition {
    Expr valid;
    Scalar fill;
    friend bool operator==(const Condition&, const Condition&) = default;
  };
  std::vector<Condition> conditions;
  ValueId argument;
  friend bool operator==(const Guard&, const Guard&) = default;
};
/// Combines the arguments over all values of the loops. None of the loops is free in the result.
struct Reduce {
  Monoid monoid = Monoid::sum;
  std::vector<LoopId> loops;
  std::vector<ValueId> arguments;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
/// An integer that data gives, as a place on an axis of `length`: in index expressions value k is the
/// coordinate "i<position_base + k>" of that extent. Outside of [0, length) the kernel reports it and goes on
/// with a place inside.
struct Position {
  ValueId argument;
  Expr length;
  friend bool operator==(const Position&, const Position&) = default;
};
/// 32-bit word number `position` of the Philox4x32-10 sequence of the key (an i64 or u64 value) and the
/// stream, as `op/philox.h` defines it; u32.
struct Random {
  Expr position;
  ValueId key;
  std::uint64_t stream = 0;
  friend bool operator==(const Random&, const Random&) = default;
};
/// The monoid over the argument's values at 0 … the loop's own value; the loop stays free. Only as the value
/// of a store whose domain has the loop.
struct Scan {
  Monoid monoid = Monoid::sum;
  LoopId loop;
  ValueId argument;
  friend bool operator==(const Scan&, const Scan&) = default;
};
}  // namespace value

inline constexpr std::size_t position_base = 1'000'000;

using ValueKind = std::variant<value::Load, value::Constant, value::Index, value::Map, value::Guard,
                               value::Reduce, value::Position, value::Random, value::Scan>;

struct Value {
  ValueKind kind;
  DType dtype = DType::f32;
  /// The loops it varies with.
  LoopSet free;

  template <typename T>
  const T* try_get() const {
    return std::get_if<T>(&kind);
  }
};

/// A row-major array that a kernel reads or writes.
struct ArrayType {
  Shape shape;
  DType dtype = DType::f32;
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

/// For every point of `domain`, writes `value` at `index` of an output. No two points of a `set` store with
/// an index of loops alone write one place. Stores with a Position in their index go through the domain in
/// row-major order (as far as that can be seen): they overwrite, or add to, what is there.
struct Store {
  enum class Mode : std::uint8_t { set, add };
  std::uint32_t output = 0;
  std::vector<LoopId> domain;
  std::vector<Expr> index;
  ValueId value;
  Mode mode = Mode::set;
};

/// One kernel. Built by adding values, operands first; equal values are one. Stores do not depend on each
/// other: no input may be an output's memory, but where the plan found that safe (element by element in
/// place).
class Kernel {
 public:
  LoopId add_loop(const Expr& extent);
  std::uint32_t add_input(ArrayType type);
  std::uint32_t add_output(ArrayType type);
  ValueId add(ValueKind kind, DType dtype);
  void add_store(Store store) { stores_.push_back(std::move(store)); }

  /// The loop's variable in index expressions.
  Expr variable(LoopId loop) const;
  /// The Position value's variable in index expressions.
  Expr variable(ValueId position) const;

  const std::vector<Loop>& loops() const { return loops_; }
  const Loop& loop(LoopId id) const { return loops_[id.index()]; }
  const std::vector<ArrayType>& inputs() const { return inputs_; }
  const std::vector<ArrayType>& outputs() const { return outputs_; }
  const std::vector<Value>& values() const { return values_; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  const std::vector<Store>& stores() const { return stores_; }

  /// The loops that an index expression varies with, through Positions too.
  LoopSet free_of(const Expr& expression) const;
  /// The dims (named variables) that extents, shapes and indices use, by name.
  std::vector<Expr> dims() const;

 private:
  LoopSet free_of(const ValueKind& kind) const;
  std::vector<Loop> loops_;
  std::vector<ArrayType> inputs_;
  std::vector<ArrayType> outputs_;
  std::vector<Value> values_;
  std::vector<Store> stores_;
  std::unordered_multimap<std::uint64_t, ValueId> index_;
};

/// The values that a value is computed from: those in its index expressions too.
std::vector<ValueId> operands(const Kernel& kernel, ValueId id);
/// The Positions that an index expression names.
std::vector<ValueId> positions_of(const Expr& expression);

/// Readable text, one line a value; what golden tests compare. Inputs are named %0, %1 ….
std::string print(const Kernel& kernel);

/// Checks every promise above (operands before use, loops bound where they are used, indices provably or by
/// their guards inside their arrays where decidable, dtypes as the ops have them) and throws `InternalError`
/// with the printed kernel if one is broken.
void verify(const Kernel& kernel);

/// A text that is equal for two kernels exactly if they are the same up to nothing: loops, values, stores and
/// the arrays' types. Names never enter; the cache and the search are keyed by it.
std::string key(const Kernel& kernel);
/// The same as a number, for what is asked often: equal kernels have equal ones.
std::uint64_t hash(const Kernel& kernel);

}  // namespace luminal::kernel
