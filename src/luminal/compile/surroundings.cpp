#include "luminal/compile/surroundings.h"

#include <algorithm>

#include "luminal/compile/ceilings.h"

namespace luminal {

Surroundings::Surroundings(runtime::Device& device, std::size_t bytes)
    : device_(device), workers_(device.machine().workers) {
  constexpr std::size_t unit = std::size_t{1} << 16;
  constexpr std::size_t most = std::size_t{1} << 26;  // more than caches hold
  const auto workers = static_cast<std::size_t>(workers_);
  little_ = workers * static_cast<std::size_t>(device.machine().l2_bytes);
  const std::size_t part = (std::min(bytes, most) / workers + unit - 1) / unit * unit;
  others_ = device.allocate(part * workers);
  sums_ = device.allocate(unit * workers);
  const std::vector<std::byte> zeros(unit);
  for (std::size_t at = 0; at < part * workers; at += unit) device.upload(*others_, at, zeros);
  for (std::size_t at = 0; at < unit * workers; at += unit) device.upload(*sums_, at, zeros);
  const codegen::Source sources[] = {reading_program(device, part, 1), rewriting_program(device)};
  programs_ = device.compile(sources, nullptr);
}

void Surroundings::run(const runtime::Program& program, void* memory, std::int64_t words) const {
  void* const buffers[] = {memory, sums_->address()};
  const std::int64_t dims[] = {words / workers_ + 1, words};
  std::int64_t status[4] = {0, 0, 0, 0};
  device_.run({&program, buffers, dims, workers_, 0, status});
}

void Surroundings::restore(std::span<const std::span<const std::byte>> inputs) const {
  run(*programs_[0], others_->address(), 0);
  if (!device_.shares_host_memory()) return;  // they lie elsewhere, and in a cache that is one for all workers
  for (const auto& input : inputs)
    if (input.size() <= little_)
      run(*programs_[1], const_cast<std::byte*>(input.data()),
          static_cast<std::int64_t>(input.size() / sizeof(std::uint64_t)));
}

}  // namespace luminal
