#pragma once
#include <optional>
#include <string_view>

#include "luminal/kernel/kernel.h"

namespace luminal::search {

/// What a machine can do at best: the prior that measurements refine.
struct MachineModel {
  double bandwidth = 2.0e10;         // bytes a second, from memory
  double contraction_rate = 2.4e11;  // floating-point operations a second in register-tiled sums of products
  double vector_rate = 4.0e10;       // element-wise operations a second
  double launch = 3e-6;              // seconds to start a kernel
  double workers = 2;                // blocks that must exist to use the whole machine
  double on_chip = 65536;            // elements that one block can keep close
  double shared_cache = 4e6;         // bytes that stay close to all blocks
  double cache_bandwidth = 2.0e11;   // bytes a second, of what the workers' own caches hold
  double middle_bandwidth = 4.0e10;  // and of 16 MB, which a cache between them and memory may hold

  /// The least time for this: what was read a run ago may come from a cache.
  double least_seconds(double bytes, double operations) const;
};

/// The families of kernels, by structure. They name schedules; legality never depends on them.
enum class Family : std::uint8_t { map, reduce, row, contract, attend, scatter, scan };
inline constexpr std::size_t family_count = static_cast<std::size_t>(Family::scan) + 1;
std::string_view name(Family family);

struct Estimate {
  double seconds = 0;
  /// As if what it computes were used where it is made.
  double without_write = 0;
  double bytes = 0;
  double operations = 0;
  Family family = Family::map;
};

/// What an element-wise op takes, in additions.
double operation_weight(Op op);

/// What a kernel costs. Implementations may estimate or measure.
class CostOracle {
 public:
  virtual ~CostOracle() = default;
  /// `dims` are values for the named dims, typical ones. None: the kernel cannot run on this machine.
  virtual std::optional<Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) = 0;
  /// The same by a kernel's hash, for those that keep what they were asked before; nothing if it is not kept.
  virtual std::optional<std::optional<Estimate>> recall(std::uint64_t) { return std::nullopt; }
};

/// The roofline: memory traffic against arithmetic, with what is computed again counted as often.
class Roofline : public CostOracle {
 public:
  explicit Roofline(const MachineModel& machine = {}) : machine_(machine) {}
  std::optional<Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override;

 private:
  MachineModel machine_;
};

}  // namespace luminal::search
