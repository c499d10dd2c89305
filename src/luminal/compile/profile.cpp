#include "luminal/compile/profile.h"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <sstream>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

std::size_t rank_of(double value) {
  return static_cast<std::size_t>(std::max(0.0, value));
}

}  // namespace

Profile profile(Executable& exe, const DimMap& dims, const search::MachineModel& ceilings, int runs) {
  if (runs < 1) throw Error(cat("profile: ", runs, " runs, expected at least one"));
  const runtime::Plan& plan = exe.plan();
  exe.run();
  exe.set_timing(true);
  std::vector<std::vector<double>> each(plan.steps.size());
  std::vector<double> whole;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    exe.run();
    whole.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    for (std::size_t k = 0; k < each.size(); ++k) each[k].push_back(exe.step_seconds()[k]);
  }
  exe.set_timing(false);
  Profile result;
  result.ceilings = ceilings;
  result.seconds = median(whole);
  search::Roofline roofline(ceilings);
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    const auto& step = plan.steps[k];
    StepProfile entry;
    entry.seconds = median(each[k]);
    entry.name = step.name;
    if (step.kernel) {
      const auto& kernel = plan.kernels[*step.kernel];
      entry.kernel = step.kernel;
      entry.name = cat("kernel ", *step.kernel, " ", kernel.family);
      if (const auto estimate = roofline.estimate(kernel.kernel, dims)) {
        entry.bytes = estimate->bytes;
        entry.operations = estimate->operations;
        entry.limit = ceilings.least_seconds(estimate->bytes, estimate->operations);
      }
    }
    result.steps.push_back(std::move(entry));
  }
  return result;
}

std::string Profile::text(std::size_t most) const {
  std::vector<StepProfile> sorted = steps;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StepProfile& a, const StepProfile& b) { return a.seconds > b.seconds; });
  double sum = 0;
  for (const auto& step : steps) sum += step.seconds;
  std::ostringstream out;
  out << std::fixed;
  out << std::left << std::setw(28) << "step" << std::right << std::setw(12) << "us" << std::setw(8)
      << "share" << std::setw(12) << "MB" << std::setw(12) << "GFLOP/s" << std::setw(10) << "GB/s"
      << std::setw(12) << "of limit" << '\n';
  for (std::size_t k = 0; k < sorted.size() && k < most; ++k) {
    const auto& step = sorted[k];
    const double taken = std::max(step.seconds, 1e-12);
    out << std::left << std::setw(28) << step.name << std::right << std::setprecision(1) << std::setw(12)
        << step.seconds * 1e6 << std::setw(7) << (sum > 0 ? step.seconds / sum * 100 : 0) << '%';
    if (step.kernel)
      out << std::setprecision(3) << std::setw(12) << step.bytes / 1e6 << std::setprecision(1)
          << std::setw(12) << step.operations / taken / 1e9 << std::setw(10) << step.bytes / taken / 1e9
          << std::setw(11) << step.limit / taken * 100 << '%';
    out << '\n';
  }
  if (sorted.size() > most) out << "… and " << sorted.size() - most << " more\n";
  out << "all " << steps.size() << " steps: " << std::setprecision(1) << sum * 1e6
      << " us; a run: " << seconds * 1e6 << " us\n";
  out << "ceilings: " << ceilings.bandwidth / 1e9 << " GB/s from memory, " << ceilings.middle_bandwidth / 1e9
      << " and " << ceilings.cache_bandwidth / 1e9 << " from caches, " << ceilings.contraction_rate / 1e9
      << " GFLOP/s\n";
  return out.str();
}

std::string Profile::trace() const {
  std::ostringstream out;
  out << std::setprecision(12) << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  double at = 0;
  bool first = true;
  for (const auto& step : steps) {
    out << (first ? "" : ",") << "\n{\"name\": " << in_quotes(step.name)
        << ", \"cat\": \"run\", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": " << at * 1e6
        << ", \"dur\": " << step.seconds * 1e6 << ", \"args\": {\"bytes\": " << rank_of(step.bytes)
        << ", \"operations\": " << rank_of(step.operations) << ", \"limit_us\": " << step.limit * 1e6 << "}}";
    at += step.seconds;
    first = false;
  }
  out << "\n]}\n";
  return out.str();
}

}  // namespace luminal
