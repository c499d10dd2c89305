#include "luminal/frontend/graph.h"

#include <algorithm>
#include <iostream>

#include "luminal/frontend/graph_data.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

std::shared_ptr<GraphData> GraphData::of(const Tensor& tensor, std::string_view operation, Location where) {
  auto data = tensor.data_.lock();
  if (!data) throw Error(cat(operation, ": the tensor's graph no longer exists"), where);
  return data;
}

void GraphData::require_mine(const Tensor& tensor, std::string_view operation, Location where) const {
  if (of(tensor, operation, where).get() != this)
    throw Error(cat(operation, ": the tensors belong to different graphs"), where);
}

Value GraphData::live(const Tensor& tensor, std::string_view operation, Location where) const {
  require_mine(tensor, operation, where);
  Value value = dag.resolve(tensor.value());
  if (!dag.contains(value.node))
    throw Error(cat(operation, ": the tensor was removed from its graph"), where);
  return value;
}

OpBuilder::OpBuilder(std::shared_ptr<GraphData> data, Op op, Location where) : data_(std::move(data)) {
  node_.op = op;
  node_.where = where;
}

OpBuilder& OpBuilder::input(const Tensor& tensor) {
  node_.inputs.push_back(data_->live(tensor, luminal::name(node_.op), node_.where));
  return *this;
}

OpBuilder& OpBuilder::after(const Tensor& earlier) {
  node_.after.push_back(data_->live(earlier, luminal::name(node_.op), node_.where).node);
  return *this;
}

OpBuilder& OpBuilder::attribute(Attribute attribute) {
  node_.attribute = std::move(attribute);
  return *this;
}

OpBuilder& OpBuilder::type(TensorType type) {
  node_.type = std::move(type);
  return *this;
}

OpBuilder& OpBuilder::name(std::string name) {
  node_.name = std::move(name);
  return *this;
}

std::vector<Tensor> OpBuilder::finish_all() {
  const NodeId id = data_->dag.add(node_);
  std::vector<Tensor> outputs;
  for (std::uint32_t k = 0; k < data_->dag.node(id).outputs.size(); ++k)
    outputs.push_back(data_->tensor(id, k));
  return outputs;
}

Tensor OpBuilder::finish() {
  auto outputs = finish_all();
  if (outputs.empty()) throw Error(cat(node_.op, ": has no output; use finish_all"), node_.where);
  return outputs[0];
}

Graph::Graph() : Graph(Dag()) {}

Graph::Graph(Dag dag) : data_(std::make_shared<GraphData>()) {
  data_->dag = std::move(dag);
  for (const auto id : data_->dag.nodes())
    if (data_->dag.node(id).op == Op::state) data_->state_names.emplace(data_->dag.node(id).name, id);
  data_->sink = [](std::string_view line) { std::cout << line << '\n'; };
}

Tensor Graph::tensor(const Shape& shape, DType dtype, Location where) {
  return named_tensor("", shape, dtype, where);
}

Tensor Graph::named_tensor(std::string name, const Shape& shape, DType dtype, Location where) {
  return data_->add({Op::input, {}, {}, {shape, dtype}, {}, std::move(name), where});
}

Tensor Graph::constant(const Number& value, std::optional<DType> dtype, Location where) {
  const DType natural = value.is_real()                         ? DType::f32
                        : value.kind() == Number::Kind::boolean ? DType::boolean
                                                                : DType::i64;
  const DType chosen = dtype.value_or(natural);
  return data_->add(
      {Op::constant, attribute::Constant{make_scalar(chosen, value)}, {}, {{}, chosen}, {}, {}, where});
}

Tensor Graph::constant(const Expr& value, Location where) {
  return iota(value, {}, DType::i64, where);
}

Tensor Graph::iota(const Shape& shape, int axis, DType dtype, Location where) {
  const std::size_t resolved = resolve_axis(axis, shape.rank(), "iota", where);
  return iota(Expr::coordinate(resolved, shape[resolved]), shape, dtype, where);
}

Tensor Graph::iota(const Expr& value, const Shape& shape, DType dtype, Location where) {
  std::vector<Expr> coordinates;
  for (std::size_t i = 0; i < shape.rank(); ++i) coordinates.push_back(Expr::coordinate(i, shape[i]));
  for (const auto& variable : value.variables()) {
    const auto axis = variable.coordinate_axis();
    if (axis && *axis >= shape.rank())
      throw Error(
          cat("iota: ", value, " uses axis ", *axis, " of ", shape, ", which has ", shape.rank(), " axes"),
          where);
  }
  return data_->add({Op::iota,
                     attribute::Iota{value.substitute_coordinates(coordinates)},
                     {},
                     {shape, dtype},
                     {},
                     {},
                     where});
}

State Graph::state(const std::string& name, const Shape& shape, DType dtype, std::optional<Array> initial,
                   Location where) {
  if (name.empty()) throw Error("state: needs a name", where);
  const auto known = data_->state_names.find(name);
  if (known != data_->state_names.end() && data_->dag.contains(known->second) &&
      data_->dag.node(known->second).name == name)
    throw Error(cat("state: there is one named '", name, "' already"), where);
  const Tensor handle = data_->add({Op::state, {}, {}, {shape, dtype}, {}, name, where});
  try {
    if (initial) handle.set(*initial, where);
  } catch (const Error&) {
    data_->dag.remove({handle.node()});
    throw;
  }
  data_->state_names.insert_or_assign(name, handle.node());
  return State(handle);
}

OpBuilder Graph::add_op(Op op, Location where) {
  return {data_, op, where};
}

std::vector<Tensor> Graph::custom(std::shared_ptr<const CustomOp> op, const std::vector<Tensor>& inputs,
                                  Location where) {
  OpBuilder builder(data_, Op::custom, where);
  builder.attribute(attribute::Custom{std::move(op)});
  for (const auto& tensor : inputs) builder.input(tensor);
  return builder.finish_all();
}

void Graph::schedule(const Tensor& earlier, const Tensor& later, Location where) {
  data_->dag.schedule(data_->live(earlier, "schedule", where).node,
                      data_->live(later, "schedule", where).node, where);
}

Expr Graph::dim(std::string_view name, std::int64_t low, std::optional<std::int64_t> high, Location where) {
  const Expr variable = Expr::variable(name, low, high, where);
  data_->dag.declare(variable, where);
  return variable;
}

void Graph::set_dim(std::string_view name, std::int64_t value, Location where) {
  const auto found = data_->dag.variables().find(name);
  if (found == data_->dag.variables().end()) throw Error(cat("set_dim: no dim is named '", name, "'"), where);
  const Interval bounds = found->second.declared_bounds();
  if ((bounds.low && value < *bounds.low) || (bounds.high && value > *bounds.high))
    throw Error(cat("set_dim: ", name, " = ", value, " is outside [",
                    bounds.low ? std::to_string(*bounds.low) : "-inf", ", ",
                    bounds.high ? std::to_string(*bounds.high) : "inf", "]"),
                where);
  data_->dims.insert_or_assign(std::string(name), value);
}

const DimMap& Graph::dims() const {
  return data_->dims;
}

void Graph::set_sink(Sink sink) {
  data_->sink = std::move(sink);
}

namespace {

Environment environment_of(const std::shared_ptr<GraphData>& data, const Sink& sink, bool trace) {
  Environment environment;
  environment.dims = data->dims;
  environment.sink = sink;
  environment.trace = trace;
  environment.load = [data](NodeId id) {
    const Node& node = data->dag.node(id);
    const auto loader = data->loaders.find(id);
    if (loader != data->loaders.end()) return loader->second().converted_for(node.outputs[0].dtype);
    const auto stored = data->values.find({id, 0});
    if (stored != data->values.end()) return stored->second.array;
    if (node.op == Op::state) return Array(node.outputs[0].dtype, node.outputs[0].shape.eval(data->dims));
    const std::string which = node.name.empty() ? cat(id) : cat("'", node.name, "'");
    throw Error(cat("execute: the input ", which, ", ", node.outputs[0], ", has no value"), node.where);
  };
  return environment;
}

void require_dims(const GraphData& data, const std::vector<NodeId>& order) {
  const auto require = [&](const Expr& e, const Node& node) {
    if (e.is_constant()) return;
    for (const auto& variable : e.variables())
      if (!variable.coordinate_axis() && !data.dims.contains(variable.name()))
        throw Error(cat("execute: the dim '", variable.name(), "' has no value"), node.where);
  };
  const auto require_view_dims = [&](const View& view, const Node& node) {
    for (const auto& dim : view.shape()) require(dim, node);
    for (const auto& index : view.map().index) require(index, node);
    for (const auto& guard : view.map().guards) require(guard.valid, node);
    for (const auto& check : view.checks()) require(check.holds, node);
  };
  for (const auto id : order) {
    const Node& node = data.dag.node(id);
    for (const auto& output : node.outputs)
      for (const auto& dim : output.shape) require(dim, node);
    if (const auto* iota = node.try_get<attribute::Iota>()) require(iota->value, node);
    for (const auto& input : node.inputs) require_view_dims(input.view, node);
  }
  for (const auto& value : data.dag.outputs()) require_view_dims(value.view, data.dag.node(value.node));
  for (const auto& [state, value] : data.dag.assignments())
    require_view_dims(value.view, data.dag.node(value.node));
}

/// What the dims' values make of a view that nothing but the user reads.
void require_view(const Value& value, const GraphData& data) {
  try {
    value.view.substitute(data.dims);
  } catch (const Error& error) {
    throw Error(error.problem(), data.dag.node(value.node).where);
  }
}

}  // namespace

void Graph::evaluate(const std::vector<Tensor>& tensors, Location where) {
  GraphData& data = *data_;
  std::vector<NodeId> roots;
  std::vector<OutputId> wanted;
  for (const auto& tensor : tensors) {
    const Value value = data.live(tensor, "evaluate", where);
    require_view(value, data);
    roots.push_back(value.node);
    wanted.emplace_back(value.node, value.output);
  }
  require_dims(data, execution_order(data.dag, roots));
  for (const auto& [place, array] :
       interpret(data.dag, environment_of(data_, data.sink, false), wanted, false)) {
    const Op op = data.dag.node(place.first).op;
    if (op != Op::input && op != Op::state)
      data.values.insert_or_assign(place, GraphData::Stored{array, data.dims});
  }
}

void Graph::execute() {
  run(data_->sink, false);
}

void Graph::execute_debug(const Sink& sink) {
  run(sink, true);
}

void Graph::run(const Sink& sink, bool trace) {
  GraphData& data = *data_;
  require_dims(data, execution_order(data.dag, data.dag.roots()));
  std::vector<OutputId> wanted;
  for (const auto& value : data.dag.outputs()) {
    require_view(value, data);
    wanted.emplace_back(value.node, value.output);
  }
  for (const auto& [place, unused] : data.dag.kept()) wanted.push_back(place);
  for (const auto& [state, value] : data.dag.assignments()) wanted.emplace_back(value.node, value.output);
  const auto arrays = interpret(data.dag, environment_of(data_, sink, trace), wanted);
  std::map<OutputId, Array> states;  // every new value is taken before the first state changes
  for (const auto& [state, value] : data.dag.assignments())
    states.emplace(OutputId{state, 0},
                   materialise(arrays.at({value.node, value.output}), value.view, data.dims).clone());
  for (const auto& value : data.dag.outputs())
    data.values.insert_or_assign(OutputId{value.node, value.output},
                                 GraphData::Stored{arrays.at({value.node, value.output}), data.dims});
  for (const auto& [place, unused] : data.dag.kept())
    data.values.insert_or_assign(place, GraphData::Stored{arrays.at(place), data.dims});
  for (auto& [place, array] : states)
    data.values.insert_or_assign(place, GraphData::Stored{array, data.dims});
}

Sampler Graph::sampler() const {
  return Sampler(data_->dag, environment_of(data_, data_->sink, false));
}

Scalar Graph::value_at(const Tensor& tensor, std::vector<std::int64_t> coordinates, Location where) {
  try {
    return sampler().value_at(data_->live(tensor, "value_at", where), coordinates);
  } catch (const Error& error) {
    if (error.where().known()) throw;
    throw Error(error.problem(), where);
  }
}

Tensor Graph::at(NodeId node, std::uint32_t output) const {
  return data_->tensor(node, output);
}

Tensor Graph::at(const Value& value) const {
  return data_->tensor(value);
}

Tensor Graph::find(std::string_view name) const {
  std::vector<NodeId> found;
  for (const auto id : data_->dag.nodes()) {
    const Node& node = data_->dag.node(id);
    if ((node.op == Op::input || node.op == Op::state) && node.name == name) found.push_back(id);
  }
  if (found.size() != 1)
    throw Error(
        cat("find: ", found.empty() ? "no" : "more than one", " input or state is named '", name, "'"));
  return data_->tensor(found[0]);
}

const Dag& Graph::dag() const {
  return data_->dag;
}

void Graph::apply(const Pass& pass) {
  pass.run(data_->dag);
  std::erase_if(data_->values, [&](const auto& entry) { return !data_->dag.contains(entry.first.first); });
}

void Graph::delete_inputs(const std::vector<Tensor>& tensors, Location where) {
  Dag& dag = data_->dag;
  std::vector<NodeId> cut;
  for (const auto& tensor : tensors) {
    const Value value = data_->live(tensor, "delete_inputs", where);
    if (dag.node(value.node).outputs.size() != 1)
      throw Error(
          cat("delete_inputs: ", dag.node(value.node).op, " has several outputs and cannot become an input"),
          where);
    cut.push_back(value.node);
  }
  const auto above = execution_order(dag, cut);
  for (const auto id : cut)
    if (dag.node(id).op != Op::state) dag.make_input(id);
  // What only served the cut nodes goes; what others read, and what was marked, stays.
  std::vector<NodeId> rest;
  std::vector<bool> served(dag.id_bound(), false);
  for (const auto id : above) served[id.index()] = true;
  for (const auto id : dag.nodes())
    if (!served[id.index()]) rest.push_back(id);
  const auto roots = dag.roots();
  rest.insert(rest.end(), roots.begin(), roots.end());
  rest.insert(rest.end(), cut.begin(), cut.end());
  std::vector<bool> needed(dag.id_bound(), false);
  for (const auto id : execution_order(dag, rest)) needed[id.index()] = true;
  std::vector<NodeId> dead;
  for (const auto id : above)
    if (!needed[id.index()]) dead.push_back(id);
  dag.remove(dead);
}

std::vector<Tensor> Graph::downstream(const std::vector<Tensor>& tensors, Location where) const {
  const Dag& dag = data_->dag;
  std::vector<bool> known(dag.id_bound(), false);
  std::vector<bool> depends(dag.id_bound(), false);
  for (const auto& tensor : tensors) {
    const NodeId id = data_->live(tensor, "downstream", where).node;
    known[id.index()] = depends[id.index()] = true;
  }
  std::vector<Tensor> result;
  for (const auto id : execution_order(dag, dag.nodes())) {
    const Node& node = dag.node(id);
    if (known[id.index()]) continue;
    if (node.op == Op::constant || node.op == Op::iota) known[id.index()] = true;
    if (node.inputs.empty()) continue;
    const auto holds = [&](const std::vector<bool>& flags) {
      return [&](const Value& input) { return static_cast<bool>(flags[input.node.index()]); };
    };
    known[id.index()] = std::all_of(node.inputs.begin(), node.inputs.end(), holds(known));
    depends[id.index()] = std::any_of(node.inputs.begin(), node.inputs.end(), holds(depends));
    if (!known[id.index()] || !depends[id.index()]) continue;
    for (std::uint32_t k = 0; k < node.outputs.size(); ++k) result.push_back(data_->tensor(id, k));
  }
  return result;
}

namespace {

void require_holder(const GraphData& data, const Value& value, const char* operation, Location where) {
  const Node& node = data.dag.node(value.node);
  if (node.op != Op::input && node.op != Op::state)
    throw Error(cat(operation, ": the tensor is ", node.op, ", expected an input or a state"), where);
  if (!value.view.is_identity())
    throw Error(cat(operation, ": the tensor is a view; use the tensor it was made from"), where);
}

}  // namespace

void transfer_data(const std::vector<Tensor>& from, const std::vector<Tensor>& to, Location where) {
  if (from.size() != to.size())
    throw Error(cat("transfer_data: ", from.size(), " sources but ", to.size(), " destinations"), where);
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto data = GraphData::of(to[i], "transfer_data", where);
    require_holder(*data, data->live(to[i], "transfer_data", where), "transfer_data", where);
    arrays.push_back(from[i].array(where).clone());
    if (from[i].dtype() != to[i].dtype() || from[i].rank() != to[i].rank())
      throw Error(cat("transfer_data: ", TensorType{from[i].shape(), from[i].dtype()}, " cannot become ",
                      TensorType{to[i].shape(), to[i].dtype()}),
                  where);
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i].set(arrays[i], where);
}

void swap_data(const Tensor& a, const Tensor& b, Location where) {
  const auto data = GraphData::of(a, "swap_data", where);
  const Value x = data->live(a, "swap_data", where);
  const Value y = data->live(b, "swap_data", where);
  require_holder(*data, x, "swap_data", where);
  require_holder(*data, y, "swap_data", where);
  if (data->dag.type(x) != data->dag.type(y))
    throw Error(cat("swap_data: ", data->dag.type(x), " and ", data->dag.type(y), " differ"), where);
  const Array first = a.array(where);
  const Array second = b.array(where);
  data->loaders.erase(x.node);
  data->loaders.erase(y.node);
  data->values.insert_or_assign(OutputId{x.node, 0}, GraphData::Stored{second, data->dims});
  data->values.insert_or_assign(OutputId{y.node, 0}, GraphData::Stored{first, data->dims});
}

void keep(const std::vector<Tensor>& tensors, Location where) {
  for (const auto& tensor : tensors) tensor.keep(where);
}
void retrieve(const std::vector<Tensor>& tensors, Location where) {
  for (const auto& tensor : tensors) tensor.retrieve(where);
}
void drop(const std::vector<Tensor>& tensors, Location where) {
  for (const auto& tensor : tensors) tensor.drop(where);
}

}  // namespace luminal
