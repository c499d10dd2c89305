#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "luminal/cli/bench.h"
#include "luminal/cli/compile.h"
#include "luminal/cli/demo.h"
#include "luminal/cli/egg.h"
#include "luminal/cli/inspect.h"
#include "luminal/cli/profile.h"
#include "luminal/cli/quantize.h"
#include "luminal/cli/tokenize.h"
#include "luminal/cli/train.h"
#include "luminal/cli/view.h"

int main(int argc, char** argv) {
  CLI::App app("Luminal: a deep-learning compiler");
  app.name("luminal");
  app.require_subcommand(1);
  int exit_code = 0;
  luminal::cli::add_bench_command(app, exit_code);
  luminal::cli::add_cache_command(app);
  luminal::cli::add_compile_command(app);
  luminal::cli::add_devices_command(app);
  luminal::cli::add_demo_command(app, exit_code);
  luminal::cli::add_egg_command(app, exit_code);
  luminal::cli::add_inspect_command(app);
  luminal::cli::add_profile_command(app);
  luminal::cli::add_quantize_command(app);
  luminal::cli::add_tokenize_command(app);
  luminal::cli::add_train_command(app, exit_code);
  luminal::cli::add_view_command(app);
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "luminal: " << error.what() << '\n';
    return 1;
  }
}
