#pragma once
#include <map>
#include <string>
#include <vector>

#include "luminal/compile/kernel_table.h"
#include "luminal/compile/outlook.h"
#include "luminal/compile/work.h"

namespace luminal {

/// Kernels that could stand in place of others, as mappings have shown: those that read what is there where
/// another one computes it again, other layouts, and kernels of several outputs in place of those that have
/// one each, or the other way round.
class Alternatives {
 public:
  explicit Alternatives(KernelTable& kernels) : kernels_(kernels) {}

  void note(const Decisions& decisions);
  /// Alone of which kernels, "" if with more of their kind.
  const Others& others() const { return others_; }
  /// Those that may matter beside the kernels of a plan and the `fresh` ones, which may take `least` seconds
  /// or more.
  Uses beside(const Uses& plan, const std::map<std::string, double>& fresh, double least) const;
  /// Adds to the works of a plan those in place of its kernels that are not far behind before either is
  /// tuned.
  void add_to(std::vector<Work>& works, const Uses& plan) const;

 private:
  void add_other(std::vector<Work>& works, const Uses& plan, TunedKernel& other,
                 const std::string& replaced) const;
  void add_together(std::vector<Work>& works, const Uses& plan, const std::string& key,
                    const std::vector<std::string>& parts) const;

  KernelTable& kernels_;
  Others others_;
  std::map<std::string, std::vector<std::string>> together_;  // of several outputs, and those of one each
};

}  // namespace luminal
