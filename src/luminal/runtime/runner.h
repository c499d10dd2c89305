#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "luminal/runtime/device.h"
#include "luminal/runtime/plan.h"
#include "luminal/support/error.h"

namespace luminal::runtime {

/// Data named a place outside of its axis, which has `length` elements. A fused kernel knows no user's line.
class IndexError : public Error {
 public:
  IndexError(std::int64_t index, std::int64_t length);
  std::int64_t length() const { return length_; }

 private:
  std::int64_t length_;
};

/// Runs a plan on a device: owns the memory and the programs. Not for use from several threads at once;
/// several runners on one device are.
class Runner {
 public:
  /// Compiles the kernels, or takes them from the store. `Error` if one is refused.
  Runner(std::shared_ptr<Device> device, std::shared_ptr<const Plan> plan, BinaryStore* store = nullptr);

  const Plan& plan() const { return *plan_; }

  /// Gives an external buffer its elements. Where the device shares the host's memory they are read where
  /// they lie, so they must live until they are replaced; `owned` keeps them alive. With `writable` they are
  /// copied, since runs change them.
  void set(BufferId buffer, std::span<const std::byte> elements, std::shared_ptr<const void> owned,
           bool writable);
  /// Takes over what another runner's external buffer holds; both have it from then on.
  void adopt(BufferId buffer, const Runner& other, BufferId theirs);
  bool has(BufferId buffer) const { return external_[buffer.index()].set; }
  /// Reads a buffer's elements: of external ones at any time, of outputs after a run.
  void get(BufferId buffer, std::span<std::byte> elements) const;

  /// Fixes the dims for the runs that follow: checks, sizes, memory. `Error` if a check fails, or for more
  /// memory than the device has; then everything stays as it was.
  void prepare(const DimMap& dims);
  /// Computes what is made of weights alone, if they changed; otherwise the next run does.
  void load();
  /// Allocates nothing. `IndexError` if data names a place outside of its axis.
  void run();
  /// What runs take beside external buffers, and all in all; known after `prepare`.
  std::size_t arena_bytes() const { return memory_.arena; }
  std::size_t peak_bytes() const;

  /// Seconds that each step of the last run took; only while timing is on.
  void set_timing(bool on) { timing_ = on; }
  const std::vector<double>& step_seconds() const { return seconds_; }

 private:
  struct External {
    bool set = false;
    std::shared_ptr<const void> owner;
    void* address = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<Memory> memory;
    std::uint64_t changes = 0;  // how often it was set
  };
  struct Ready {
    const Step* step = nullptr;
    std::vector<void*> buffers;
    std::vector<std::int64_t> dims;
    std::int64_t tasks = 0;
    std::size_t scratch = 0;
    std::vector<std::span<const std::byte>> host_inputs;
    std::vector<std::span<std::byte>> host_outputs;
  };
  void* address_of(BufferId buffer) const;
  Ready made_ready(const Step& step, const DimMap& dims) const;
  void refresh_addresses();
  void changed(BufferId buffer);
  void run_step(Ready& ready);
  void check_status(const Step& step) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<const Plan> plan_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<External> external_;  // by buffer: external and loaded ones
  std::unique_ptr<Memory> arena_;
  std::vector<std::unique_ptr<Memory>> apart_;  // by buffer: intermediates of a device that guards buffers
  MemoryPlan memory_;
  DimMap dims_;
  bool prepared_ = false;
  bool addresses_stale_ = true;
  bool weights_stale_ = true;
  std::vector<Ready> load_;
  std::vector<Ready> ready_;
  mutable std::int64_t status_[4] = {0, 0, 0, 0};
  bool timing_ = false;
  std::vector<double> seconds_;
};

}  // namespace luminal::runtime
