#include "luminal/cli/profile.h"

#include <iomanip>
#include <iostream>
#include <memory>

#include "luminal/cli/graph_file.h"
#include "luminal/cli/models.h"
#include "luminal/cli/search_options.h"
#include "luminal/compile/cache.h"
#include "luminal/compile/ceilings.h"
#include "luminal/compile/profile.h"
#include "luminal/luminal.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct ProfileOptions {
  std::string file;
  std::string trace;
  int runs = 5;
  SearchOptions search;
};

/// Dims of inputs that nobody gave a value take the one they are tuned for.
void bind_dims(Graph& graph, const DimMap& given) {
  for (const auto& [name, variable] : graph.dag().variables()) {
    if (const auto found = given.find(name); found != given.end())
      graph.set_dim(name, found->second);
    else if (!graph.dims().contains(name))
      throw Error(cat("profile: the dim '", name, "' has no value; give one with --dim ", name, "=NUMBER"));
  }
}

void run_profile(const ProfileOptions& given) {
  const OutputFile trace(given.trace, "profile");
  Graph graph = load_graph(given.file, "profile");
  CompileSession session(given.search, "profile");
  bind_dims(graph, session.options().tune_dims);
  fill(graph);
  Executable exe = compile(graph, session.device(), session.options());
  session.finish(exe);
  const Profile measured = profile(exe, graph.dims(), measure_ceilings(*session.device()), given.runs);
  std::cout << measured.text();
  trace.write(measured.trace());
}

void list_devices(bool json) {
  bool first = true;
  if (json) std::cout << "[";
  for (const auto& name : device_names()) {
    const auto there = device(name);
    const search::MachineModel model = measure_ceilings(*there);
    const codegen::Machine machine = there->machine();
    if (json) {
      std::cout << (first ? "" : ",") << "\n  {\"name\": " << in_quotes(name)
                << ", \"workers\": " << machine.workers << ", \"vector_bytes\": " << machine.vector_bytes
                << ", \"memory_bytes\": " << there->memory_limit() << ", \"bandwidth\": " << model.bandwidth
                << ", \"middle_bandwidth\": " << model.middle_bandwidth
                << ", \"cache_bandwidth\": " << model.cache_bandwidth
                << ", \"flops\": " << model.contraction_rate << ", \"vector_ops\": " << model.vector_rate
                << ", \"launch_seconds\": " << model.launch << "}";
    } else {
      std::cout << std::fixed << std::setprecision(1) << name << ": " << machine.workers << " workers, "
                << machine.vector_bytes << "-byte vectors, "
                << static_cast<double>(there->memory_limit()) / 1e9 << " GB of memory\n"
                << "  memory bandwidth      " << model.bandwidth / 1e9 << " GB/s\n"
                << "  from a shared cache   " << model.middle_bandwidth / 1e9 << " GB/s\n"
                << "  from workers' caches  " << model.cache_bandwidth / 1e9 << " GB/s\n"
                << "  f32 multiply-adds     " << model.contraction_rate / 1e9 << " GFLOP/s\n"
                << "  element-wise          " << model.vector_rate / 1e9 << " G operations/s\n"
                << "  starting a kernel     " << model.launch * 1e6 << " us\n";
    }
    first = false;
  }
  if (json) std::cout << "\n]\n";
}

void run_cache(const std::string& word) {
  Cache cache(Cache::default_directory());
  if (cache.directory().empty()) throw Error(cat("cache: ", cache.problem()));
  if (word == "path") {
    std::cout << cache.directory().string() << '\n';
    return;
  }
  if (!cache.problem().empty()) throw Error(cat("cache: ", cache.problem()));
  if (word == "clear") {
    const Cache::Cleared cleared = cache.clear();
    std::cout << cleared.removed << " entries removed\n";
    if (cleared.kept > 0)
      throw Error(cat("cache: ", cleared.kept, " entries of ", cache.directory().string(),
                      " cannot be removed: ", cleared.problem));
    return;
  }
  std::uintmax_t bytes = 0;
  const auto entries = cache.entries();
  for (const auto& entry : entries) {
    if (word == "list") std::cout << entry.name << ' ' << entry.bytes << '\n';
    bytes += entry.bytes;
  }
  std::cout << entries.size() << " entries, " << bytes << " bytes in " << cache.directory().string() << '\n';
}

}  // namespace

void add_profile_command(CLI::App& app) {
  const auto options = std::make_shared<ProfileOptions>();
  auto* command = app.add_subcommand("profile", "Run a graph and show what each kernel takes");
  command->add_option("FILE", options->file, graph_help)->required();
  command->add_option("--trace", options->trace,
                      "Also write a Chrome trace of a run, with the medians, to this file");
  command->add_option("--runs", options->runs, "Runs to take the median of (default: 5)")
      ->check(CLI::Range(1, 1000000));
  options->search.add_to(*command);
  command->callback([options] { run_profile(*options); });
}

void add_devices_command(CLI::App& app) {
  auto* command = app.add_subcommand("devices", "List the devices, and what they reach at best");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As a list of objects");
  command->callback([json] { list_devices(*json); });
}

void add_cache_command(CLI::App& app) {
  auto* command = app.add_subcommand("cache", "Show or clear what compiling keeps on disk");
  const auto word = std::make_shared<std::string>("summary");
  command->add_option("WHAT", *word, "list: every entry; clear: remove them all; path: where they are")
      ->check(CLI::IsMember({"list", "clear", "path"}));
  command->callback([word] { run_cache(*word); });
}

}  // namespace luminal::cli
