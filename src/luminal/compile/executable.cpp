#include "luminal/compile/executable.h"

#include <cstring>
#include <utility>

#include "luminal/compile/executable_data.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

ExecutableData::ExecutableData(const Graph& graph) : values(std::make_shared<GraphData>()) {
  values->dag = graph.dag();
  const auto any = values->dag.nodes();
  if (any.empty()) return;
  const auto theirs = GraphData::of(graph.at(any[0]), "compile", {});
  values->dims = theirs->dims;
  values->loaders = theirs->loaders;
  values->sink = theirs->sink;
  values->state_names = theirs->state_names;
  for (const auto& [place, stored] : theirs->values) {
    const Op op = values->dag.node(place.first).op;
    if (op == Op::input || op == Op::state) values->values.emplace(place, stored);
  }
}

Sink ExecutableData::sink() const {
  return [data = std::weak_ptr(values)](std::string_view line) {
    if (const auto alive = data.lock(); alive && alive->sink) alive->sink(line);
  };
}

namespace {

/// The executable's own tensor for the user's: node ids are the same.
Tensor mine(const ExecutableData& data, const Tensor& tensor, std::string_view operation, Location where) {
  if (!data.values->dag.contains(tensor.node()))
    throw Error(cat(operation, ": the tensor is not of the graph that was compiled"), where);
  return data.values->tensor(data.values->dag.whole(tensor.value().node, tensor.value().output));
}

void require_source(const ExecutableData& data, const Tensor& tensor, std::string_view operation,
                    Location where) {
  const Op op = data.values->dag.node(tensor.node()).op;
  if (op != Op::input && op != Op::state)
    throw Error(cat(operation, ": the tensor is a ", op, ", expected an input or a state"), where);
}

/// Brings to the device what changed, and fixes the dims.
void prepare(ExecutableData& data, Location where) {
  try {
    data.runner->prepare(data.values->dims);
  } catch (const Error& error) {
    if (error.where().known()) throw;
    throw Error(error.problem(), where);
  }
}

void upload(ExecutableData& data, Location where) {
  for (const auto& [node, buffer] : data.sources) {
    const bool deferred = data.values->loaders.contains(node);
    if (data.current.contains(node) && !deferred) continue;
    const Node& n = data.values->dag.node(node);
    const Tensor tensor = data.values->tensor(node);
    if (!tensor.has_data() && !deferred && n.op == Op::input)
      throw Error(cat("run: the input '", n.name, "' has no value; it was made at ", n.where.short_form()),
                  where);
    auto array = std::make_shared<Array>(
        (deferred ? data.values->loaders.at(node)().converted_for(n.outputs[0].dtype) : tensor.array(where))
            .contiguous());
    const auto dims = n.outputs[0].shape.eval(data.values->dims);
    if (array->dims() != dims)
      throw Error(cat(n.op, " '", n.name, "' holds ", array->dtype(), "[", join(array->dims()),
                      "], expected [", join(dims), "]"),
                  where);
    const std::size_t bytes = static_cast<std::size_t>(array->size()) * byte_size(array->dtype());
    const std::byte* first = std::as_const(*array).bytes();
    data.runner->set(buffer, {first, bytes}, array, data.written.contains(node));
    data.current.insert(node);
  }
}

}  // namespace

Executable& Executable::set(const Tensor& tensor, const Array& values, const DimMap& dims, Location where) {
  const Tensor target = mine(*data_, tensor, "set", where);
  require_source(*data_, target, "set", where);
  const DimMap before = data_->values->dims;
  try {
    for (const auto& [name, value] : dims) set_dim(name, value, where);
    if (dims.empty())
      target.set(values, where);
    else
      target.set(values.reshaped(target.shape().eval(data_->values->dims)), where);
  } catch (...) {
    data_->values->dims = before;
    throw;
  }
  data_->current.erase(target.node());
  return *this;
}

Executable& Executable::set_dyn(const Tensor& tensor, const Array& values,
                                const std::vector<std::int64_t>& dims, Location where) {
  const Tensor target = mine(*data_, tensor, "set_dyn", where);
  require_source(*data_, target, "set_dyn", where);
  target.set_dyn(values, dims, where);
  data_->current.erase(target.node());
  return *this;
}

Executable& Executable::set_dim(std::string_view name, std::int64_t value, Location where) {
  const auto found = data_->values->dag.variables().find(name);
  if (found == data_->values->dag.variables().end())
    throw Error(cat("set_dim: no dim is named '", name, "'"), where);
  const Interval bounds = found->second.declared_bounds();
  if ((bounds.low && value < *bounds.low) || (bounds.high && value > *bounds.high))
    throw Error(cat("set_dim: ", name, " = ", value, " is outside [",
                    bounds.low ? std::to_string(*bounds.low) : "-inf", ", ",
                    bounds.high ? std::to_string(*bounds.high) : "inf", "]"),
                where);
  data_->values->dims.insert_or_assign(std::string(name), value);
  return *this;
}

void Executable::run(Location where) {
  prepare(*data_, where);
  upload(*data_, where);
  data_->runner->run();
  data_->has_run = true;
  data_->ran_with = data_->values->dims;
}

Array Executable::array(const Tensor& tensor, Location where) const {
  const ExecutableData& data = *data_;
  if (!data.values->dag.contains(tensor.node()))
    throw Error("get: the tensor is not of the graph that was compiled", where);
  const auto read = [&](runtime::BufferId buffer, const Shape& shape, DType dtype, const DimMap& dims) {
    Array result(dtype, shape.eval(dims));
    const std::size_t bytes = static_cast<std::size_t>(result.size()) * byte_size(dtype);
    data.runner->get(buffer, {result.bytes(), bytes});
    return result;
  };
  const Value& value = tensor.value();
  const TensorType& whole = data.values->dag.type(value.node, value.output);
  if (const auto source = data.sources.find(value.node); source != data.sources.end()) {
    if (!data.current.contains(value.node)) return data.values->tensor(value).array(where);
    return materialise(read(source->second, whole.shape, whole.dtype, data.values->dims), value.view,
                       data.values->dims);
  }
  for (const auto& [output, buffer] : data.outputs) {
    if (output.node != value.node || output.output != value.output) continue;
    if (!data.has_run) throw Error("get: nothing has run yet", where);
    if (output.view == value.view) return read(buffer, value.view.shape(), whole.dtype, data.ran_with);
    if (output.view.is_identity())
      return materialise(read(buffer, whole.shape, whole.dtype, data.ran_with), value.view, data.ran_with);
  }
  throw Error("get: the tensor was not marked with retrieve() or keep() before compiling", where);
}

const runtime::Plan& Executable::plan() const {
  return data_->runner->plan();
}
std::size_t Executable::kernel_count() const {
  std::size_t count = 0;
  for (const auto& step : plan().steps) count += step.kernel ? 1 : 0;
  return count;
}
std::size_t Executable::host_step_count() const {
  return plan().steps.size() - kernel_count();
}
std::size_t Executable::peak_bytes(Location where) {
  prepare(*data_, where);
  return data_->runner->peak_bytes();
}
std::size_t Executable::arena_bytes(Location where) {
  prepare(*data_, where);
  return data_->runner->arena_bytes();
}
const std::vector<StageReport>& Executable::stages() const {
  return data_->reports;
}
void Executable::set_timing(bool on) {
  data_->runner->set_timing(on);
}
const std::vector<double>& Executable::step_seconds() const {
  return data_->runner->step_seconds();
}

}  // namespace luminal
