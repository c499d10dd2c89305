#include "luminal/compile/alternatives.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace luminal {

void Alternatives::note(const Decisions& decisions) {
  for (const auto& [key, region] : decisions.regions) {
    for (const auto& [kernel, replaces] : region.others) others_[kernels_.of(kernel).key].insert(replaces);
    together_.insert(region.together.begin(), region.together.end());
  }
}

Uses Alternatives::beside(const Uses& plan, const std::map<std::string, double>& fresh, double least) const {
  Uses result;
  for (const auto& [key, replaced] : others_)
    if (kernels_.at(key).prior.seconds > least &&
        std::any_of(replaced.begin(), replaced.end(), [&](const auto& one) {
          return one.empty() || plan.contains(one) || fresh.contains(one);
        }))
      result.emplace(key, 1);
  return result;
}

void Alternatives::add_to(std::vector<Work>& works, const Uses& plan) const {
  for (const auto& [key, replaces] : others_) {
    TunedKernel& other = kernels_.at(key);
    if (other.first_seconds() <= 0 || plan.contains(key)) continue;
    const auto one = std::find_if(replaces.begin(), replaces.end(),
                                  [&](const std::string& replaced) { return plan.contains(replaced); });
    if (one != replaces.end()) add_other(works, plan, other, *one);
  }
  for (const auto& [key, parts] : together_) add_together(works, plan, key, parts);
}

void Alternatives::add_other(std::vector<Work>& works, const Uses& plan, TunedKernel& other,
                             const std::string& replaced) const {
  constexpr double far = 0.4;
  const TunedKernel& now = kernels_.at(replaced);
  const double hope = now.first_seconds() / other.first_seconds();
  if (hope > far)
    works.push_back({.kernel = &other,
                     .count = static_cast<double>(plan.at(replaced)),
                     .now = {&now},
                     .hope = std::min(1.0, hope)});
}

/// A kernel of several outputs in place of its parts, or these in place of it.
void Alternatives::add_together(std::vector<Work>& works, const Uses& plan, const std::string& key,
                                const std::vector<std::string>& parts) const {
  constexpr double far = 0.6;
  TunedKernel& whole = kernels_.at(key);
  double apart = 0;
  std::vector<const TunedKernel*> kernels;
  Uses times;  // parts may be equal
  for (const auto& part : parts) {
    kernels.push_back(&kernels_.at(part));
    if (kernels.back()->first_seconds() <= 0) return;
    apart += kernels.back()->first_seconds();
    ++times[part];
  }
  if (whole.first_seconds() <= 0) return;
  const double hope = apart / whole.first_seconds();
  // How often the parts could be one kernel.
  std::size_t together = std::numeric_limits<std::size_t>::max();
  bool any = false;
  for (const auto& [part, count] : times) {
    const auto used = plan.find(part);
    together = std::min(together, used != plan.end() ? used->second / count : 0);
    any = any || used != plan.end();
  }
  if (!plan.contains(key) && together > 0 && hope > far) {
    works.push_back({.kernel = &whole,
                     .count = static_cast<double>(together),
                     .now = std::move(kernels),
                     .hope = std::min(1.0, hope)});
  } else if (plan.contains(key) && !any && 1 / hope > far) {
    for (const auto& [part, count] : times)
      works.push_back({.kernel = &kernels_.at(part),
                       .count = static_cast<double>(plan.at(key) * count),
                       .now = {&whole},
                       .part = kernels_.at(part).first_seconds() / apart,
                       .hope = std::min(1.0, 1 / hope)});
  }
}

}  // namespace luminal
