#include "luminal/cli/compile.h"

#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "luminal/cli/graph_file.h"
#include "luminal/cli/search_options.h"
#include "luminal/codegen/footprint.h"
#include "luminal/compile/explain.h"
#include "luminal/luminal.h"
#include "luminal/runtime/plan.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct Options {
  std::string file;
  std::string stage = "plan";
  std::string rules;
  std::string trace;
  SearchOptions search;
  bool timing = false;
  bool explain = false;
  std::string html;
  bool statistics = false;
  bool rejected = false;
  bool exact = false;
};

std::string trace_of(const std::vector<StageReport>& stages) {
  std::ostringstream file;
  file << "{\"traceEvents\": [";
  double start = 0;
  bool first = true;
  for (const auto& stage : stages) {
    file << (first ? "" : ",") << "\n{\"name\": " << in_quotes(stage.name)
         << ", \"cat\": \"compile\", \"ph\": \"X\", \"pid\": 1, "
         << "\"tid\": 1, \"ts\": " << start * 1e6 << ", \"dur\": " << stage.seconds * 1e6
         << ", \"args\": {\"detail\": " << in_quotes(stage.detail) << "}}";
    start += stage.seconds;
    first = false;
  }
  file << "\n]}\n";
  return file.str();
}

void print_kernels(const runtime::Plan& plan) {
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const auto& [kernel, schedule, source, family, seconds, is_given] = plan.kernels[k];
    std::cout << "; kernel " << k << ": " << family << '\n';
    if (!is_given) std::cout << codegen::print(codegen::footprint(kernel, schedule), kernel.inputs().size());
    std::cout << kernel::print(kernel);
  }
}

void print_timing(const Executable& exe, double all) {
  std::vector<StageReport> stages = exe.stages();
  if (const auto* search = exe.search_report())
    stages.push_back({"search", search->seconds,
                      cat(search->candidates, " candidates; the planning above is part of it")});
  stages.push_back({"all", all, ""});
  for (const auto& stage : stages)
    std::cerr << std::left << std::setw(12) << stage.name << std::right << std::fixed << std::setprecision(3)
              << std::setw(12) << stage.seconds * 1e3 << " ms"
              << (stage.detail.empty() ? "" : "  " + stage.detail) << '\n';
}

/// That of the graph as it is there is nothing to explain or time.
void require_compiling(const Options& given) {
  for (const auto& [name, is_given] : std::initializer_list<std::pair<const char*, bool>>{
           {"--search", given.search.search},
           {"--budget", given.search.budget.has_value()},
           {"--candidates", given.search.candidates.has_value()},
           {"--record", !given.search.record.empty()},
           {"--replay", !given.search.replay.empty()},
           {"--explain", given.explain},
           {"--html", !given.html.empty()},
           {"--statistics", given.statistics},
           {"--rejected", given.rejected},
           {"--timing", given.timing},
           {"--trace", !given.trace.empty()}})
    if (is_given)
      throw Error(cat("compile: ", name, " means nothing with --stage graph, which does not compile"));
}

void run(const Options& given) {
  const OutputFile html(given.html, "compile");
  const OutputFile trace(given.trace, "compile");
  const Graph graph = load_graph(given.file, "compile");
  if (given.stage == "graph") {
    require_compiling(given);
    Dag dag = graph.dag();
    dead_code().run(dag);
    std::cout << print(dag);
    return;
  }
  CompileSession session(given.search, "compile");
  CompileOptions& options = session.options();
  options.exact = given.exact;
  if (!given.rules.empty()) options.rules = read_file(given.rules, "compile");
  std::string derivation;
  const bool explains = given.explain || !given.html.empty();
  options.inspect = [&](std::string_view what, const std::string& text) {
    if (what == given.stage) std::cout << text;
    if (what == "statistics" && given.statistics) std::cout << text;
    if (what == "rejected" && given.rejected) std::cout << text;
    if (what == "derivation" && explains) derivation += text;
  };
  if (given.stage != "egraph" && !given.statistics && !given.rejected && !explains) options.inspect = {};
  const auto start = std::chrono::steady_clock::now();
  const Executable exe = compile(graph, session.device(), options);
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  session.finish(exe);
  const runtime::Plan& plan = exe.plan();
  if (given.stage == "kernels") print_kernels(plan);
  if (given.stage == "plan") std::cout << runtime::print(plan);
  if (given.stage == "source")
    for (const auto& kernel : plan.kernels) std::cout << kernel.source.text << '\n';
  if (given.explain) std::cout << explain_text(exe, derivation);
  if (html.is_wanted()) html.write(explain_html(exe, derivation, given.file));
  if (given.timing) print_timing(exe, all);
  trace.write(trace_of(exe.stages()));
}

}  // namespace

void add_compile_command(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("compile", "Compile a graph, and print what a stage made of it");
  command->add_option("FILE", options->file, graph_help)->required();
  command
      ->add_option("--stage", options->stage,
                   "What to print: graph, egraph, kernels, plan (default) or source")
      ->check(CLI::IsMember({"graph", "egraph", "kernels", "plan", "source"}));
  options->search.add_to(*command);
  command->add_option("--rules", options->rules, "A file of further rules");
  command->add_flag("--exact", options->exact, "Only rules that keep every bit");
  command->add_flag("--explain", options->explain,
                    "Also print why the plan is as it is: what kernels compute, the rules that led "
                    "there, and after a search the candidates with their times");
  command->add_option("--html", options->html, "Write the explanation as one page to this file");
  command->add_flag("--statistics", options->statistics, "Also print what each rule matched and cost");
  command->add_flag("--rejected", options->rejected, "Also print why kernels were not taken");
  command->add_flag("--timing", options->timing, "Print what each stage and the search took, to stderr");
  command->add_option("--trace", options->trace, "Write the stages as a Chrome trace to this file");
  command->callback([options] { run(*options); });
}

}  // namespace luminal::cli
