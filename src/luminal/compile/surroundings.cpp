#include "luminal/compile/surroundings.h"

#include <algorithm>

#include "luminal/compile/ceilings.h"

namespace luminal {
namespace {

constexpr std::size_t unit = 4096;

/// Reading so much leaves nothing in the caches of what was there.
std::size_t enough(const codegen::Machine& machine) {
  constexpr std::int64_t least = 8 << 20;
  constexpr std::int64_t most = 64 << 20;  // what takes longer to read costs more than it tells
  const std::int64_t caches = machine.l3_bytes + machine.workers * machine.l2_bytes;
  return static_cast<std::size_t>(std::clamp(caches + caches / 4, least, most));
}

std::unique_ptr<runtime::Memory> zeros(runtime::Device& device, std::size_t bytes) {
  auto memory = device.allocate(std::max(unit, bytes));
  const std::vector<std::byte> piece(unit);
  for (std::size_t at = 0; at < bytes; at += unit) device.upload(*memory, at, piece);
  return memory;
}

}  // namespace

Surroundings::Surroundings(runtime::Device& device, std::size_t bytes)
    : device_(device), workers_(device.machine().workers) {
  const auto workers = static_cast<std::size_t>(workers_);
  little_ = workers * static_cast<std::size_t>(device.machine().l2_bytes);
  const std::size_t part = (std::min(bytes, enough(device.machine())) / workers + unit - 1) / unit * unit;
  others_ = zeros(device, part * workers);
  sums_ = zeros(device, unit * workers);
  nothing_ = zeros(device, unit);
  const codegen::Source sources[] = {reading_program(device, part, 1), rewriting_program(device)};
  programs_ = device.compile(sources, nullptr);
}

void Surroundings::run(std::size_t program, void* first, void* second, std::size_t words) const {
  void* const buffers[] = {first, second};
  const auto all = static_cast<std::int64_t>(words);
  const std::int64_t dims[] = {all / workers_ + 1, all};
  std::int64_t status[4] = {0, 0, 0, 0};
  device_.run({programs_[program].get(), buffers, dims, workers_, 0, status});
}

void Surroundings::restore(std::span<const std::span<const std::byte>> inputs) const {
  run(0, others_->address(), sums_->address(), 0);
  // Elsewhere kernels read copies, and GPUs have one cache for all workers.
  if (!device_.shares_host_memory() || device_.guards_buffers()) return;
  for (const auto& input : inputs)
    if (input.size() <= little_)
      run(1, const_cast<std::byte*>(input.data()), nothing_->address(), input.size() / sizeof(std::uint64_t));
}

}  // namespace luminal
