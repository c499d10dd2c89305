#include "luminal/cli/bench.h"

#include <iostream>
#include <memory>
#include <string>

#include "luminal/cli/bench_compile.h"
#include "luminal/cli/bench_egraph.h"

namespace luminal::cli {
namespace {
struct BenchOptions {
  std::string suite;
  std::string programs;
};
}  // namespace

void add_bench_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure a part of the compiler");
  command->add_option("--suite", options->suite, "What to measure: compile, egraph")
      ->required()
      ->check(CLI::IsMember({"compile", "egraph"}));
  command->add_option("--programs", options->programs, "A folder of .egg programs to measure too")
      ->check(CLI::ExistingDirectory);
  command->callback([options, &exit_code] {
    exit_code =
        options->suite == "compile" ? bench_compile(std::cout) : bench_egraph(options->programs, std::cout);
  });
}

}  // namespace luminal::cli
