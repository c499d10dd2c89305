#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/op/dtype.h"
#include "luminal/op/op.h"
#include "luminal/op/scalar.h"
#include "luminal/shape/view.h"
#include "luminal/support/error.h"
#include "luminal/support/id.h"
#include "luminal/support/location.h"

namespace luminal {

using NodeId = Id<struct NodeTag>;

/// What is known of an array before it exists.
struct TensorType {
  Shape shape;
  DType dtype = DType::f32;
  friend bool operator==(const TensorType&, const TensorType&) = default;
  /// "f32[batch, 784]".
  std::string text() const;
  friend std::ostream& operator<<(std::ostream& out, const TensorType& type) { return out << type.text(); }
};

/// One output of a node, read through a view: what edges carry and what tensors are handles on.
struct Value {
  NodeId node;
  std::uint32_t output = 0;
  View view;
  friend bool operator==(const Value&, const Value&) = default;
};

/// A user's kernel as text, for devices that speak its dialect: "c" on CPUs. The entry has the arguments of
/// the kernels that we print (see codegen/source.h): in C `void ENTRY(i64 task, void* const* buffers, const
/// i64* dims, void* scratch, i64* status)`, with our names of the element types declared. The buffers are the
/// inputs, then the outputs, row-major.
struct KernelSource {
  std::string dialect = "c";
  std::string entry = {};
  std::string text = {};
  /// Tasks (blocks of a grid), in any order and side by side; threads in a block, where a device has them.
  Expr grid = 1;
  Expr block = 1;
  /// Bytes of scratch that each running task has for itself.
  Expr scratch = 0;
  /// The named dims that the entry gets, in this order.
  std::vector<std::string> dims = {};
};

/// A user's C++ function as an op. Named, because the text format finds it again by its name.
struct CustomOp {
  virtual ~CustomOp() = default;

  std::string name;
  /// The outputs' types, or an `Error`, from the inputs'.
  std::function<std::vector<TensorType>(std::span<const TensorType>)> infer;
  /// The outputs from row-major inputs. Called once a run; must not keep references.
  std::function<std::vector<Array>(std::span<const Array>)> run;
  /// Kernels that compute the same on devices, from the inputs' types; if empty, or none speaks the device's
  /// dialect, a compiled graph calls `run` on the host.
  std::function<std::vector<KernelSource>(std::span<const TensorType>)> kernels = {};
};

/// What a node carries beside its inputs; the alternative is fixed by its op.
namespace attribute {
struct None {
  friend bool operator==(const None&, const None&) = default;
};
struct Constant {
  Scalar value;
  friend bool operator==(const Constant&, const Constant&) = default;
};
/// The element at coordinates (i0, i1 …) is `value` at these coordinates.
struct Iota {
  Expr value;
  friend bool operator==(const Iota&, const Iota&) = default;
};
/// Numbers the independent sequences that one seed gives.
struct Random {
  std::uint64_t stream = 0;
  friend bool operator==(const Random&, const Random&) = default;
};
/// The number of trailing axes that a reduction removes.
struct Reduce {
  std::uint32_t axes = 1;
  /// Of equal maxima, the first takes the gradient (as in pooling) instead of all sharing it.
  bool first_tie = false;
  friend bool operator==(const Reduce&, const Reduce&) = default;
};
struct Axis {
  std::uint32_t axis = 0;
  friend bool operator==(const Axis&, const Axis&) = default;
};
struct Sort {
  bool descending = false;
  friend bool operator==(const Sort&, const Sort&) = default;
};
struct Print {
  std::string message;
  friend bool operator==(const Print&, const Print&) = default;
};
struct Diff {
  std::string file;
  double absolute = 0;
  double relative = 0;
  friend bool operator==(const Diff&, const Diff&) = default;
};
struct Custom {
  std::shared_ptr<const CustomOp> op;
  friend bool operator==(const Custom&, const Custom&) = default;
};
}  // namespace attribute

using Attribute =
    std::variant<attribute::None, attribute::Constant, attribute::Iota, attribute::Random, attribute::Reduce,
                 attribute::Axis, attribute::Sort, attribute::Print, attribute::Diff, attribute::Custom>;

/// A condition on the dims' values that could not be decided when the node was built.
struct DimCheck {
  Expr holds;           // not 0
  std::string problem;  // the sentence for the `Error`
  friend bool operator==(const DimCheck&, const DimCheck&) = default;
};

struct Node {
  Op op = Op::input;
  Attribute attribute;
  std::vector<Value> inputs;
  std::vector<NodeId> after;  // runs after these, without reading them
  std::vector<TensorType> outputs;
  std::vector<DimCheck> checks;
  std::string name;
  Location where;

  /// The attribute, if it is a T.
  template <typename T>
  const T* try_get() const {
    return std::get_if<T>(&attribute);
  }
  /// The attribute; `InternalError` if it is not a T.
  template <typename T>
  const T& get() const {
    const T* found = try_get<T>();
    if (found == nullptr) throw InternalError("a node's attribute is not of the kind its op has");
    return *found;
  }
};

}  // namespace luminal
