#include "luminal/compile/assemble.h"

#include <algorithm>
#include <queue>
#include <set>

#include "luminal/codegen/helpers.h"
#include "luminal/compile/host.h"
#include "luminal/kernel/structure.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {

using runtime::BufferId;
using runtime::BufferInfo;

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

/// The loops that a reduction or a scan goes over; none for other values.
kernel::LoopSet reduced_loops(const kernel::Value& value) {
  if (const auto* reduce = value.try_get<kernel::value::Reduce>()) return kernel::set_of(reduce->loops);
  if (const auto* scan = value.try_get<kernel::value::Scan>())
    return kernel::set_of(std::span(&scan->loop, 1));
  return {};
}

std::vector<kernel::ValueId> arguments_of(const kernel::Value& value) {
  if (const auto* reduce = value.try_get<kernel::value::Reduce>()) return reduce->arguments;
  if (const auto* scan = value.try_get<kernel::value::Scan>()) return {scan->argument};
  return {};
}

}  // namespace

BufferId Assembler::add_buffer(const kernel::ArrayType& type, BufferInfo::Role role, std::string name) {
  result_.plan.buffers.push_back({type, role, false, std::move(name)});
  return BufferId(result_.plan.buffers.size() - 1);
}

BufferId Assembler::source(NodeId node) {
  const auto found = result_.sources.find(node);
  if (found != result_.sources.end()) return found->second;
  const TensorType& type = dag_.type(node);
  const BufferId made =
      add_buffer({type.shape, type.dtype}, BufferInfo::Role::external, dag_.node(node).name);
  result_.sources.emplace(node, made);
  return made;
}

std::size_t Assembler::add_kernel(const CompiledRegion::RegionKernel& kernel) {
  const std::string key = kernel::key(kernel.lowered.kernel);
  const auto [it, fresh] = kernel_numbers_.emplace(key, result_.plan.kernels.size());
  if (fresh) result_.plan.kernels.push_back({kernel.lowered.kernel, {}, {}, kernel.family, kernel.seconds});
  return it->second;
}

std::vector<BufferId> Assembler::add_region(const CompiledRegion& region,
                                            const std::vector<BufferId>& sources) {
  std::vector<std::vector<BufferId>> made;
  const auto find = [&](const CompiledRegion::Source& at) {
    return at.source ? sources[*at.source] : made[*at.kernel][at.output];
  };
  for (const auto& kernel : region.kernels) {
    Draft draft;
    draft.is_static = kernel.is_static;
    draft.step.kernel = add_kernel(kernel);
    for (const auto& input : kernel.inputs) draft.step.inputs.push_back(find(input));
    for (const auto& type : kernel.lowered.kernel.outputs())
      draft.step.outputs.push_back(
          add_buffer(type, kernel.is_static ? BufferInfo::Role::loaded : BufferInfo::Role::intermediate));
    for (const auto& base : kernel.bases)
      draft.bases.push_back(base ? std::optional(find(*base)) : std::nullopt);
    for (const auto& check : kernel.lowered.checks)
      add_check({Expr::logical_or(
                     Expr::equal(check.points, 0),
                     Expr::logical_and(Expr::less_equal(0, check.low), Expr::less(check.high, check.length))),
                 cat("gather or scatter: index ", check.index, " leaves an axis that has ", check.length,
                     " elements"),
                 {}});
    made.push_back(draft.step.outputs);
    drafts_.push_back(std::move(draft));
  }
  std::vector<BufferId> wanted;
  for (const auto& at : region.wanted) wanted.push_back(find(at));
  return wanted;
}

std::vector<BufferId> Assembler::add_outputs(NodeId id) {
  std::vector<BufferId> outputs;
  for (const auto& type : dag_.node(id).outputs)
    outputs.push_back(add_buffer({type.shape, type.dtype}, BufferInfo::Role::intermediate));
  return outputs;
}

/// The kernel that a custom op brings for the device, if it does.
std::optional<std::size_t> Assembler::add_given_kernel(const Node& node) {
  const auto* custom = node.try_get<attribute::Custom>();
  if (custom == nullptr || !custom->op->kernels) return std::nullopt;
  std::vector<TensorType> types;
  for (const auto& input : node.inputs) types.push_back(dag_.type(input));
  for (const auto& given : custom->op->kernels(types)) {
    if (given.dialect != dialect_.name) continue;
    for (const auto& dim : given.dims)
      if (!dag_.variables().contains(dim))
        throw Error(cat("custom op '", custom->op->name, "': its kernel asks for the dim '", dim,
                        "', which the graph does not have"),
                    node.where);
    runtime::PlannedKernel kernel;
    for (const auto& type : types) kernel.kernel.add_input({type.shape, type.dtype});
    for (const auto& type : node.outputs) kernel.kernel.add_output({type.shape, type.dtype});
    kernel.source = {.text = codegen::Helpers(dialect_).preamble() + given.text,
                     .entry = given.entry,
                     .tasks = given.grid,
                     .scratch_bytes = given.scratch,
                     .dims = given.dims};
    kernel.family = cat("custom ", custom->op->name);
    kernel.is_given = true;
    result_.plan.kernels.push_back(std::move(kernel));
    return result_.plan.kernels.size() - 1;
  }
  return std::nullopt;
}

void Assembler::add_boundary(NodeId id, const std::vector<BufferId>& inputs,
                             const std::vector<BufferId>& outputs) {
  const Node& node = dag_.node(id);
  if (node.op == Op::barrier) {
    add_copy(inputs[0], outputs[0], "barrier");
    return;
  }
  Draft draft;
  draft.step.name = std::string(name(node.op));
  draft.step.where = node.where;
  draft.step.inputs = inputs;
  draft.step.outputs = outputs;
  draft.step.kernel = add_given_kernel(node);
  if (!draft.step.kernel) draft.step.host = host_step(dag_, id, sink_);
  draft.bases.resize(outputs.size());
  for (const auto earlier : node.after)
    if (const auto found = host_steps_.find(earlier); found != host_steps_.end())
      draft.after.push_back(found->second);
  host_steps_.emplace(id, drafts_.size());
  drafts_.push_back(std::move(draft));
}

void Assembler::add_output(const Value& value, BufferId buffer) {
  result_.outputs.emplace_back(value, buffer);
}

void Assembler::assign(NodeId state, BufferId value) {
  assigned_.emplace(state, value);
  result_.written[state] = true;
}

std::size_t Assembler::add_copy(BufferId from, BufferId to, const std::string& name) {
  Draft draft;
  draft.step.name = name;
  draft.step.inputs = {from};
  draft.step.outputs = {to};
  draft.bases.resize(1);
  drafts_.push_back(std::move(draft));
  return drafts_.size() - 1;
}

std::size_t Assembler::producer(BufferId buffer) const {
  for (std::size_t k = 0; k < drafts_.size(); ++k)
    for (const auto output : drafts_[k].step.outputs)
      if (output == buffer) return k;
  return nobody;
}

std::vector<std::size_t> Assembler::readers(BufferId buffer) const {
  std::vector<std::size_t> result;
  for (std::size_t k = 0; k < drafts_.size(); ++k) {
    const auto& inputs = drafts_[k].step.inputs;
    const bool as_base = std::find(drafts_[k].bases.begin(), drafts_[k].bases.end(), std::optional(buffer)) !=
                         drafts_[k].bases.end();
    if (as_base || std::find(inputs.begin(), inputs.end(), buffer) != inputs.end()) result.push_back(k);
  }
  return result;
}

/// Whether `later` has to wait for `earlier`.
bool Assembler::depends(std::size_t later, std::size_t earlier) const {
  std::set<std::size_t> seen;
  std::vector<std::size_t> stack = {later};
  while (!stack.empty()) {
    const std::size_t at = stack.back();
    stack.pop_back();
    if (at == earlier) return true;
    if (!seen.insert(at).second) continue;
    stack.insert(stack.end(), drafts_[at].after.begin(), drafts_[at].after.end());
    const auto add = [&](BufferId buffer) {
      if (const std::size_t from = producer(buffer); from != nobody) stack.push_back(from);
    };
    for (const auto input : drafts_[at].step.inputs) add(input);
    for (const auto& base : drafts_[at].bases)
      if (base) add(*base);
  }
  return false;
}

/// Whether a step may write its output `new_buffer` over `old_buffer`, as far as its own reading goes: it
/// reads the old elements only where it writes, or only as what it scatters into.
bool Assembler::overwrites_safely(std::size_t step, BufferId old_buffer, BufferId new_buffer) const {
  const Draft& draft = drafts_[step];
  if (!draft.step.kernel) return false;
  const auto& kernel = result_.plan.kernels[*draft.step.kernel].kernel;
  const auto position =
      static_cast<std::size_t>(std::find(draft.step.outputs.begin(), draft.step.outputs.end(), new_buffer) -
                               draft.step.outputs.begin());
  const kernel::Store* store = nullptr;
  for (const auto& s : kernel.stores())
    if (s.output == position) store = &s;
  if (store == nullptr) return false;
  for (const auto& v : kernel.values()) {
    const auto* load = v.try_get<kernel::value::Load>();
    if (load == nullptr || draft.step.inputs[load->input] != old_buffer) continue;
    if (draft.bases[position]) return false;  // a scatter goes over other points than it reads
    if (load->index != store->index) return false;
  }
  if (std::find(draft.step.inputs.begin(), draft.step.inputs.end(), old_buffer) == draft.step.inputs.end())
    return true;
  // A reduction over loops of the store may be made again, by another task or for another row, when elements
  // that it reads are new already.
  for (const auto& v : kernel.values()) {
    const kernel::LoopSet over = reduced_loops(v);
    if ((over & kernel::set_of(store->domain)).none()) continue;
    const auto used = kernel::reachable(kernel, arguments_of(v));
    for (std::size_t k = 0; k < used.size(); ++k) {
      const auto* load = kernel.values()[k].try_get<kernel::value::Load>();
      if (used[k] && load != nullptr && draft.step.inputs[load->input] == old_buffer) return false;
    }
  }
  // Another output of the kernel must not read the old elements in a nest of its own.
  for (const auto& s : kernel.stores()) {
    if (s.domain == store->domain) continue;
    const auto used = kernel::reachable(kernel, std::span(&s.value, 1));
    for (std::size_t k = 0; k < used.size(); ++k) {
      const auto* load = kernel.values()[k].try_get<kernel::value::Load>();
      if (used[k] && load != nullptr && draft.step.inputs[load->input] == old_buffer) return false;
    }
  }
  return true;
}

/// Lets `new_buffer` be written where `old_buffer` is, if every other reader of the old elements can come
/// first.
bool Assembler::make_in_place(BufferId old_buffer, BufferId new_buffer) {
  const std::size_t writer = producer(new_buffer);
  if (writer == nobody || producer(old_buffer) == writer) return false;
  const auto& outputs = drafts_[writer].step.outputs;
  if (std::count(outputs.begin(), outputs.end(), old_buffer) != 0) return false;
  if (!overwrites_safely(writer, old_buffer, new_buffer)) return false;
  const auto position =
      static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), new_buffer) - outputs.begin());
  if (drafts_[writer].bases[position] && *drafts_[writer].bases[position] != old_buffer) return false;
  const auto others = readers(old_buffer);
  for (const auto reader : others)
    if (reader != writer && depends(reader, writer)) return false;
  // From here on it happens. Later readers of the new elements read the old buffer.
  if (const std::size_t origin = producer(old_buffer); origin != nobody)
    drafts_[writer].after.push_back(origin);
  const auto new_readers = readers(new_buffer);
  for (const auto reader : others)
    if (reader != writer) drafts_[writer].after.push_back(reader);
  for (const auto reader : new_readers) drafts_[reader].after.push_back(writer);
  const auto replace = [&](BufferId& buffer) {
    if (buffer == new_buffer) buffer = old_buffer;
  };
  for (auto& draft : drafts_) {
    for (auto& input : draft.step.inputs) replace(input);
    for (auto& output : draft.step.outputs) replace(output);
    for (auto& base : draft.bases)
      if (base) replace(*base);
  }
  for (auto& [value, buffer] : result_.outputs) replace(buffer);
  for (auto& [state, buffer] : assigned_) replace(buffer);
  if (drafts_[writer].bases[position]) drafts_[writer].bases[position].reset();
  return true;
}

/// What reads a state's old elements after the run, or gives them to another state, gets a copy taken before
/// the state changes.
void Assembler::protect_old_states() {
  std::map<BufferId, NodeId> states;
  for (const auto& [state, value] : assigned_) states.emplace(source(state), state);
  const auto copied = [&](BufferId buffer) {
    const BufferId copy =
        add_buffer(result_.plan.buffers[buffer.index()].type, BufferInfo::Role::intermediate);
    add_copy(buffer, copy, "copy of a state");
    return copy;
  };
  for (auto& [value, buffer] : result_.outputs)
    if (states.contains(buffer)) buffer = copied(buffer);
  for (auto& [state, buffer] : assigned_)
    if (states.contains(buffer) && buffer != source(state)) buffer = copied(buffer);
}

void Assembler::update_states() {
  std::set<BufferId> taken;
  std::vector<std::pair<BufferId, BufferId>> copies;
  for (const auto& [state, unused] : std::map<NodeId, BufferId>(assigned_)) {
    const BufferId old_buffer = source(state);
    const BufferId value = assigned_.at(state);
    if (value == old_buffer) continue;
    const bool intermediate = result_.plan.buffers[value.index()].role == BufferInfo::Role::intermediate;
    if (intermediate && taken.insert(value).second && make_in_place(old_buffer, value)) {
      taken.insert(old_buffer);
      continue;
    }
    copies.emplace_back(value, old_buffer);
  }
  for (const auto& [from, to] : copies) {
    const auto before = readers(to);
    const std::size_t copy = add_copy(from, to, "new value of a state");
    drafts_[copy].after.insert(drafts_[copy].after.end(), before.begin(), before.end());
    // If that is another state, which was written in place: its new elements, not the old ones.
    if (const std::size_t writer = producer(from); writer != nobody) drafts_[copy].after.push_back(writer);
  }
}

/// A scatter writes over what it starts from, if nobody else needs that any more; otherwise over a copy.
void Assembler::settle_bases() {
  for (std::size_t k = 0; k < drafts_.size(); ++k)
    for (std::size_t j = 0; j < drafts_[k].bases.size(); ++j) {
      if (!drafts_[k].bases[j]) continue;
      const BufferId base = *drafts_[k].bases[j];
      const BufferId output = drafts_[k].step.outputs[j];
      const bool kept = std::any_of(result_.outputs.begin(), result_.outputs.end(),
                                    [&](const auto& out) { return out.second == base; });
      const bool intermediate = result_.plan.buffers[base.index()].role == BufferInfo::Role::intermediate;
      if (intermediate && !kept && make_in_place(base, output)) continue;
      drafts_[k].bases[j].reset();
      const std::size_t copy = add_copy(base, output, "copy before a scatter");
      drafts_[k].after.push_back(copy);
      // Who writes over the base once this step has read it waits for the copy now.
      for (auto& draft : drafts_)
        if (std::find(draft.after.begin(), draft.after.end(), k) != draft.after.end() &&
            std::find(draft.step.outputs.begin(), draft.step.outputs.end(), base) != draft.step.outputs.end())
          draft.after.push_back(copy);
      drafts_[copy].is_static = drafts_[k].is_static;
    }
}

/// Smallest number first among those that wait for nothing.
std::vector<std::size_t> Assembler::ordered() const {
  const std::size_t count = drafts_.size();
  std::map<BufferId, std::vector<std::size_t>> writers;
  for (std::size_t k = 0; k < count; ++k)
    for (const auto output : drafts_[k].step.outputs) writers[output].push_back(k);
  std::vector<std::set<std::size_t>> waits(count);
  std::vector<std::vector<std::size_t>> next(count);
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto first : drafts_[k].after) waits[k].insert(first);
    for (const auto input : drafts_[k].step.inputs) {
      // Of an external buffer the old elements are read, unless an edge says otherwise.
      if (result_.plan.buffers[input.index()].role == BufferInfo::Role::external) continue;
      const auto found = writers.find(input);
      if (found == writers.end()) continue;
      // Written in place a second time: edges order those that read the first elements.
      if (found->second.size() == 1)
        waits[k].insert(found->second[0]);
      else
        for (const auto w : found->second)
          if (std::find(drafts_[w].after.begin(), drafts_[w].after.end(), k) == drafts_[w].after.end())
            waits[k].insert(w);
    }
    waits[k].erase(k);
  }
  std::vector<std::size_t> left(count);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t k = 0; k < count; ++k) {
    for (const auto first : waits[k]) next[first].push_back(k);
    left[k] = waits[k].size();
    if (left[k] == 0) ready.push(k);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t k = ready.top();
    ready.pop();
    order.push_back(k);
    for (const auto follower : next[k])
      if (--left[follower] == 0) ready.push(follower);
  }
  if (order.size() != count)
    throw InternalError("plan: steps wait for each other in a circle", print(result_.plan));
  return order;
}

Assembled Assembler::finish() {
  protect_old_states();
  update_states();
  settle_bases();
  for (const auto& [value, buffer] : result_.outputs) result_.plan.buffers[buffer.index()].is_output = true;
  for (const auto k : ordered()) {
    auto& steps = drafts_[k].is_static ? result_.plan.load_steps : result_.plan.steps;
    steps.push_back(std::move(drafts_[k].step));
  }
  return std::move(result_);
}

}  // namespace luminal
