#include "luminal/runtime/runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "luminal/support/text.h"

namespace luminal::runtime {

IndexError::IndexError(std::int64_t index, std::int64_t length)
    : Error(cat("gather or scatter: index ", index, " is outside of an axis that has ", length, " elements")),
      length_(length) {}

Runner::Runner(std::shared_ptr<Device> device, std::shared_ptr<const Plan> plan, BinaryStore* store)
    : device_(std::move(device)), plan_(std::move(plan)) {
  std::vector<codegen::Source> sources;
  for (const auto& kernel : plan_->kernels) sources.push_back(kernel.source);
  programs_ = device_->compile(sources, store);
  external_.resize(plan_->buffers.size());
}

void Runner::set(BufferId buffer, std::span<const std::byte> elements, std::shared_ptr<const void> owned,
                 bool writable) {
  External& external = external_[buffer.index()];
  if (device_->shares_host_memory() && !device_->guards_buffers() && !writable) {
    external.address = const_cast<std::byte*>(elements.data());  // kernels only read it
    external.owner = std::move(owned);
    external.memory.reset();
  } else {
    if (!external.memory || external.memory->bytes() < elements.size())
      external.memory = device_->allocate(elements.size());
    device_->upload(*external.memory, 0, elements);
    external.address = external.memory->address();
    external.owner.reset();
  }
  external.bytes = elements.size();
  external.set = true;
  ++external.changes;
  changed(buffer);
}

void Runner::changed(BufferId buffer) {
  addresses_stale_ = true;
  for (const auto& step : plan_->load_steps)
    if (std::find(step.inputs.begin(), step.inputs.end(), buffer) != step.inputs.end()) weights_stale_ = true;
}

void Runner::adopt(BufferId buffer, const Runner& other, BufferId theirs) {
  External& mine = external_[buffer.index()];
  const External& given = other.external_[theirs.index()];
  const bool same = mine.set && mine.address == given.address && mine.changes == given.changes;
  mine = given;
  if (!same) changed(buffer);
}

void Runner::get(BufferId buffer, std::span<std::byte> elements) const {
  const BufferInfo& info = plan_->buffers[buffer.index()];
  if (info.role == BufferInfo::Role::intermediate) {
    if (!prepared_) throw Error(cat("get: nothing has run yet"));
    if (device_->guards_buffers())
      device_->download(elements, *apart_[buffer.index()], 0);
    else
      device_->download(elements, *arena_, memory_.offsets[buffer.index()]);
    return;
  }
  const External& external = external_[buffer.index()];
  if (external.memory)
    device_->download(elements, *external.memory, 0);
  else
    std::copy_n(static_cast<const std::byte*>(external.address), elements.size(), elements.begin());
}

void* Runner::address_of(BufferId buffer) const {
  if (plan_->buffers[buffer.index()].role == BufferInfo::Role::intermediate) {
    if (device_->guards_buffers()) return apart_[buffer.index()]->address();
    return static_cast<std::byte*>(arena_->address()) + memory_.offsets[buffer.index()];
  }
  return external_[buffer.index()].address;
}

std::size_t Runner::peak_bytes() const {
  std::size_t sum = memory_.arena;
  for (std::size_t k = 0; k < plan_->buffers.size(); ++k)
    if (plan_->buffers[k].role != BufferInfo::Role::intermediate)
      sum += memory_.bytes.empty() ? 0 : memory_.bytes[k];
  return sum;
}

Runner::Ready Runner::made_ready(const Step& step, const DimMap& dims) const {
  Ready ready;
  ready.step = &step;
  ready.buffers.resize(step.inputs.size() + step.outputs.size());
  if (!step.kernel) return ready;
  const codegen::Source& source = plan_->kernels[*step.kernel].source;
  for (const auto& name : source.dims) ready.dims.push_back(dims.at(name));
  ready.tasks = source.tasks.eval(dims);
  if (ready.tasks < 0)
    throw Error(cat(plan_->kernels[*step.kernel].family, ": its grid has ", ready.tasks, " tasks"),
                step.where);
  ready.scratch = static_cast<std::size_t>(std::max<std::int64_t>(0, source.scratch_bytes.eval(dims)));
  return ready;
}

void Runner::prepare(const DimMap& dims) {
  if (prepared_ && dims == dims_) return;
  for (const auto& name : plan_->dims)
    if (!dims.contains(name))
      throw Error(cat("run: the dim '", name, "' has no value; set it, or set an input that has it"));
  for (const auto& check : plan_->checks)
    if (check.holds.eval(dims) == 0) {
      std::string with;
      for (const auto& [name, value] : dims) with += cat(with.empty() ? " (with " : ", ", name, " = ", value);
      throw Error(cat(check.problem, with.empty() ? "" : with + ")"), check.where);
    }
  MemoryPlan memory = plan_memory(*plan_, dims);
  std::size_t all = memory.arena;
  for (std::size_t k = 0; k < plan_->buffers.size(); ++k)
    if (plan_->buffers[k].role != BufferInfo::Role::intermediate) all += memory.bytes[k];
  if (all > device_->memory_limit())
    throw Error(
        cat("run: needs ", all, " bytes of memory, and ", device_->name(), " has ", device_->memory_limit()));
  std::vector<Ready> load;
  std::vector<Ready> ready;
  for (const auto& step : plan_->load_steps) load.push_back(made_ready(step, dims));
  for (const auto& step : plan_->steps) ready.push_back(made_ready(step, dims));
  std::size_t scratch = 0;
  for (const auto* list : {&load, &ready})
    for (const auto& r : *list) scratch = std::max(scratch, r.scratch);
  device_->reserve(scratch);
  if (device_->guards_buffers()) {
    std::vector<std::unique_ptr<Memory>> apart(plan_->buffers.size());
    for (std::size_t k = 0; k < apart.size(); ++k)
      if (plan_->buffers[k].role == BufferInfo::Role::intermediate)
        apart[k] = device_->allocate(memory.bytes[k]);
    apart_ = std::move(apart);
  } else if (!arena_ || arena_->bytes() < memory.arena) {
    arena_ = device_->allocate(std::max<std::size_t>(memory.arena, 64));
  }
  // From here on nothing fails.
  memory_ = std::move(memory);
  load_ = std::move(load);
  ready_ = std::move(ready);
  for (std::size_t k = 0; k < plan_->buffers.size(); ++k) {
    if (plan_->buffers[k].role != BufferInfo::Role::loaded) continue;
    External& external = external_[k];
    if (!external.memory || external.memory->bytes() < memory_.bytes[k]) {
      external.memory = device_->allocate(std::max<std::size_t>(memory_.bytes[k], 1));
      external.address = external.memory->address();
      external.bytes = memory_.bytes[k];
      weights_stale_ = true;
    }
  }
  seconds_.assign(plan_->steps.size(), 0);
  dims_ = dims;
  prepared_ = true;
  addresses_stale_ = true;
}

void Runner::refresh_addresses() {
  for (auto* list : {&load_, &ready_})
    for (auto& ready : *list) {
      std::size_t at = 0;
      for (const auto* ids : {&ready.step->inputs, &ready.step->outputs})
        for (const auto id : *ids) ready.buffers[at++] = address_of(id);
      if (!ready.step->host) continue;
      ready.host_inputs.clear();
      ready.host_outputs.clear();
      for (std::size_t k = 0; k < ready.step->inputs.size(); ++k)
        ready.host_inputs.emplace_back(static_cast<const std::byte*>(ready.buffers[k]),
                                       memory_.bytes[ready.step->inputs[k].index()]);
      for (std::size_t k = 0; k < ready.step->outputs.size(); ++k)
        ready.host_outputs.emplace_back(static_cast<std::byte*>(ready.buffers[ready.step->inputs.size() + k]),
                                        memory_.bytes[ready.step->outputs[k].index()]);
    }
  addresses_stale_ = false;
}

void Runner::run_step(Ready& ready) {
  if (ready.step->is_copy()) {
    device_->copy(ready.buffers[1], ready.buffers[0], memory_.bytes[ready.step->inputs[0].index()]);
    return;
  }
  if (!ready.step->kernel) {
    if (!device_->shares_host_memory())
      throw Error(
          cat(ready.step->name, ": runs on the host, and ", device_->name(), " does not share its memory"));
    ready.step->host({ready.host_inputs, ready.host_outputs, dims_});
    return;
  }
  if (ready.tasks == 0) return;
  device_->run(
      {programs_[*ready.step->kernel].get(), ready.buffers, ready.dims, ready.tasks, ready.scratch, status_});
  if (status_[0] != 0) check_status(*ready.step);
}

void Runner::check_status(const Step& step) const {
  const std::int64_t reported = std::exchange(status_[0], 0);
  if (const auto& kernel = plan_->kernels[*step.kernel]; kernel.is_given)
    throw Error(cat(kernel.family, ": its kernel reported ", reported), step.where);
  throw IndexError(status_[2], status_[3]);
}

void Runner::load() {
  ensure(prepared_, "prepare comes before run");
  if (addresses_stale_) refresh_addresses();
  if (!weights_stale_) return;
  for (auto& ready : load_) run_step(ready);
  weights_stale_ = false;
}

void Runner::run() {
  load();
  for (std::size_t k = 0; k < ready_.size(); ++k) {
    if (!timing_) {
      run_step(ready_[k]);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    run_step(ready_[k]);
    seconds_[k] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
}

}  // namespace luminal::runtime
