#include "luminal/compile/executable.h"

#include <algorithm>
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
  origin = theirs;
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

void ExecutableData::require_own(const Tensor& tensor, std::string_view operation, Location where) const {
  if (!GraphData::is_of(tensor, origin) || !values->dag.contains(tensor.node()))
    throw Error(cat(operation, ": the tensor is not of the graph that was compiled"), where);
}

void ExecutableData::choose(Location where) {
  const std::size_t next = choice_for(choices, values->dims, where);
  if (next == chosen) return;
  const Compiled& last = now();
  chosen = next;
  for (const auto& [node, buffer] : now().sources)
    if (const auto theirs = last.sources.find(node); theirs != last.sources.end() && current[node])
      now().runner->adopt(buffer, *last.runner, theirs->second);
    else
      current[node] = false;
}

namespace {

/// The executable's own tensor for the user's: node ids are the same.
Tensor mine(const ExecutableData& data, const Tensor& tensor, std::string_view operation, Location where) {
  data.require_own(tensor, operation, where);
  if (!tensor.value().view.is_identity())
    throw Error(cat(operation, ": the tensor is a view; set the tensor it was made from"), where);
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
  data.choose(where);
  try {
    data.now().runner->prepare(data.values->dims);
  } catch (const Error& error) {
    if (error.where().known()) throw;
    throw Error(error.problem(), where);
  }
}

/// `Error` unless a source holds what its shape asks for.
void require_dims(const Node& node, const std::vector<std::int64_t>& held, const DimMap& dims,
                  Location where) {
  const auto& [shape, dtype] = node.outputs[0];
  bool fits = held.size() == shape.rank();
  for (std::size_t axis = 0; fits && axis < shape.rank(); ++axis) fits = shape[axis].eval(dims) == held[axis];
  if (!fits)
    throw Error(cat(node.op, " '", node.name, "' holds ", dtype, "[", join(held), "], expected [",
                    join(shape.eval(dims)), "]; it was made at ", node.where.short_form()),
                where);
}

/// The device gets a source's elements. Where it shares the host's memory it reads them where `array` has
/// them, so that must live as long.
void send(ExecutableData& data, NodeId node, const Array& array, std::shared_ptr<const void> owner,
          Location where) {
  require_dims(data.values->dag.node(node), array.dims(), data.values->dims, where);
  const std::size_t bytes = static_cast<std::size_t>(array.size()) * byte_size(array.dtype());
  Compiled& plan = data.now();
  plan.runner->set(plan.sources.at(node), {array.bytes(), bytes}, std::move(owner),
                   plan.written.contains(node));
  data.current[node] = true;
  if (auto& held = data.held[node]; held != array.dims()) held = array.dims();
}

/// The user's lines that gather from, or scatter to, an axis of this length: kernels are fused, and know
/// none.
std::string lines_that_index(const ExecutableData& data, std::int64_t length) {
  std::vector<std::string> lines;
  for (const NodeId id : data.values->dag.nodes()) {
    const Node& node = data.values->dag.node(id);
    if (kind(node.op) != OpKind::gather && kind(node.op) != OpKind::scatter) continue;
    const auto& shape = node.inputs[0].view.shape();
    if (shape[node.get<attribute::Axis>().axis].eval(data.values->dims) != length) continue;
    std::string line = cat("the ", node.op, " of ", node.where.short_form());
    if (node.where.known() && std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  }
  constexpr std::size_t most = 4;
  if (lines.size() > most) lines.resize(most), lines.emplace_back("others");
  return lines.empty() ? "" : cat(lines.size() == 1 ? "; it is " : "; it is one of ", join(lines));
}

/// Allocates nothing where values were set and are row-major.
void upload(ExecutableData& data, Location where) {
  const bool same_dims = data.held_for == data.values->dims;
  for (const auto& [node, buffer] : data.now().sources) {
    const auto loader = data.values->loaders.find(node);
    if (data.current[node] && loader == data.values->loaders.end()) {
      if (!same_dims) require_dims(data.values->dag.node(node), data.held.at(node), data.values->dims, where);
      continue;
    }
    const Node& n = data.values->dag.node(node);
    const auto stored = data.values->values.find({node, 0});
    if (loader != data.values->loaders.end()) {
      const auto loaded =
          std::make_shared<const Array>(loader->second().converted_for(n.outputs[0].dtype).contiguous());
      send(data, node, *loaded, loaded, where);
    } else if (stored != data.values->values.end()) {
      Array& array = stored->second.array;
      if (!array.is_contiguous()) array = array.contiguous();
      send(data, node, array, nullptr, where);
    } else if (n.op == Op::state) {
      const auto zeros = std::make_shared<const Array>(data.values->tensor(node).array(where).contiguous());
      send(data, node, *zeros, zeros, where);
    } else {
      throw Error(cat("run: the input '", n.name, "' has no value; it was made at ", n.where.short_form()),
                  where);
    }
  }
  if (!same_dims) data.held_for = data.values->dims;
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
  data_->current[target.node()] = false;
  return *this;
}

Executable& Executable::set_dyn(const Tensor& tensor, const Array& values,
                                const std::vector<std::int64_t>& dims, Location where) {
  const Tensor target = mine(*data_, tensor, "set_dyn", where);
  require_source(*data_, target, "set_dyn", where);
  target.set_dyn(values, dims, where);
  data_->current[target.node()] = false;
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

void Executable::write_bytes(const Tensor& tensor, DType dtype, std::span<const std::byte> elements,
                             Location where) {
  data_->require_own(tensor, "write", where);
  require_source(*data_, tensor, "write", where);
  data_->choose(where);
  const auto& sources = data_->now().sources;
  const auto source = sources.find(tensor.node());
  const TensorType& type = data_->values->dag.type(tensor.node(), 0);
  if (dtype != type.dtype)
    throw Error(cat("write: elements of ", dtype, " for a tensor of ", type.dtype), where);
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis < type.shape.rank(); ++axis)
    count *= type.shape[axis].eval(data_->values->dims);
  if (static_cast<std::size_t>(count) * byte_size(dtype) != elements.size())
    throw Error(cat("write: ", elements.size() / byte_size(dtype), " elements for a tensor of shape [",
                    join(type.shape.eval(data_->values->dims)), "]"),
                where);
  if (source == sources.end()) {  // nothing reads it, so the device does not know it
    const auto dims = type.shape.eval(data_->values->dims);
    Array array(dtype, dims);
    std::copy(elements.begin(), elements.end(), array.bytes());
    mine(*data_, tensor, "write", where).set(array, where);
    return;
  }
  data_->now().runner->set(source->second, elements, nullptr, true);
  data_->current[tensor.node()] = true;
  auto& held = data_->held[tensor.node()];
  held.resize(type.shape.rank());
  for (std::size_t axis = 0; axis < held.size(); ++axis)
    held[axis] = type.shape[axis].eval(data_->values->dims);
}

void Executable::run(Location where) {
  prepare(*data_, where);
  upload(*data_, where);
  try {
    data_->now().runner->run();
  } catch (const runtime::IndexError& error) {
    throw Error(cat(error.problem(), lines_that_index(*data_, error.length())), where);
  }
  data_->has_run = true;
  data_->ran = data_->chosen;
  if (data_->ran_with != data_->values->dims) data_->ran_with = data_->values->dims;
}

Array Executable::array(const Tensor& tensor, Location where) const {
  const ExecutableData& data = *data_;
  data.require_own(tensor, "get", where);
  const auto read = [&](const Compiled& plan, runtime::BufferId buffer, const Shape& shape, DType dtype,
                        const DimMap& dims) {
    Array result(dtype, shape.eval(dims));
    const std::size_t bytes = static_cast<std::size_t>(result.size()) * byte_size(dtype);
    plan.runner->get(buffer, {result.bytes(), bytes});
    return result;
  };
  const Value& value = tensor.value();
  const TensorType& whole = data.values->dag.type(value.node, value.output);
  const auto& sources = data.now().sources;
  if (const auto source = sources.find(value.node); source != sources.end()) {
    if (const auto has = data.current.find(value.node); has == data.current.end() || !has->second)
      return data.values->tensor(value).array(where);
    // What it holds, even if dims changed since.
    Array held(whole.dtype, data.held.at(value.node));
    const std::size_t bytes = static_cast<std::size_t>(held.size()) * byte_size(whole.dtype);
    data.now().runner->get(source->second, {held.bytes(), bytes});
    if (value.view.is_identity()) return held;
    require_dims(data.values->dag.node(value.node), held.dims(), data.values->dims, where);
    return materialise(held, value.view, data.values->dims);
  }
  const Compiled& plan = data.plans[data.ran];
  for (const auto& [output, buffer] : plan.outputs) {
    if (output.node != value.node || output.output != value.output) continue;
    if (!data.has_run) throw Error("get: nothing has run yet", where);
    if (output.view == value.view) return read(plan, buffer, value.view.shape(), whole.dtype, data.ran_with);
    if (output.view.is_identity())
      return materialise(read(plan, buffer, whole.shape, whole.dtype, data.ran_with), value.view,
                         data.ran_with);
  }
  if (const Op op = data.values->dag.node(value.node).op; op == Op::input || op == Op::state)
    return data.values->tensor(value).array(where);  // nothing reads it, so it is as it was set
  throw Error("get: the tensor was not marked with retrieve() or keep() before compiling", where);
}

float Executable::first(const Tensor& tensor, Location where) const {
  data_->require_own(tensor, "first", where);
  const Value& value = tensor.value();
  const Compiled& plan = data_->plans[data_->ran];
  for (const auto& [output, buffer] : plan.outputs) {
    if (output.node != value.node || output.output != value.output || !(output.view == value.view)) continue;
    if (!data_->has_run) throw Error("first: nothing has run yet", where);
    if (tensor.dtype() != DType::f32) throw Error(cat("first: the tensor is ", tensor.dtype()), where);
    float result = 0;
    plan.runner->get(buffer, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }
  throw Error("first: the tensor was not marked with retrieve() or keep() before compiling", where);
}

const runtime::Plan& Executable::plan() const {
  return data_->now().runner->plan();
}
std::size_t Executable::kernel_count() const {
  std::size_t count = 0;
  for (const auto& step : plan().steps) count += step.kernel ? 1 : 0;
  return count;
}
std::size_t Executable::host_step_count() const {
  return static_cast<std::size_t>(
      std::count_if(plan().steps.begin(), plan().steps.end(),
                    [](const runtime::Step& step) { return static_cast<bool>(step.host); }));
}
std::size_t Executable::copy_count() const {
  return plan().steps.size() - kernel_count() - host_step_count();
}
std::size_t Executable::peak_bytes(Location where) {
  prepare(*data_, where);
  return data_->now().runner->peak_bytes();
}
std::size_t Executable::arena_bytes(Location where) {
  prepare(*data_, where);
  return data_->now().runner->arena_bytes();
}
const std::vector<StageReport>& Executable::stages() const {
  return data_->reports;
}
const SearchReport* Executable::search_report() const {
  return data_->now().search.get();
}
void Executable::set_timing(bool on) {
  for (auto& plan : data_->plans) plan.runner->set_timing(on);
}
const std::vector<double>& Executable::step_seconds() const {
  return data_->now().runner->step_seconds();
}

}  // namespace luminal
