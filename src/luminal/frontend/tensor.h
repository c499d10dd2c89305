#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "luminal/graph/dag.h"

namespace luminal {

struct GraphData;
class Graph;

/// Axes of a tensor: one, several, or all of them. Negative ones count from the end.
class Axes {
 public:
  Axes(int axis) : axes_{axis} {}
  Axes(std::initializer_list<int> axes) : axes_(axes) {}
  Axes(std::vector<int> axes) : axes_(std::move(axes)) {}
  static Axes all() { return Axes(); }
  bool is_all() const { return all_; }
  /// In ascending order, for a tensor of this rank. `Error` naming an axis that is out of range or given
  /// twice.
  std::vector<std::size_t> resolve(std::size_t rank, std::string_view operation, Location where) const;

 private:
  Axes() : all_(true) {}
  std::vector<int> axes_;
  bool all_ = false;
};

/// The axis of a tensor of this rank, from 0; `Error` if it is out of range.
std::size_t resolve_axis(int axis, std::size_t rank, std::string_view operation, Location where);

/// A handle on a value of a graph: cheap to copy, and never a danger. Operations add nodes and return new
/// handles; nothing is computed before a run. Using a tensor whose graph is gone, or two of different graphs
/// together, is an `Error`.
class Tensor {
 public:
  const Shape& shape() const { return value_.view.shape(); }
  std::size_t rank() const { return shape().rank(); }
  DType dtype() const { return dtype_; }
  const std::vector<Expr>& dims() const { return shape().dims(); }
  /// The dims of a tensor of known rank: `auto [n, c] = x.dims2()`. `Error` if the rank is another.
  Expr dims1(Location where = Location::current()) const { return dims_of<1>(where)[0]; }
  std::array<Expr, 2> dims2(Location where = Location::current()) const { return dims_of<2>(where); }
  std::array<Expr, 3> dims3(Location where = Location::current()) const { return dims_of<3>(where); }
  std::array<Expr, 4> dims4(Location where = Location::current()) const { return dims_of<4>(where); }
  std::array<Expr, 5> dims5(Location where = Location::current()) const { return dims_of<5>(where); }

  Graph graph(Location where = Location::current()) const;
  const Value& value() const { return value_; }
  NodeId node() const { return value_.node; }
  Tensor set_name(std::string name, Location where = Location::current()) const;
  std::string name(Location where = Location::current()) const;

  // --- values ---
  /// Gives an input or a state its value. Flat values fit any shape of that many elements; nested ones and
  /// arrays must have the shape, whose named dims then take their values from it. See `Array::converted_for`
  /// for dtypes.
  Tensor set(const Array& values, Location where = Location::current()) const;
  /// Flat values and the dims of a tensor with named dims.
  Tensor set_dyn(const Array& values, const std::vector<std::int64_t>& dims,
                 Location where = Location::current()) const;
  /// `load` is called when a run needs the value, once a run, and again in every later run.
  Tensor set_deferred(std::function<Array()> load, Location where = Location::current()) const;
  /// The value in row-major order: of an input or state at any time, of others after a run if marked before
  /// it.
  template <Element T>
  std::vector<T> data(Location where = Location::current()) const {
    return array(where).values<T>();
  }
  Array array(Location where = Location::current()) const;
  bool has_data() const;
  /// The value stays after runs, and no pass removes its node.
  Tensor keep(Location where = Location::current()) const;
  /// The value is computed by runs and can be read after them.
  Tensor retrieve(Location where = Location::current()) const;
  /// Forgets the value, and the marks.
  void drop(Location where = Location::current()) const;

  // --- movements: free of cost, they change how the value is read ---
  Tensor permute(const std::vector<int>& axes, Location where = Location::current()) const;
  Tensor transpose(int a, int b, Location where = Location::current()) const;
  /// One dim may be −1: it is worked out from the others.
  Tensor reshape(const Shape& shape, Location where = Location::current()) const;
  /// As PyTorch: new axes in front, size-1 axes repeated, −1 keeps a dim.
  Tensor expand(const Shape& shape, Location where = Location::current()) const;
  /// A new axis of this size at `axis`.
  Tensor expand_dim(int axis, const Expr& size, Location where = Location::current()) const;
  Tensor unsqueeze(int axis, Location where = Location::current()) const;
  Tensor squeeze(int axis, Location where = Location::current()) const;
  /// Merges axis `first` and the one after it.
  Tensor merge_dims(int first, Location where = Location::current()) const;
  /// Splits an axis in two; the inner one has `inner` elements.
  Tensor split_dims(int axis, const Expr& inner, Location where = Location::current()) const;
  /// Elements start … end − 1, every `step`th; negative positions count from the end, and as in Python ends
  /// beyond the axis are cut off.
  Tensor slice(int axis, const Expr& start, const Expr& end, const Expr& step = 1,
               Location where = Location::current()) const;
  Tensor pad(int axis, const Expr& before, const Expr& after, const Number& fill = 0,
             Location where = Location::current()) const;
  Tensor flip(int axis, Location where = Location::current()) const;
  Tensor unfold(int axis, const Expr& size, const Expr& stride = 1, const Expr& dilation = 1,
                Location where = Location::current()) const;
  /// Any movement, with axes counted from 0.
  Tensor move(const Movement& movement, Location where = Location::current()) const;

  // --- the primitives ---
  Tensor exp2(Location where = Location::current()) const { return unary(Op::exp2, where); }
  Tensor log2(Location where = Location::current()) const { return unary(Op::log2, where); }
  Tensor sin(Location where = Location::current()) const { return unary(Op::sin, where); }
  Tensor cos(Location where = Location::current()) const { return unary(Op::cos, where); }
  Tensor atan(Location where = Location::current()) const { return unary(Op::atan, where); }
  Tensor erf(Location where = Location::current()) const { return unary(Op::erf, where); }
  Tensor log1p(Location where = Location::current()) const { return unary(Op::log1p, where); }
  Tensor expm1(Location where = Location::current()) const { return unary(Op::expm1, where); }
  Tensor sqrt(Location where = Location::current()) const { return unary(Op::sqrt, where); }
  Tensor reciprocal(Location where = Location::current()) const { return unary(Op::recip, where); }
  Tensor floor(Location where = Location::current()) const { return unary(Op::floor, where); }
  /// To the nearest whole number, ties to even.
  Tensor round(Location where = Location::current()) const { return unary(Op::round, where); }
  Tensor cast(DType dtype, Location where = Location::current()) const;
  /// The same bits under another dtype of the same size.
  Tensor as_dtype(DType dtype, Location where = Location::current()) const;
  /// A copy in row-major order.
  Tensor contiguous(Location where = Location::current()) const { return unary(Op::contiguous, where); }
  /// The compiler fuses nothing across this.
  Tensor graph_break(Location where = Location::current()) const { return unary(Op::barrier, where); }
  /// The same value, through which no gradient flows back.
  Tensor stop_gradient(Location where = Location::current()) const { return unary(Op::stop_gradient, where); }
  /// Integers and bools sum to i64, as in PyTorch.
  Tensor sum(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor max(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor prod(const Axes& axes = Axes::all(), bool keep_dims = false,
              Location where = Location::current()) const;

  // --- debugging ---
  /// Every run writes the message and a sample of the value to the graph's sink. Returns this tensor.
  Tensor print(std::string message, Location where = Location::current()) const;
  /// Every run compares the value with a file of raw f32 values, and writes how they differ to the graph's
  /// sink.
  Tensor diff(std::string file, double absolute, double relative, Location where = Location::current()) const;

  /// A unary op of the table, on its whole value.
  Tensor unary(Op op, Location where = Location::current()) const;

  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

 protected:
  friend class Graph;
  friend class OpBuilder;
  friend struct GraphData;
  Tensor(std::weak_ptr<GraphData> data, Value value, DType dtype)
      : data_(std::move(data)), value_(std::move(value)), dtype_(dtype) {}

 private:
  template <std::size_t N>
  std::array<Expr, N> dims_of(Location where) const {
    require_rank(N, where);
    std::array<Expr, N> result;
    for (std::size_t i = 0; i < N; ++i) result[i] = shape()[i];
    return result;
  }
  void require_rank(std::size_t rank, Location where) const;
  Tensor reduce(Op op, std::string_view operation, const Axes& axes, bool keep_dims, Location where) const;
  Tensor with_view(View view) const {
    return Tensor(data_, {value_.node, value_.output, std::move(view)}, dtype_);
  }

  std::weak_ptr<GraphData> data_;
  Value value_;
  DType dtype_;
};

/// A tensor that lives from run to run; reading it gives its value before the run.
class State : public Tensor {
 public:
  /// The state's value after every run from now on. The last call counts.
  void assign(const Tensor& value, Location where = Location::current()) const;

 private:
  friend class Graph;
  explicit State(const Tensor& tensor) : Tensor(tensor) {}
};

/// What stands on one side of an operator: a tensor, a number or a symbolic expression; and the line it
/// stands on.
class Operand {
 public:
  Operand(const Tensor& tensor, Location where_ = Location::current()) : value(tensor), where(where_) {}
  template <Element T>
  Operand(T number, Location where_ = Location::current()) : value(Number(number)), where(where_) {}
  Operand(const Expr& expression, Location where_ = Location::current()) : value(expression), where(where_) {}

  std::variant<Tensor, Number, Expr> value;
  Location where;
};

/// A binary op of the table after broadcasting and promotion as PyTorch's. One side at least is a tensor.
Tensor binary(Op op, const Operand& a, const Operand& b, std::string_view operation);
/// Both sides brought to one dtype and one shape; `dtype` overrides the promoted one.
std::array<Tensor, 2> broadcast(const Operand& a, const Operand& b, std::string_view operation,
                                std::optional<DType> dtype = std::nullopt);
/// The dtype of an operation on these, as `torch.result_type`: numbers and scalar tensors give way to tensors
/// of the same kind. `Error` if there is none.
DType result_type(const std::vector<Operand>& operands, std::string_view operation);

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
/// True division: integers give f32.
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a);
Tensor& operator+=(Tensor& a, const Operand& b);
Tensor& operator-=(Tensor& a, const Operand& b);
Tensor& operator*=(Tensor& a, const Operand& b);
Tensor& operator/=(Tensor& a, const Operand& b);

}  // namespace luminal
