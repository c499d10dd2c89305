#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/codegen/schedule.h"
#include "luminal/codegen/source.h"

namespace luminal::runtime {

/// A piece of a device's memory; freed with the object.
class Memory {
 public:
  virtual ~Memory() = default;
  /// As kernels see it; 64-byte aligned.
  virtual void* address() const = 0;
  virtual std::size_t bytes() const = 0;
};

/// A kernel that the device can run.
class Program {
 public:
  virtual ~Program() = default;
};

/// One run of a program.
struct Launch {
  const Program* program = nullptr;
  std::span<void* const> buffers;      // inputs, then outputs
  std::span<const std::int64_t> dims;  // in the order of `codegen::Source::dims`
  std::int64_t tasks = 0;
  std::size_t scratch_bytes = 0;   // that each running task needs
  std::int64_t* status = nullptr;  // four words; see `codegen::print_kernel`
};

/// All that a backend has to offer. Safe to use from several threads.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  virtual const codegen::Dialect& dialect() const = 0;
  virtual codegen::Machine machine() const = 0;
  /// Bytes that one executable may take at most.
  virtual std::size_t memory_limit() const = 0;

  /// `Error` if there is not as much.
  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Whether kernels can read the host's memory where it lies. Then nothing is uploaded that need not be.
  virtual bool shares_host_memory() const { return false; }
  virtual void upload(Memory& to, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const Memory& from, std::size_t offset) = 0;

  /// One program a source, in order. `Error` with the compiler's words if one is refused.
  virtual std::vector<std::unique_ptr<Program>> compile(std::span<const codegen::Source> sources) = 0;
  /// Runs to the end. `worst_scratch` was given to `reserve` before.
  virtual void run(const Launch& launch) = 0;
  /// Makes sure that launches with this much scratch allocate nothing.
  virtual void reserve(std::size_t scratch_bytes) = 0;
};

}  // namespace luminal::runtime
