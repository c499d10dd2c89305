#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/frontend/tensor.h"
#include "luminal/graph/dag.h"
#include "luminal/graph/interpreter.h"
#include "luminal/graph/passes.h"
#include "luminal/graph/text.h"

namespace luminal {

/// Adds a node piece by piece, for ops that no method offers:
/// `g.add_op(Op::mul).input(a).input(b).after(c).finish()`.
class OpBuilder {
 public:
  OpBuilder& input(const Tensor& tensor);
  /// Runs after `earlier`, without reading it.
  OpBuilder& after(const Tensor& earlier);
  OpBuilder& attribute(Attribute attribute);
  /// The type of a source; the dtype of a cast or bitcast.
  OpBuilder& type(TensorType type);
  OpBuilder& name(std::string name);
  /// Adds the node. `Error` if it makes no sense; see `infer`.
  Tensor finish();
  std::vector<Tensor> finish_all();

 private:
  friend class Graph;
  OpBuilder(std::shared_ptr<GraphData> data, Op op, Location where);
  std::shared_ptr<GraphData> data_;
  NewNode node_;
};

/// A model and its data: the nodes, the values of inputs and states, and after a run the values asked for. A
/// handle: copies refer to the same graph, which lives as long as one of them. Not for use from several
/// threads at once.
class Graph {
 public:
  Graph();
  // Copied, never emptied: a handle that was moved from is still a handle.
  Graph(const Graph&) = default;
  Graph& operator=(const Graph&) = default;
  ~Graph() = default;
  /// A graph without values around existing nodes.
  explicit Graph(Dag dag);

  /// An input. `g.tensor({"batch", 784})`: a named dim gets its value when data is set.
  Tensor tensor(const Shape& shape, DType dtype = DType::f32, Location where = Location::current());
  Tensor named_tensor(std::string name, const Shape& shape, DType dtype = DType::f32,
                      Location where = Location::current());
  /// A scalar: f32 for reals, i64 for integers, bool for bools, unless a dtype is given.
  Tensor constant(const Number& value, std::optional<DType> dtype = std::nullopt,
                  Location where = Location::current());
  template <Element T>
  Tensor constant(T value, std::optional<DType> dtype = std::nullopt, Location where = Location::current()) {
    return constant(Number(value), dtype, where);
  }
  /// A symbolic whole number as an i64 scalar: its value follows the dims.
  Tensor constant(const Expr& value, Location where = Location::current());
  /// 0, 1, 2 … along `axis` (negative: from the end), the same along the others.
  Tensor iota(const Shape& shape, int axis, DType dtype = DType::i64, Location where = Location::current());
  /// At each coordinate, the value of an expression of them: `g.iota(Expr::coordinate(0, 2) * 3 +
  /// Expr::coordinate(1, 3), {2, 3})` counts.
  Tensor iota(const Expr& value, const Shape& shape, DType dtype = DType::i64,
              Location where = Location::current());
  /// A value that lives from run to run: reads give the value before the run, `assign` sets the one after it.
  /// Without `initial` it starts as zeros.
  State state(const std::string& name, const Shape& shape, DType dtype = DType::f32,
              std::optional<Array> initial = std::nullopt, Location where = Location::current());
  OpBuilder add_op(Op op, Location where = Location::current());
  /// The outputs of a user's function.
  std::vector<Tensor> custom(std::shared_ptr<const CustomOp> op, const std::vector<Tensor>& inputs,
                             Location where = Location::current());
  /// `later` runs after `earlier`, without reading it.
  void schedule(const Tensor& earlier, const Tensor& later, Location where = Location::current());

  /// Gives a named dim its value, for this and later runs.
  void set_dim(std::string_view name, std::int64_t value, Location where = Location::current());
  const DimMap& dims() const;
  /// A dim with bounds, to be used in shapes: `Expr n = g.dim("n", 1, 4096)`.
  Expr dim(std::string_view name, std::int64_t low, std::optional<std::int64_t> high,
           Location where = Location::current());

  /// Runs the interpreter: computes what was marked with `retrieve` and `keep`, runs print and diff, then
  /// updates the states. Throws `Error` and changes nothing if an input has no value or the values do not
  /// fit.
  void execute();
  /// Computes these tensors and nothing else: no state changes, print and diff stay silent. What to call for
  /// a prediction in a graph that also trains.
  void evaluate(const std::vector<Tensor>& tensors, Location where = Location::current());
  /// As `execute`, writing a line a node: shapes and times.
  void execute_debug(const Sink& sink);
  /// Where print and diff write; standard output's lines if never set.
  void set_sink(Sink sink);
  /// One element, without computing the others. Many samples of one graph: use `sampler`.
  Scalar value_at(const Tensor& tensor, std::vector<std::int64_t> coordinates,
                  Location where = Location::current());
  /// For many samples: remembers what it computed, so it shows the values and dims of the moment when it was
  /// made. After `set`, `set_dim` or a run, make another.
  Sampler sampler() const;

  /// The tensor of a node's output.
  Tensor at(NodeId node, std::uint32_t output = 0) const;
  Tensor at(const Value& value) const;
  /// The input or state of this name. `Error` if there is none or more than one.
  Tensor find(std::string_view name) const;
  const Dag& dag() const;
  /// For passes: tensors whose nodes a pass removes become unusable (`Error` on use), all others stay valid.
  void apply(const Pass& pass);

  /// Turns the tensors' nodes into inputs (keeping their data) and removes what only served to compute them.
  void delete_inputs(const std::vector<Tensor>& tensors, Location where = Location::current());
  /// What can be computed from these tensors and constants alone, in the order of execution.
  std::vector<Tensor> downstream(const std::vector<Tensor>& tensors,
                                 Location where = Location::current()) const;

  std::string text() const { return print(dag()); }
  friend bool operator==(const Graph& a, const Graph& b) { return a.data_ == b.data_; }

 private:
  friend class Tensor;
  explicit Graph(std::shared_ptr<GraphData> data) : data_(std::move(data)) {}
  void run(const Sink& sink, bool trace);
  std::shared_ptr<GraphData> data_;
};

/// Copies the values of `from` to the inputs or states `to`, one by one, within a graph or between two.
/// `Error` if a source has no value or the types differ; then nothing is copied.
void transfer_data(const std::vector<Tensor>& from, const std::vector<Tensor>& to,
                   Location where = Location::current());
/// Exchanges the values of two inputs or states of one type.
void swap_data(const Tensor& a, const Tensor& b, Location where = Location::current());

/// The marks, on collections.
void keep(const std::vector<Tensor>& tensors, Location where = Location::current());
void retrieve(const std::vector<Tensor>& tensors, Location where = Location::current());
void drop(const std::vector<Tensor>& tensors, Location where = Location::current());

}  // namespace luminal
