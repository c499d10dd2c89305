#pragma once
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "luminal/compile/options.h"
#include "luminal/rewrite/encode.h"
#include "luminal/rewrite/lower.h"
#include "luminal/search/map.h"

namespace luminal {

/// A region's kernels: compiled once, used wherever an equal region stands.
struct CompiledRegion {
  struct Source {
    std::optional<std::size_t> source;  // the region's source with this number
    std::optional<std::size_t> kernel;  // or output `output` of kernel `kernel`
    std::size_t output = 0;
  };
  struct RegionKernel {
    rewriting::Lowered lowered;
    std::vector<Source> inputs;
    std::vector<std::optional<Source>> bases;  // by output: what it holds before
    bool is_static = false;
    std::string family;
    double seconds = 0;
  };
  std::vector<RegionKernel> kernels;  // in order
  std::vector<Source> wanted;
  /// What could stand in place of its kernels: those with several outputs one by one, those that would read
  /// what others compute anyway, where they compute it again, and those that would read weights in another
  /// layout. Measuring tells which is better.
  struct Other {
    kernel::Kernel kernel;
    std::string replaces = {};  // the key of the kernel whose place it could take alone
  };
  std::vector<Other> others;
  /// Kernels of several outputs, in the plan or not, and those that have one of these each: by their keys.
  std::map<std::string, std::vector<std::string>> together = {};
  /// What was mapped, as terms of the region that was.
  std::vector<rewriting::BodyRef> bodies = {};
  // What saturation and mapping did, for reports.
  std::size_t classes = 0;
  std::size_t terms = 0;
  std::size_t evaluated = 0;
  bool saturated = true;
  // If someone looks: bodies that were not taken, and the rules that led to those that were.
  std::string rejected;
  std::string derivation;
};

/// Bodies by the kernel that computes them.
using BodyGroups = std::vector<std::vector<rewriting::BodyRef>>;

/// A region after saturation: all ways to write what it computes.
class SaturatedRegion {
 public:
  SaturatedRegion(const Dag& dag, const rewriting::Region& region, const CompileOptions& options,
                  std::vector<StageReport>& reports);

  /// Maps and lowers for these dims, which may come to the `largest`. With `weigh_others` kernels of several
  /// outputs are taken apart, and weights are stored in another layout when they are set, where the oracle
  /// says that this is faster. `from`: what was mapped before, to be improved.
  CompiledRegion map(const CompileOptions& options, search::CostOracle& oracle, const DimMap& dims,
                     const DimMap& largest, std::vector<StageReport>& reports, bool weigh_others = false,
                     const CompiledRegion* from = nullptr);

 private:
  BodyGroups weighed(const BodyGroups& groups, search::CostOracle& oracle, const DimMap& dims,
                     CompiledRegion& result);

  rewriting::Language language_;
  rewriting::Terms terms_;
  search::LoweredBodies lowered_;
  std::set<search::Together> weighed_;  // that were weighed until now
  std::size_t term_count_ = 0;
  bool saturated_ = true;
};

/// A text that is equal for regions that differ in nothing but which nodes they are.
std::string region_key(const Dag& dag, const rewriting::Region& region);

/// Adds to the report of that name.
void report(std::vector<StageReport>& reports, const std::string& name, double seconds,
            const std::string& detail = "");

}  // namespace luminal
