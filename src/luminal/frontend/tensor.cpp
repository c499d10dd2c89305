#include "luminal/frontend/tensor.h"

#include <algorithm>

#include "luminal/frontend/graph.h"
#include "luminal/frontend/graph_data.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::size_t resolve_axis(int axis, std::size_t rank, std::string_view operation, Location where) {
  const int count = static_cast<int>(rank);
  if (axis < -count || axis >= count)
    throw Error(cat(operation, ": axis ", axis, " is out of range for a tensor of rank ", rank), where);
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::vector<std::size_t> Axes::resolve(std::size_t rank, std::string_view operation, Location where) const {
  std::vector<std::size_t> result;
  if (all_) {
    for (std::size_t i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  for (const int axis : axes_) result.push_back(resolve_axis(axis, rank, operation, where));
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) throw Error(cat(operation, ": axis ", *twice, " is given twice"), where);
  return result;
}

void Tensor::require_rank(std::size_t wanted, Location where) const {
  if (rank() != wanted)
    throw Error(cat("dims", wanted, ": the tensor has shape ", shape(), ", of rank ", rank()), where);
}

Graph Tensor::graph(Location where) const {
  return Graph(GraphData::of(*this, "graph", where));
}

Tensor Tensor::set_name(std::string name, Location where) const {
  const auto data = GraphData::of(*this, "set_name", where);
  data->dag.set_name(data->live(*this, "set_name", where).node, std::move(name));
  return *this;
}

std::string Tensor::name(Location where) const {
  const auto data = GraphData::of(*this, "name", where);
  return data->dag.node(data->live(*this, "name", where).node).name;
}

namespace {

NodeId holder(const GraphData& data, const Tensor& tensor, Location where) {
  const Value value = data.live(tensor, "set", where);
  const Op op = data.dag.node(value.node).op;
  if (op != Op::input && op != Op::state)
    throw Error(cat("set: the tensor is ", op, ", expected an input or a state"), where);
  if (!value.view.is_identity())
    throw Error("set: the tensor is a view; set the tensor it was made from", where);
  return value.node;
}

/// The values of named dims that make `shape` have these dims; nullopt if none do.
std::optional<DimMap> solve(const Shape& shape, const std::vector<std::int64_t>& dims, const DimMap& known) {
  if (shape.rank() != dims.size()) return std::nullopt;
  DimMap values = known;
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (shape[i].kind() == Expr::Kind::variable)
      values.insert_or_assign(std::string(shape[i].name()), dims[i]);
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (shape[i].try_eval(values) != dims[i]) return std::nullopt;
  return values;
}

std::string array_text(const Array& array) {
  return cat(array.dtype(), "[", join(array.dims()), "]");
}

}  // namespace

Tensor Tensor::set(const Array& values, Location where) const {
  const auto data = GraphData::of(*this, "set", where);
  const NodeId node = holder(*data, *this, where);
  auto dims = solve(shape(), values.dims(), data->dims);
  Array array = values;
  if (!dims && values.rank() == 1) {  // flat values, if the shape is known
    const auto known = [&]() -> std::optional<std::vector<std::int64_t>> {
      std::vector<std::int64_t> result;
      for (const auto& dim : shape()) {
        const auto value = dim.try_eval(data->dims);
        if (!value) return std::nullopt;
        result.push_back(*value);
      }
      return result;
    }();
    if (known && element_count(*known) == values.size()) {
      array = values.reshaped(*known);
      dims = data->dims;
    }
  }
  if (!dims) {
    const bool named = !shape().constant_dims();
    throw Error(
        cat("set: values ", array_text(values), " do not fit the tensor ", TensorType{shape(), dtype_},
            named && values.rank() == 1 && rank() != 1 ? "; give its dims with set_dyn" : ""),
        where);
  }
  const Array converted = [&] {
    try {
      return array.converted_for(dtype_);
    } catch (const Error& error) {
      throw Error(error.problem(), where);
    }
  }();
  for (const auto& [name, value] : *dims)
    if (!data->dims.contains(name) || data->dims.at(name) != value) graph(where).set_dim(name, value, where);
  data->values.insert_or_assign(OutputId{node, 0}, GraphData::Stored{converted, *dims});
  data->loaders.erase(node);
  return *this;
}

Tensor Tensor::set_dyn(const Array& values, const std::vector<std::int64_t>& dims, Location where) const {
  if (!solve(shape(), dims, {}) && !solve(shape(), dims, GraphData::of(*this, "set_dyn", where)->dims))
    throw Error(cat("set_dyn: dims [", join(dims), "] do not fit the tensor ", TensorType{shape(), dtype_}),
                where);
  if (values.size() != element_count(dims))
    throw Error(cat("set_dyn: ", values.size(), " values for dims [", join(dims), "]"), where);
  return set(values.reshaped(dims), where);
}

Tensor Tensor::set_deferred(std::function<Array()> load, Location where) const {
  const auto data = GraphData::of(*this, "set_deferred", where);
  const NodeId node = holder(*data, *this, where);
  if (!load) throw Error("set_deferred: the loader is empty", where);
  data->values.erase({node, 0});
  data->loaders.insert_or_assign(
      node, [load = std::move(load), type = TensorType{shape(), dtype_}, weak = std::weak_ptr(data)] {
        const Array array = load();
        const auto graph = weak.lock();
        const auto dims = type.shape.eval(graph->dims);
        return array.rank() == 1 && element_count(dims) == array.size() ? array.reshaped(dims) : array;
      });
  return *this;
}

bool Tensor::has_data() const {
  const auto data = data_.lock();
  if (!data) return false;
  const Value value = data->dag.resolve(value_);
  return data->values.contains({value.node, value.output});
}

Array Tensor::array(Location where) const {
  const auto data = GraphData::of(*this, "data", where);
  const Value value = data->live(*this, "data", where);
  const auto stored = data->values.find({value.node, value.output});
  if (stored != data->values.end()) return materialise(stored->second.array, value.view, stored->second.dims);
  const Node& node = data->dag.node(value.node);
  const std::string which = node.name.empty() ? cat(value.node) : cat("'", node.name, "'");
  if (node.op == Op::state) {
    const Array zeros(node.outputs[0].dtype, node.outputs[0].shape.eval(data->dims));
    return materialise(zeros, value.view, data->dims);
  }
  if (node.op == Op::input) throw Error(cat("data: the input ", which, " has no value"), where);
  throw Error(
      cat("data: ", which, " (", node.op, ") was not computed; mark it with retrieve() before execute()"),
      where);
}

Tensor Tensor::keep(Location where) const {
  const auto data = GraphData::of(*this, "keep", where);
  const Value value = data->live(*this, "keep", where);
  data->dag.keep(value.node, value.output);
  return *this;
}

Tensor Tensor::retrieve(Location where) const {
  const auto data = GraphData::of(*this, "retrieve", where);
  data->dag.add_output(data->live(*this, "retrieve", where));
  return *this;
}

void Tensor::drop(Location where) const {
  const auto data = GraphData::of(*this, "drop", where);
  const Value value = data->live(*this, "drop", where);
  data->dag.remove_output(value);
  data->dag.unkeep(value.node, value.output);
  data->values.erase({value.node, value.output});
  data->loaders.erase(value.node);
}

Tensor State::next(Location where) const {
  const auto data = GraphData::of(*this, "next", where);
  const auto& assigned = data->dag.assignments();
  const auto found = assigned.find(data->live(*this, "next", where).node);
  return found == assigned.end() ? Tensor(*this) : data->tensor(found->second);
}

void State::assign(const Tensor& value, Location where) const {
  const auto data = GraphData::of(*this, "assign", where);
  data->dag.assign(data->live(*this, "assign", where).node, data->live(value, "assign", where), where);
}

Tensor Tensor::print(std::string message, Location where) const {
  const auto data = GraphData::of(*this, "print", where);
  data->dag.add({Op::print,
                 attribute::Print{std::move(message)},
                 {data->live(*this, "print", where)},
                 {},
                 {},
                 {},
                 where});
  return *this;
}

Tensor Tensor::diff(std::string file, double absolute, double relative, Location where) const {
  const auto data = GraphData::of(*this, "diff", where);
  data->dag.add({Op::diff,
                 attribute::Diff{std::move(file), absolute, relative},
                 {data->live(*this, "diff", where)},
                 {},
                 {},
                 {},
                 where});
  return *this;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (tensor.has_data()) return out << tensor.array();
  return out << "tensor " << TensorType{tensor.shape(), tensor.dtype()} << " (no value yet)";
}

}  // namespace luminal
