#include "luminal/cli/bench.h"

#include <iostream>
#include <memory>
#include <string>

#include "luminal/cli/bench_compile.h"
#include "luminal/cli/bench_egraph.h"
#include "luminal/cli/bench_rows.h"

namespace luminal::cli {
namespace {

int run(const BenchOptions& options) {
  if (options.suite == "compile") return bench_compile(std::cout);
  if (options.suite == "egraph") return bench_egraph(options.programs, std::cout);
  return options.suite == "ops" ? bench_ops(options, std::cout) : bench_models(options, std::cout);
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure operations, models, or a part of the compiler");
  command
      ->add_option("--suite", options->suite,
                   "What to measure: ops, models, train, llm (of the models), compile, egraph")
      ->required()
      ->check(CLI::IsMember({"ops", "models", "compile", "egraph", "train", "llm"}));
  command->add_flag("--peers", options->peers,
                    "Beside PyTorch and onnxruntime too, in .venv (./luminal setup --references makes it)");
  command->add_flag("--interpreter", options->interpreter,
                    "Beside one run of the interpreter too; of large models it takes minutes");
  command->add_option("--filter", options->filter, "Only rows whose name has this regular expression");
  command->add_option("--json", options->json, "Also write the rows to this file, as a list of objects");
  command->add_flag("--search", options->search, "Ours by search; what fast compiles runs beside it");
  command->add_option("--budget", options->budget, "Seconds that each search may take (default: 60)")
      ->check(CLI::PositiveNumber);
  command->add_option("--programs", options->programs, "A folder of .egg programs for the egraph suite")
      ->check(CLI::ExistingDirectory);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace luminal::cli
