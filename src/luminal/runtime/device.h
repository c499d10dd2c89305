#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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

/// Where binaries are kept between processes. Keys and contents are any bytes; `get` gives what was put under
/// exactly this key, or nothing. Safe to use from several threads.
class BinaryStore {
 public:
  virtual ~BinaryStore() = default;
  virtual std::optional<std::string> get(const std::string& key) = 0;
  virtual void put(const std::string& key, const std::string& content) = 0;
};

/// All that a backend has to offer. Safe to use from several threads.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// All that a binary, or a time measured here, depends on: the machine's kind, its driver, the compiler.
  /// Equal on machines of one kind.
  virtual std::string fingerprint() const = 0;
  virtual const codegen::Dialect& dialect() const = 0;
  virtual codegen::Machine machine() const = 0;
  /// Bytes that one executable may take at most.
  virtual std::size_t memory_limit() const = 0;

  /// `Error` if there is not as much.
  virtual std::unique_ptr<Memory> allocate(std::size_t bytes) = 0;
  /// Whether kernels can read the host's memory where it lies. Then nothing is uploaded that need not be.
  virtual bool shares_host_memory() const { return false; }
  /// Whether kernels run on the processors that compilers run on. Then nothing is compiled while kernels are
  /// timed: both would take longer, and the times would tell nothing.
  virtual bool shares_host_processors() const { return false; }
  /// Whether what `allocate` gives begins or ends where memory that can be touched does. Then each buffer has
  /// memory of its own, so that a kernel that leaves one there is found.
  virtual bool guards_buffers() const { return false; }
  virtual void upload(Memory& to, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void download(std::span<std::byte> to, const Memory& from, std::size_t offset) = 0;
  /// Within its memory; addresses as kernels see them, ranges that do not overlap.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;

  /// One program a source, in order. `Error` with the compiler's words if one is refused. With a store, what
  /// it has is not compiled again, and what it lacks is put there.
  virtual std::vector<std::unique_ptr<Program>> compile(std::span<const codegen::Source> sources,
                                                        BinaryStore* store) = 0;
  /// To be called first thing in a child that `fork` made: brings back what a fork loses, such as threads.
  /// False: programs cannot run in a child, so a candidate that crashes takes the process with it.
  virtual bool restart_in_child() { return false; }
  /// Called before something is timed, as often as one likes: brings back what makes programs fast, where
  /// that can be had soon. A hypervisor may have moved the workers apart, say, and two programs that are to
  /// be compared are to find the same machine.
  virtual void settle() {}
  /// Runs to the end. `worst_scratch` was given to `reserve` before.
  virtual void run(const Launch& launch) = 0;
  /// Makes sure that launches with this much scratch allocate nothing.
  virtual void reserve(std::size_t scratch_bytes) = 0;
};

}  // namespace luminal::runtime
