#include "luminal/cli/bench_compile.h"

#include <chrono>
#include <iomanip>
#include <optional>
#include <sstream>

#include "luminal/cli/models.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

/// `sixteen`: what 16 layers took in the same process, if that is to be compared.
BenchRow measured(const std::string& name, int layers, std::optional<double> sixteen) {
  const Graph g = llama_decode(layers);
  const auto start = std::chrono::steady_clock::now();
  const Executable exe = compile(g, best_device(), {.tune_dims = {{"past", 1000}}, .cache = false});
  BenchRow row{.name = name};
  row.ours = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  row.more["kernels"] = static_cast<double>(exe.kernel_count());
  for (const auto& stage : exe.stages())
    if (stage.name == "saturate") row.more["saturate_us"] = stage.seconds * 1e6;
  std::ostringstream note;
  note << std::fixed << std::setprecision(3) << row.ours << " s, of which saturation "
       << row.more["saturate_us"] * 1e-6 << " s, " << exe.kernel_count() << " kernels";
  if (sixteen) note << "; " << std::setprecision(2) << row.ours / *sixteen << " of 16 layers, limit 1.2";
  if (layers == 16) note << "; limit 3 s";
  row.note = note.str();
  return row;
}

}  // namespace

int bench_compile(const BenchOptions& options, std::ostream& out) {
  std::vector<BenchEntry> entries;
  for (const int layers : {16, 32}) {
    const std::string name = cat("llama-3.2-1b ", layers, " layers");
    entries.push_back({name, [name, layers] {
                         if (layers == 16) return measured(name, layers, std::nullopt);
                         // Whoever comes first in a process waits for the C compiler's library, too.
                         measured("", 16, std::nullopt);
                         const double sixteen = measured("", 16, std::nullopt).ours;
                         return measured(name, layers, sixteen);
                       }});
  }
  return bench_entries(options, entries, out);
}

}  // namespace luminal::cli
