#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "luminal/graph/dag.h"

namespace luminal {

struct GraphData;
class Graph;
class Operand;
struct Bound;
struct Ranked;
struct Seed;

/// What stands outside an axis that `pad` lengthens: its reflection at the ends, or the elements at the ends.
enum class PadMode : std::uint8_t { reflect, edge };
/// The two forms of `gelu`.
enum class Gelu : std::uint8_t { erf, tanh };

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
  // Copied, never emptied: a handle that was moved from is still a handle.
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  ~Tensor() = default;

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
    return array(where).values<T>(where);
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
  /// Removes an axis of size 1; without an axis, all that are known to have size 1.
  Tensor squeeze(int axis, Location where = Location::current()) const;
  Tensor squeeze(Location where = Location::current()) const;
  /// Merges axis `first` and the one after it.
  Tensor merge_dims(int first, Location where = Location::current()) const;
  /// Splits an axis in two; the inner one has `inner` elements.
  Tensor split_dims(int axis, const Expr& inner, Location where = Location::current()) const;
  Tensor flatten(int first = 0, int last = -1, Location where = Location::current()) const;
  /// Elements start … end − 1, every `step`th; negative positions count from the end, and as in Python ends
  /// beyond the axis are cut off.
  Tensor slice(int axis, const Expr& start, const Expr& end, const Expr& step = 1,
               Location where = Location::current()) const;
  Tensor pad(int axis, const Expr& before, const Expr& after, const Number& fill = 0,
             Location where = Location::current()) const;
  Tensor pad(int axis, const Expr& before, const Expr& after, PadMode mode,
             Location where = Location::current()) const;
  Tensor flip(const Axes& axes, Location where = Location::current()) const;
  Tensor unfold(int axis, const Expr& size, const Expr& stride = 1, const Expr& dilation = 1,
                Location where = Location::current()) const;
  Tensor repeat(const std::vector<Expr>& times, Location where = Location::current()) const;
  Tensor tile(const std::vector<Expr>& times, Location where = Location::current()) const;
  std::vector<Tensor> split(const std::vector<Expr>& sizes, int axis = 0,
                            Location where = Location::current()) const;
  std::vector<Tensor> chunk(int count, int axis = 0, Location where = Location::current()) const;
  Tensor roll(const Expr& shift, int axis, Location where = Location::current()) const;
  Tensor tril(const Expr& diagonal = 0, Location where = Location::current()) const;
  Tensor triu(const Expr& diagonal = 0, Location where = Location::current()) const;
  Tensor diagonal(int offset = 0, int first = 0, int second = 1, Location where = Location::current()) const;
  /// Any movement, with axes counted from 0.
  Tensor move(const Movement& movement, Location where = Location::current()) const;

  // --- element by element: math.h ---
  Tensor abs(Location where = Location::current()) const;
  Tensor sign(Location where = Location::current()) const;
  Tensor neg(Location where = Location::current()) const;
  Tensor reciprocal(Location where = Location::current()) const;
  Tensor square(Location where = Location::current()) const;
  Tensor sqrt(Location where = Location::current()) const;
  Tensor rsqrt(Location where = Location::current()) const;
  Tensor exp(Location where = Location::current()) const;
  Tensor exp2(Location where = Location::current()) const;
  Tensor log(Location where = Location::current()) const;
  Tensor log2(Location where = Location::current()) const;
  Tensor log10(Location where = Location::current()) const;
  Tensor log1p(Location where = Location::current()) const;
  Tensor expm1(Location where = Location::current()) const;
  Tensor sin(Location where = Location::current()) const;
  Tensor cos(Location where = Location::current()) const;
  Tensor tan(Location where = Location::current()) const;
  Tensor asin(Location where = Location::current()) const;
  Tensor acos(Location where = Location::current()) const;
  Tensor atan(Location where = Location::current()) const;
  Tensor sinh(Location where = Location::current()) const;
  Tensor cosh(Location where = Location::current()) const;
  Tensor tanh(Location where = Location::current()) const;
  Tensor erf(Location where = Location::current()) const;
  Tensor floor(Location where = Location::current()) const;
  Tensor ceil(Location where = Location::current()) const;
  Tensor round(Location where = Location::current()) const;
  Tensor trunc(Location where = Location::current()) const;
  Tensor isnan(Location where = Location::current()) const;
  Tensor isinf(Location where = Location::current()) const;
  Tensor isfinite(Location where = Location::current()) const;
  Tensor atan2(const Operand& x) const;
  Tensor pow(const Operand& exponent) const;
  Tensor fmod(const Operand& divisor) const;
  Tensor remainder(const Operand& divisor) const;
  Tensor floor_divide(const Operand& divisor) const;

  // --- comparison, logic, choice: compare.h ---
  Tensor lt(const Operand& other) const;
  Tensor gt(const Operand& other) const;
  Tensor le(const Operand& other) const;
  Tensor ge(const Operand& other) const;
  Tensor eq(const Operand& other) const;
  Tensor ne(const Operand& other) const;
  Tensor maximum(const Operand& other) const;
  Tensor minimum(const Operand& other) const;
  Tensor logical_and(const Operand& other) const;
  Tensor logical_or(const Operand& other) const;
  Tensor logical_xor(const Operand& other) const;
  Tensor bit_and(const Operand& other) const;
  Tensor bit_or(const Operand& other) const;
  Tensor bit_xor(const Operand& other) const;
  Tensor shift_left(const Operand& other) const;
  Tensor shift_right(const Operand& other) const;
  Tensor logical_not(Location where = Location::current()) const;
  Tensor bit_not(Location where = Location::current()) const;
  Tensor clip(const Bound& low, const Bound& high, Location where = Location::current()) const;
  Tensor masked_fill(const Tensor& mask, const Operand& value) const;

  // --- activations: activation.h ---
  Tensor relu(Location where = Location::current()) const;
  Tensor leaky_relu(double slope = 0.01, Location where = Location::current()) const;
  Tensor elu(double alpha = 1.0, Location where = Location::current()) const;
  Tensor selu(Location where = Location::current()) const;
  Tensor gelu(Gelu form = Gelu::erf, Location where = Location::current()) const;
  Tensor silu(Location where = Location::current()) const;
  Tensor swish(Location where = Location::current()) const;
  Tensor sigmoid(Location where = Location::current()) const;
  Tensor log_sigmoid(Location where = Location::current()) const;
  Tensor hardsigmoid(Location where = Location::current()) const;
  Tensor hardswish(Location where = Location::current()) const;
  Tensor softplus(double beta = 1.0, double threshold = 20.0, Location where = Location::current()) const;
  Tensor mish(Location where = Location::current()) const;

  // --- reductions: reduce.h ---
  Tensor sum(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor mean(const Axes& axes = Axes::all(), bool keep_dims = false,
              Location where = Location::current()) const;
  Tensor max(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor min(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor prod(const Axes& axes = Axes::all(), bool keep_dims = false,
              Location where = Location::current()) const;
  Tensor any(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor all(const Axes& axes = Axes::all(), bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor logsumexp(const Axes& axes = Axes::all(), bool keep_dims = false,
                   Location where = Location::current()) const;
  Tensor var(const Axes& axes = Axes::all(), int correction = 1, bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor std(const Axes& axes = Axes::all(), int correction = 1, bool keep_dims = false,
             Location where = Location::current()) const;
  Tensor argmax(Location where = Location::current()) const;
  Tensor argmax(int axis, bool keep_dims = false, Location where = Location::current()) const;
  Tensor argmin(Location where = Location::current()) const;
  Tensor argmin(int axis, bool keep_dims = false, Location where = Location::current()) const;
  Tensor norm(double p = 2.0, const Axes& axes = Axes::all(), bool keep_dims = false,
              Location where = Location::current()) const;

  // --- normalisation: normalise.h ---
  Tensor softmax(int axis, Location where = Location::current()) const;
  Tensor log_softmax(int axis, Location where = Location::current()) const;
  Tensor layer_norm(const Axes& axes, double epsilon = 1e-5, Location where = Location::current()) const;
  Tensor rms_norm(const Axes& axes, std::optional<double> epsilon = std::nullopt,
                  Location where = Location::current()) const;
  Tensor mean_norm(const Axes& axes, Location where = Location::current()) const;
  Tensor std_norm(const Axes& axes, double epsilon = 1e-5, Location where = Location::current()) const;
  Tensor normalize(double p = 2.0, const Axes& axes = 1, double epsilon = 1e-12,
                   Location where = Location::current()) const;

  // --- products: matmul.h ---
  Tensor matmul(const Tensor& other, Location where = Location::current()) const;
  Tensor dot(const Tensor& other, Location where = Location::current()) const;
  Tensor outer(const Tensor& other, Location where = Location::current()) const;

  // --- by index: index.h ---
  Tensor gather(int axis, const Tensor& index, Location where = Location::current()) const;
  Tensor scatter(int axis, const Tensor& index, const Operand& source,
                 Location where = Location::current()) const;
  Tensor scatter_add(int axis, const Tensor& index, const Tensor& source,
                     Location where = Location::current()) const;
  Tensor index_select(int axis, const Tensor& index, Location where = Location::current()) const;
  Tensor index_put(const std::vector<Tensor>& indices, const Operand& values, bool accumulate = false,
                   Location where = Location::current()) const;
  Tensor take_along_axis(const Tensor& index, int axis, Location where = Location::current()) const;
  Tensor one_hot(const Expr& classes, Location where = Location::current()) const;

  // --- along an axis: scan.h ---
  Tensor cumsum(int axis, Location where = Location::current()) const;
  Tensor cumprod(int axis, Location where = Location::current()) const;
  Tensor argsort(int axis = -1, bool descending = false, Location where = Location::current()) const;
  Ranked cummax(int axis, Location where = Location::current()) const;
  Ranked sort(int axis = -1, bool descending = false, Location where = Location::current()) const;
  Ranked topk(const Expr& count, int axis = -1, bool largest = true,
              Location where = Location::current()) const;

  // --- at random: random.h ---
  Tensor dropout(double probability, const Seed& seed, Location where = Location::current()) const;
  Tensor multinomial(const Expr& count, bool replacement, const Seed& seed,
                     Location where = Location::current()) const;

  // --- dtype and layout ---
  Tensor cast(DType dtype, Location where = Location::current()) const;
  /// The same bits under another dtype of the same size.
  Tensor as_dtype(DType dtype, Location where = Location::current()) const;
  /// A copy in row-major order.
  Tensor contiguous(Location where = Location::current()) const { return unary(Op::contiguous, where); }
  /// The compiler fuses nothing across this.
  Tensor graph_break(Location where = Location::current()) const { return unary(Op::barrier, where); }
  /// The same value, through which no gradient flows back.
  Tensor stop_gradient(Location where = Location::current()) const { return unary(Op::stop_gradient, where); }

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
  /// The value after the run, as assigned so far; the state itself if nothing was assigned.
  Tensor next(Location where = Location::current()) const;
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

/// A bound of `clip`: a number, a tensor, or none.
struct Bound {
  Bound(std::nullopt_t) {}
  Bound(const Operand& bound) : operand(bound) {}
  template <typename T>
    requires std::constructible_from<Operand, T>
  Bound(const T& bound, Location where = Location::current()) : operand(Operand(bound, where)) {}
  std::optional<Operand> operand;
};

/// Values in an order, and where each stood along the axis (i64).
struct Ranked {
  Tensor values;
  Tensor indices;
};

/// Where random numbers come from: a key, an integer or an integer scalar tensor (a state, to draw anew in
/// every run), and the number of one of its independent sequences. The same seed gives the same numbers.
struct Seed {
  Seed(std::uint64_t key_, std::uint64_t stream_ = 0) : key(Number(key_)), stream(stream_) {}
  Seed(const Tensor& key_, std::uint64_t stream_ = 0) : key(key_), stream(stream_) {}
  std::variant<Number, Tensor> key;
  std::uint64_t stream;
};

/// A binary op of the table after broadcasting and promotion as PyTorch's. One side at least is a tensor.
Tensor binary(Op op, const Operand& a, const Operand& b, std::string_view operation);
/// Both sides brought to one dtype and one shape; `dtype` overrides the promoted one.
std::array<Tensor, 2> broadcast(const Operand& a, const Operand& b, std::string_view operation,
                                std::optional<DType> dtype = std::nullopt);
/// The shape that both broadcast to, as PyTorch's. Dims that may or may not be equal are taken to be: the op
/// that reads both checks them. `Error` if the shapes cannot fit.
Shape broadcast_shape(const Shape& a, const Shape& b, std::string_view operation, Location where);
/// The tensor with new axes in front and its axes of size 1 repeated, to fit `shape`.
Tensor stretched(const Tensor& tensor, const Shape& shape, Location where);
/// The dtype of an operation on these, as `torch.result_type`: numbers and scalar tensors give way to tensors
/// of the same kind. `Error` if there is none.
DType result_type(const std::vector<Operand>& operands, std::string_view operation);

Tensor operator+(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a, const Operand& b);
Tensor operator*(const Operand& a, const Operand& b);
/// True division: integers give f32.
Tensor operator/(const Operand& a, const Operand& b);
Tensor operator-(const Operand& a);
/// Comparisons give bool; there is no ==, use `eq`.
Tensor operator<(const Operand& a, const Operand& b);
Tensor operator>(const Operand& a, const Operand& b);
Tensor operator<=(const Operand& a, const Operand& b);
Tensor operator>=(const Operand& a, const Operand& b);
/// On integers and bools.
Tensor operator&(const Operand& a, const Operand& b);
Tensor operator|(const Operand& a, const Operand& b);
Tensor operator^(const Operand& a, const Operand& b);
Tensor& operator+=(Tensor& a, const Operand& b);
Tensor& operator-=(Tensor& a, const Operand& b);
Tensor& operator*=(Tensor& a, const Operand& b);
Tensor& operator/=(Tensor& a, const Operand& b);

}  // namespace luminal
