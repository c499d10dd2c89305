#include "luminal/cli/bench.h"

#include <iostream>
#include <memory>
#include <string>

#include "luminal/cli/bench_compile.h"
#include "luminal/cli/bench_egraph.h"
#include "luminal/cli/bench_rows.h"
#include "luminal/cli/search_options.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

bool is_of_the_compiler(const std::string& suite) {
  return suite == "compile" || suite == "egraph";
}

/// `Error` for an option that the suite has no use for.
void require_meaning(const BenchOptions& options) {
  const bool compiler = is_of_the_compiler(options.suite);
  for (const auto& [name, is_useless] : std::initializer_list<std::pair<const char*, bool>>{
           {"--peers", options.peers && options.suite == "compile"},
           {"--interpreter", options.interpreter && compiler},
           {"--search", options.search && compiler},
           {"--budget", options.budget && compiler},
           {"--longer", options.longer && compiler},
           {"--programs", !options.programs.empty() && options.suite != "egraph"}})
    if (is_useless) throw Error(cat("bench: ", name, " means nothing for the suite '", options.suite, "'"));
  require_search(options.search,
                 {{"--budget", options.budget.has_value()}, {"--longer", options.longer.has_value()}},
                 "bench");
}

int run(const BenchOptions& options) {
  require_meaning(options);
  if (options.suite == "compile") return bench_compile(options, std::cout);
  if (options.suite == "egraph") return bench_egraph(options, std::cout);
  return options.suite == "ops" ? bench_ops(options, std::cout) : bench_models(options, std::cout);
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure operations, models, or a part of the compiler");
  command
      ->add_option("--suite", options->suite,
                   "What to measure: ops; models (default), of which train and llm are parts; compile and "
                   "egraph, the compiler itself")
      ->check(CLI::IsMember({"ops", "models", "compile", "egraph", "train", "llm"}));
  command->add_flag("--peers", options->peers,
                    "Beside PyTorch and onnxruntime too, or egglog (egraph), in .venv (./luminal setup "
                    "--references makes it); not for compile");
  command->add_flag("--interpreter", options->interpreter,
                    "Beside one run of the interpreter too; of large models it takes minutes. Not for "
                    "compile, egraph");
  command->add_option("--filter", options->filter, "Only rows whose name has this regular expression");
  command->add_option("--json", options->json,
                      "Also write the rows to this file, as a list of objects, after each row");
  command->add_flag("--search", options->search,
                    "Ours by search; what fast compiles runs beside it. Not for compile, egraph");
  add_budget(*command, "--budget", options->budget,
             "Seconds that each search may take (default: 60); needs --search");
  add_budget(*command, "--longer", options->longer,
             "What a search of so many seconds finds runs beside it, too; needs --search");
  command->add_option("--programs", options->programs, "A folder of .egg programs for the egraph suite")
      ->check(CLI::ExistingDirectory);
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace luminal::cli
