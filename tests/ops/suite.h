#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/luminal.h"

/// The op suite: every function of the tensor API, on every backend, against PyTorch's values.
namespace luminal::ops {

/// The arguments of a case besides its inputs, by name.
class Args {
 public:
  void set(std::string name, std::string value) {
    values_.insert_or_assign(std::move(name), std::move(value));
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  std::int64_t integer(const std::string& name, std::int64_t otherwise = 0) const;
  int axis(const std::string& name = "axis", int otherwise = -1) const;
  double real(const std::string& name, double otherwise = 0) const;
  bool flag(const std::string& name) const { return integer(name) != 0; }
  std::string text(const std::string& name) const;
  DType dtype(const std::string& name, DType otherwise = DType::f32) const;
  std::vector<int> integers(const std::string& name) const;
  /// A dim among the arguments. For a case with symbolic dims it has a name, and its value is set.
  Expr size(const std::string& name, std::int64_t otherwise = 0) const;
  std::vector<Expr> sizes(const std::string& name) const;
  void make_symbolic(const Graph& graph) { graph_ = graph; }
  /// All axes if there is no such argument.
  Axes axes(const std::string& name = "axes") const;
  /// `otherwise` if there is no such argument.
  Spatial spatial(const std::string& name, int otherwise) const;

 private:
  const std::string& value(const std::string& name) const;
  Expr dim(const std::string& name, std::int64_t value) const;
  std::optional<Graph> graph_;
  std::map<std::string, std::string> values_;
};

/// The inputs of a case: tensors, and numbers where an operator takes them.
using Inputs = std::vector<Operand>;
inline const Tensor& tensor(const Inputs& inputs, std::size_t k) {
  return std::get<Tensor>(inputs.at(k).value);
}
/// The inputs from the k-th on, all tensors.
std::vector<Tensor> tensors(const Inputs& inputs, std::size_t first = 0);

using Outputs = std::vector<Tensor>;

/// One function of the API: how a case of it is built, and what PyTorch calls it.
struct Row {
  std::string name;
  std::string pytorch;
  std::function<Outputs(Graph&, const Inputs&, const Args&)> build;
  /// Where we differ from PyTorch, for docs/ops.md.
  std::string note = "";
};

struct Family {
  std::string name;  // also of its reference file
  std::string title;
  std::vector<Row> rows;
};

// One function a file.
Family arithmetic_family();
Family math_family();
Family compare_family();
Family activation_family();
Family reduce_family();
Family normalise_family();
Family matmul_family();
Family movement_family();
Family convolution_family();
Family pooling_family();
Family index_family();
Family scan_family();
Family create_family();
Family random_family();
const std::vector<Family>& families();

/// What runs graphs: the interpreter, and every compiled backend. To plug one in, add it to `backends`.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Runs the graph, whose inputs have values, and gives these tensors' values. `Error` if it cannot.
  virtual std::vector<Array> run(Graph& graph, const std::vector<Tensor>& outputs) = 0;
  /// Units in the last place beyond what a case allows: what rules that regroup may change.
  virtual double slack() const { return 0; }
};
std::vector<std::unique_ptr<Backend>> backends();

/// The gradients of a scalar loss by its inputs, for mode grad.
using Gradients = std::function<std::vector<Tensor>(const Tensor& loss, const std::vector<Tensor>& inputs)>;
Gradients gradients();

}  // namespace luminal::ops
