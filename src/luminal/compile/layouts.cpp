#include "luminal/compile/layouts.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "luminal/kernel/layout.h"

namespace luminal {
namespace {

class Layouts {
 public:
  Layouts(CompiledRegion& region, const std::set<std::size_t>& weights, search::CostOracle& oracle,
          const DimMap& dims)
      : region_(region), weights_(weights), oracle_(oracle), dims_(dims) {}

  void choose() {
    for (auto& kernel : std::exchange(region_.kernels, {})) {
      for (auto& place : kernel.inputs) place = moved(place);
      for (auto& base : kernel.bases)
        if (base) base = moved(*base);
      if (!kernel.is_static)
        for (std::uint32_t input = 0; input < kernel.inputs.size(); ++input) weigh(kernel, input);
      numbers_.push_back(region_.kernels.size());
      region_.kernels.push_back(std::move(kernel));
    }
    for (auto& place : region_.wanted) place = moved(place);
  }

 private:
  using Place = CompiledRegion::Source;

  Place moved(Place place) const {
    if (place.kernel) place.kernel = numbers_[*place.kernel];
    return place;
  }

  void weigh(CompiledRegion::RegionKernel& kernel, std::uint32_t input) {
    const Place from = kernel.inputs[input];
    if (from.source ? !weights_.contains(*from.source) : !region_.kernels[*from.kernel].is_static) return;
    const auto order = kernel::better_order(kernel.lowered.kernel, input);
    if (!order) return;
    kernel::Kernel other = kernel::reordered(kernel.lowered.kernel, input, *order);
    const auto estimate = oracle_.estimate(other, dims_);
    region_.others.push_back({other, kernel::key(kernel.lowered.kernel)});
    constexpr double rounding = 1 + 1e-9;  // the kernel's price may be the other one's
    if (!estimate || estimate->seconds > rounding * other_layout_share * kernel.seconds) return;
    kernel.inputs[input] = stored(from, kernel.lowered.kernel.inputs()[input], *order);
    kernel.lowered.kernel = std::move(other);
    kernel.seconds = estimate->seconds;
  }

  /// Where the weights are in that order: once for all kernels that read them so.
  Place stored(const Place& from, const kernel::ArrayType& type, const kernel::AxisOrder& order) {
    const auto [found, fresh] = stored_.try_emplace(
        {from.source.value_or(0), from.kernel ? *from.kernel + 1 : 0, from.output, order}, Place{});
    if (fresh) {
      CompiledRegion::RegionKernel copy;
      copy.lowered.kernel = kernel::reordering(type, order);
      copy.inputs = {from};
      copy.bases = {std::nullopt};
      copy.is_static = true;
      copy.family = search::name(search::Family::map);
      found->second = {std::nullopt, region_.kernels.size(), 0};
      region_.kernels.push_back(std::move(copy));
    }
    return found->second;
  }

  CompiledRegion& region_;
  const std::set<std::size_t>& weights_;
  search::CostOracle& oracle_;
  const DimMap& dims_;
  std::vector<std::size_t> numbers_;  // by the number that a kernel had
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, kernel::AxisOrder>, Place> stored_;
};

}  // namespace

void choose_layouts(CompiledRegion& region, const std::set<std::size_t>& weights, search::CostOracle& oracle,
                    const DimMap& dims) {
  Layouts(region, weights, oracle, dims).choose();
}

}  // namespace luminal
