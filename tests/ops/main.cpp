#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "check.h"
#include "docs.h"
#include "luminal/support/text.h"

namespace luminal::ops {
namespace {

constexpr const char* usage =
    "usage: test_ops [--mode test|grad|grad2|perf|support] [--backend NAME] [--family NAME] [--op NAME] "
    "[--count]\n"
    "                [--docs | --check-docs FILE]\n"
    "  test     runs every case, with constant and with symbolic dims\n"
    "  grad     compares gradients with differences\n"
    "  grad2    compares gradients of gradients with differences\n"
    "  perf     prints the time of each op\n"
    "  support  prints which dtypes each op runs in\n"
    "  --every N takes each N-th case only\n"
    "  --count  also prints the number of cases by op and dtype\n"
    "  --docs   prints docs/ops.md\n";

struct Options {
  std::string mode = "test";
  std::string backend = "interpreter";
  std::string family;
  std::string op;
  std::string docs_file;
  std::string references = cat(LUMINAL_SOURCE_DIR, "/tests/ops/references");
  std::size_t every = 1;
  bool count = false;
  bool docs = false;
};

Options parse(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto next = [&]() -> const std::string& {
      if (i + 1 >= words.size()) throw std::runtime_error(cat(words[i], " takes a value"));
      return words[++i];
    };
    if (words[i] == "--mode")
      options.mode = next();
    else if (words[i] == "--backend")
      options.backend = next();
    else if (words[i] == "--family")
      options.family = next();
    else if (words[i] == "--op")
      options.op = next();
    else if (words[i] == "--every")
      options.every = std::max<std::size_t>(1, std::stoul(next()));
    else if (words[i] == "--references")
      options.references = next();
    else if (words[i] == "--count")
      options.count = true;
    else if (words[i] == "--docs")
      options.docs = true;
    else if (words[i] == "--check-docs")
      options.docs_file = next();
    else
      throw std::runtime_error(cat("'", words[i], "' is no option\n", usage));
  }
  return options;
}

/// One row with its cases.
struct Loaded {
  const Family* family;
  const Row* row;
  std::vector<Case> cases;
};

std::vector<Loaded> load(const Options& options) {
  std::vector<Loaded> result;
  for (const auto& family : families()) {
    if (!options.family.empty() && family.name != options.family) continue;
    std::map<std::string, std::vector<Case>> by_op;
    for (auto& one : read_cases(cat(options.references, "/", family.name, ".txt")))
      by_op[one.op].push_back(std::move(one));
    for (const auto& row : family.rows) {
      if (options.op.empty() || row.name == options.op) result.push_back({&family, &row, by_op[row.name]});
      if (by_op[row.name].empty())
        throw std::runtime_error(cat("no case of '", row.name, "' in ", family.name, ".txt"));
      by_op.erase(row.name);
    }
    for (const auto& [name, cases] : by_op)
      throw std::runtime_error(cat("'", name, "' in ", family.name, ".txt is no op of this family"));
  }
  return result;
}

std::string label(const Loaded& loaded, const Case& of) {
  return cat(loaded.family->name, ".txt:", of.line, ": ", of.op, " ", of.dtype(), " ", of.note);
}

int test(Backend& backend, const std::vector<Loaded>& all, std::size_t every) {
  int failures = 0;
  std::size_t cases = 0;
  std::size_t number = 0;
  const auto report = [&](const std::optional<std::string>& wrong, const std::string& what) {
    if (!wrong) return;
    if (++failures <= 50) std::cout << what << ": " << *wrong << '\n';
  };
  for (const auto& loaded : all)
    for (const auto& one : loaded.cases) {
      if (number++ % every != 0) continue;
      report(check(backend, *loaded.row, one, false), label(loaded, one));
      report(check(backend, *loaded.row, one, true), label(loaded, one) + " (symbolic dims)");
      ++cases;
    }
  std::cout << cases << " cases, with constant and with symbolic dims, on " << backend.name() << ": "
            << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}

/// Whether a case has something to differentiate: f64 in and out, and no random choice.
bool differentiable(const Loaded& loaded, const Case& of) {
  if (of.dtype() != DType::f64 || of.inputs.empty() || loaded.family->name == "random") return false;
  return std::any_of(of.outputs.begin(), of.outputs.end(),
                     [](const Expected& output) { return output.values.dtype() == DType::f64; });
}

int grad(Backend& backend, const std::vector<Loaded>& all, int order, std::size_t every) {
  int failures = 0;
  std::size_t checked = 0;
  std::size_t number = 0;
  for (const auto& loaded : all)
    for (const auto& one : loaded.cases) {
      if (!differentiable(loaded, one) || number++ % every != 0) continue;
      ++checked;
      std::optional<std::string> wrong;
      try {
        wrong = check_gradients(backend, gradients(), *loaded.row, one, order);
      } catch (const std::exception& problem) {
        wrong = problem.what();
      }
      if (!wrong) continue;
      if (++failures <= 50) std::cout << label(loaded, one) << ": " << *wrong << '\n';
    }
  std::cout << checked << " gradients of order " << order << " on " << backend.name() << ": " << failures
            << " failures\n";
  return failures == 0 ? 0 : 1;
}

int perf(Backend& backend, const std::vector<Loaded>& all) {
  for (const auto& loaded : all) {
    std::vector<Built> graphs;
    for (const auto& one : loaded.cases) graphs.push_back(build(*loaded.row, one, false));
    const auto start = std::chrono::steady_clock::now();
    for (auto& built : graphs) backend.run(built.graph, built.outputs);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    std::cout << loaded.row->name << ": " << took.count() / static_cast<double>(graphs.size())
              << " us a case, " << graphs.size() << " cases\n";
  }
  return 0;
}

int support(Backend& backend, const std::vector<Loaded>& all) {
  for (const auto& loaded : all) {
    std::map<DType, bool> runs;
    for (const auto& one : loaded.cases) {
      const bool passes = !check(backend, *loaded.row, one, false);
      runs.try_emplace(one.dtype(), true).first->second &= passes;
    }
    std::cout << loaded.row->name << ':';
    for (const auto& [dtype, passes] : runs) std::cout << ' ' << (passes ? "" : "not ") << dtype;
    std::cout << '\n';
  }
  return 0;
}

void count(const std::vector<Loaded>& all) {
  std::size_t total = 0;
  for (const auto& loaded : all) {
    std::map<DType, std::size_t> by_dtype;
    for (const auto& one : loaded.cases) ++by_dtype[one.dtype()];
    std::cout << loaded.row->name << ": " << loaded.cases.size();
    for (const auto& [dtype, cases] : by_dtype) std::cout << "  " << dtype << ' ' << cases;
    std::cout << '\n';
    total += loaded.cases.size();
  }
  std::cout << total << " cases of " << all.size() << " ops\n";
}

std::map<std::string, std::vector<Case>> by_name(const std::vector<Loaded>& all) {
  std::map<std::string, std::vector<Case>> result;
  for (const auto& loaded : all) result[loaded.row->name] = loaded.cases;
  return result;
}

int run(const Options& options) {
  const auto all = load(options);
  if (options.docs) {
    std::cout << docs_text(by_name(all));
    return 0;
  }
  if (!options.docs_file.empty()) {
    std::ifstream in(options.docs_file);
    std::ostringstream written;
    written << in.rdbuf();
    if (written.str() == docs_text(by_name(all))) return 0;
    std::cout << options.docs_file << " is out of date: write it anew with test_ops --docs\n";
    return 1;
  }
  if (options.count) count(all);
  for (const auto& backend : backends()) {
    if (backend->name() != options.backend) continue;
    if (options.mode == "test") return test(*backend, all, options.every);
    if (options.mode == "grad") return grad(*backend, all, 1, options.every);
    if (options.mode == "grad2") return grad(*backend, all, 2, options.every);
    if (options.mode == "perf") return perf(*backend, all);
    if (options.mode == "support") return support(*backend, all);
    throw std::runtime_error(cat("'", options.mode, "' is no mode\n", usage));
  }
  throw std::runtime_error(cat("there is no backend '", options.backend, "'"));
}

}  // namespace
}  // namespace luminal::ops

int main(int argc, char** argv) {
  try {
    return luminal::ops::run(luminal::ops::parse(argc, argv));
  } catch (const std::exception& problem) {
    std::cout << "test_ops: " << problem.what() << '\n';
    return 2;
  }
}
