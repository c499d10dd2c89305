#include "luminal/compile/search_report.h"

#include "luminal/codegen/schedule_text.h"
#include "luminal/compile/kernel_timer.h"
#include "luminal/support/text.h"

namespace luminal {

SearchReport::Kernel report_of(const TunedKernel& kernel, const search::MachineModel& ceilings,
                               std::optional<std::size_t> runs, const codegen::Schedule& taken) {
  SearchReport::Kernel entry{.key = kernel.key,
                             .family = std::string(search::name(kernel.prior.family)),
                             .estimated = kernel.prior.seconds,
                             .limit = ceilings.least_seconds(kernel.prior.bytes, kernel.prior.operations),
                             .runs = runs.value_or(0),
                             .candidates = {}};
  const std::string chosen = codegen::text(taken);
  for (const auto& candidate : kernel.candidates) {
    const std::string text = codegen::text(candidate.schedule);
    entry.candidates.push_back({text, candidate.timing, runs && text == chosen});
  }
  return entry;
}

void tell_failures(const SearchReport& report, const Sink& sink) {
  if (!sink) return;
  for (const auto& kernel : report.kernels)
    for (const auto& candidate : kernel.candidates)
      if (candidate.timing.outcome != Timing::Outcome::timed)
        sink(cat("search: a candidate of a ", kernel.family, " kernel was ", name(candidate.timing.outcome),
                 ": ", candidate.timing.problem, " (", candidate.schedule, ")"));
}

}  // namespace luminal
