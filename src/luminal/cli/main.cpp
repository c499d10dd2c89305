#include <CLI/CLI.hpp>

#include "luminal/cli/bench.h"
#include "luminal/cli/egg.h"

int main(int argc, char** argv) {
  CLI::App app("luminal: a deep-learning compiler", "luminal");
  app.require_subcommand(1);
  int exit_code = 0;
  luminal::cli::add_egg_command(app, exit_code);
  luminal::cli::add_bench_command(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
