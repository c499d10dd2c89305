#include "luminal/cli/egg.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "luminal/egraph/html.h"
#include "luminal/egraph/program.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct EggOptions {
  std::string file;
  bool json = false;
  bool stats = false;
  int threads = 1;
  std::string html;
};

std::optional<std::string> read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string json_report(egraph::Program& program, double seconds, const std::string& error,
                        egraph::Span span) {
  std::ostringstream out;
  out << "{\"tables\": {";
  bool first = true;
  for (const auto& [name, size] : program.table_sizes()) {
    out << (first ? "" : ", ") << in_quotes(name) << ": " << size;
    first = false;
  }
  out << "}, \"extract_costs\": [" << join(program.extract_costs()) << "], \"seconds\": " << shortest(seconds)
      << ", \"iterations\": " << program.engine().iterations()
      << ", \"peak_bytes\": " << program.engine().peak_bytes();
  if (!error.empty()) {
    out << ", \"error\": {\"message\": " << in_quotes(error) << ", \"line\": " << span.line
        << ", \"column\": " << span.column << "}";
  }
  out << "}\n";
  return out.str();
}

int run_egg(const EggOptions& options) {
  const auto text = read_file(options.file);
  if (!text) {
    std::cerr << "luminal egg: cannot read " << in_quotes(options.file) << "\n";
    return 1;
  }
  egraph::Program program([&](std::string_view output) {
    if (!options.json) std::cout << output << std::flush;
  });
  program.engine().set_threads(static_cast<unsigned>(options.threads));
  std::string error;
  egraph::Span span;
  const auto start = std::chrono::steady_clock::now();
  try {
    program.run(*text);
  } catch (const egraph::ProgramError& problem) {
    error = problem.problem();
    span = problem.span();
  } catch (const Error& problem) {
    error = problem.problem();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.stats) std::cerr << program.statistics();
  if (!options.html.empty()) {
    std::ofstream page(options.html, std::ios::binary);
    page << egraph::html_page(program, options.file);
    page.close();
    if (!page) {
      std::cerr << "luminal egg: cannot write " << in_quotes(options.html) << "\n";
      return 1;
    }
  }
  if (options.json) std::cout << json_report(program, seconds, error, span);
  if (!error.empty()) std::cerr << options.file << ":" << error << "\n";
  return error.empty() ? 0 : 1;
}

}  // namespace

void add_egg_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<EggOptions>();
  CLI::App* command = app.add_subcommand("egg", "Run a program of the e-graph language");
  command->add_option("file", options->file, "The program")->required();
  command->add_flag("--json", options->json, "Print one JSON object instead of the program's output");
  command->add_flag("--stats", options->stats, "Print what each rule cost");
  command->add_option("--threads", options->threads, "Threads to match with")->check(CLI::PositiveNumber);
  command->add_option("--html", options->html, "Write a page of the final e-graph");
  command->callback([options, &exit_code] { exit_code = run_egg(*options); });
}

}  // namespace luminal::cli
