#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "luminal/compile/forecast.h"
#include "luminal/compile/kernel_timer.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What kernels should take once they are tuned: what was measured, else what others of their family gained.
/// So a kernel that nobody tuned yet is not behind one that somebody did.
class Outlook {
 public:
  /// What is thought of kernels that nobody tuned.
  struct Mood {
    double doubt = 1;  // how much longer than promised those took that were never timed before
    double luck =
        0;  // by how many deviations these take longer than the forecast says: below 0 they are tried
    double left = 1;  // what tuning leaves, by what it left of others: below 1 they are tried, too
  };
  /// `forecast`: of kernels that were never timed; 0: what the roofline says.
  Outlook(const std::map<std::string, TunedKernel>& kernels, const Forecast* forecast, const Mood& mood);
  explicit Outlook(const std::map<std::string, TunedKernel>& kernels) : Outlook(kernels, nullptr, {}) {}

  double seconds(const TunedKernel& kernel) const;
  /// Of one that was never timed; with luck of its own, if there is one.
  double seconds(const search::Estimate& prior, const Traits& traits,
                 std::optional<double> luck = std::nullopt) const;

 private:
  /// What kernels of a kind take, by what one thought they would.
  template <typename K>
  struct Ratios {
    std::map<K, double> of_kind;
    double of_all = 1;
    double of(const K& kind, double otherwise) const {
      const auto found = of_kind.find(kind);
      return found != of_kind.end() ? found->second : otherwise;
    }
    double of(const K& kind) const { return of(kind, of_all); }
  };
  /// By kind: what one thought that kernels would take, and what they took.
  template <typename K>
  using Pairs = std::map<K, std::vector<std::pair<double, double>>>;
  template <typename K>
  static Ratios<K> weighted(const Pairs<K>& pairs);

  /// Whether the usual schedule is one of tiles, and whether more than that one was tried at first: there is
  /// less to be gained then.
  using Kind = std::tuple<search::Family, bool, bool>;

  Ratios<search::Family> tuned_;  // the best schedule, by the usual one
  Ratios<Kind> tuned_of_kind_;    // by what was tried at first
  const Forecast* forecast_;
  Mood mood_;
};

/// Learns what kernels took that were timed.
void learn(Forecast& forecast, const std::map<std::string, TunedKernel>& kernels);

/// What is known of a kernel that was never timed, and does not change while a search learns. No estimate: it
/// cannot run on this machine.
struct Prior {
  std::optional<search::Estimate> estimate;
  Traits traits = {};
};
/// By the kernels' hashes.
using Priors = std::unordered_map<std::uint64_t, Prior>;

/// Kernels that could stand in place of another one, or with more of their kind: of which, "" if not alone.
/// By their keys.
using Others = std::map<std::string, std::set<std::string>>;

/// Prices by the outlook: the roofline's estimates, scaled. A kernel costs no more than one that could stand
/// in its place (somewhere: where what it reads is no weight, the plan's own sum tells).
class MeasuredOracle : public search::CostOracle {
 public:
  /// What makes other plans the best, some of which turn out better than anybody promised.
  struct Detour {
    /// What was never timed is thrown for, as far as promises fail, the same way whenever it is asked.
    std::optional<std::uint64_t> dice;
    /// The key of a kernel that costs twice what it does.
    std::string avoided;
  };
  MeasuredOracle(const search::MachineModel& machine, const std::map<std::string, TunedKernel>& kernels,
                 const Others& others, const Outlook& outlook, Priors& priors, const Detour& detour);
  std::optional<search::Estimate> estimate(const kernel::Kernel& kernel, const DimMap& dims) override;
  std::optional<std::optional<search::Estimate>> recall(std::uint64_t hash) override;

 private:
  std::optional<search::Estimate> scaled(std::uint64_t hash, const Prior& prior) const;

  /// Of a kernel that was never timed, if there are dice.
  std::optional<double> luck(std::uint64_t hash) const;

  search::MachineModel machine_;
  search::Roofline roofline_;
  std::unordered_map<std::uint64_t, const TunedKernel*> kernels_;  // by their hashes
  std::unordered_map<std::uint64_t, double> others_;               // what the best in a kernel's place takes
  const Outlook& outlook_;
  Priors& priors_;
  std::optional<std::uint64_t> dice_;
  std::optional<std::uint64_t> avoided_;  // its hash
};

}  // namespace luminal
