#include "luminal/cli/bench_egraph.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "luminal/cli/graph_file.h"
#include "luminal/egraph/program.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Symbolic differentiation and integration with commutative, associative and distributive sums and products:
// the usual stress test of equality saturation engines.
constexpr const char* algebra_rules = R"(
(datatype Math (Diff Math Math) (Integral Math Math) (Add Math Math) (Sub Math Math) (Mul Math Math) (Div Math Math)
  (Pow Math Math) (Ln Math) (Sqrt Math) (Sin Math) (Cos Math) (Const i64) (Var String))
(rewrite (Add a b) (Add b a))
(rewrite (Mul a b) (Mul b a))
(rewrite (Add a (Add b c)) (Add (Add a b) c))
(rewrite (Mul a (Mul b c)) (Mul (Mul a b) c))
(rewrite (Sub a b) (Add a (Mul (Const -1) b)))
(rewrite (Add a (Const 0)) a)
(rewrite (Mul a (Const 0)) (Const 0))
(rewrite (Mul a (Const 1)) a)
(rewrite (Sub a a) (Const 0))
(rewrite (Mul a (Add b c)) (Add (Mul a b) (Mul a c)))
(rewrite (Add (Mul a b) (Mul a c)) (Mul a (Add b c)))
(rewrite (Mul (Pow a b) (Pow a c)) (Pow a (Add b c)))
(rewrite (Pow x (Const 1)) x)
(rewrite (Pow x (Const 2)) (Mul x x))
(rewrite (Diff x (Add a b)) (Add (Diff x a) (Diff x b)))
(rewrite (Diff x (Mul a b)) (Add (Mul a (Diff x b)) (Mul b (Diff x a))))
(rewrite (Diff x (Sin x)) (Cos x))
(rewrite (Diff x (Cos x)) (Mul (Const -1) (Sin x)))
(rewrite (Integral (Const 1) x) x)
(rewrite (Integral (Cos x) x) (Sin x))
(rewrite (Integral (Sin x) x) (Mul (Const -1) (Cos x)))
(rewrite (Integral (Add f g) x) (Add (Integral f x) (Integral g x)))
(rewrite (Integral (Sub f g) x) (Sub (Integral f x) (Integral g x)))
(rewrite (Integral (Mul a b) x) (Sub (Mul a (Integral b x)) (Integral (Mul (Diff x a) (Integral b x)) x)))
)";
constexpr const char* algebra_terms = R"(
(Integral (Ln (Var "x")) (Var "x"))
(Integral (Add (Var "x") (Cos (Var "x"))) (Var "x"))
(Integral (Mul (Cos (Var "x")) (Var "x")) (Var "x"))
(Diff (Var "x") (Add (Const 1) (Mul (Const 2) (Var "x"))))
(Diff (Var "x") (Sub (Pow (Var "x") (Const 3)) (Mul (Const 7) (Pow (Var "x") (Const 2)))))
(Add (Mul (Var "y") (Add (Var "x") (Var "y"))) (Sub (Add (Var "x") (Const 2)) (Add (Var "x") (Var "x"))))
(Div (Const 1) (Sub (Div (Add (Const 1) (Sqrt (Var "five"))) (Const 2)) (Div (Sub (Const 1) (Sqrt (Var "five"))) (Const 2))))
)";

struct Measured {
  double seconds = 0;
  std::size_t rows = 0;
  std::size_t bytes = 0;
  std::string error;
};

Measured measure(const std::string& text) {
  Measured result;
  egraph::Program program;
  const auto start = Clock::now();
  try {
    program.run(text);
  } catch (const egraph::ProgramError& error) {
    result.error = error.problem();
  }
  result.seconds = since(start);
  for (const auto& [name, size] : program.table_sizes()) result.rows += size;
  result.bytes = program.engine().peak_bytes();
  return result;
}

Measured best_of(int runs, const std::string& text) {
  Measured best = measure(text);
  for (int i = 1; i < runs; ++i) {
    const Measured next = measure(text);
    if (next.seconds < best.seconds) best = next;
  }
  return best;
}

/// What the peer did with a program: its best time, or why there is none.
struct PeerAnswer {
  std::optional<double> seconds{};
  std::size_t rows = 0;
  std::string why{};
};

/// The egglog package in a Python process of its own (benches/peers/egglog_time.py). `Error` if there is
/// none.
class Peer {
 public:
  Peer() : folder_(fs::temp_directory_path() / cat("luminal-bench-", ::getpid())) {
    const char* given = std::getenv("LUMINAL_PEER_PYTHON");
    python_ = given != nullptr ? given : LUMINAL_SOURCE_DIR "/.venv/bin/python";
    if (run("-c 'import egglog.bindings'").first != 0) {
      throw Error(cat("bench: no peers: ", in_quotes(python_),
                      " has no egglog package; set LUMINAL_PEER_PYTHON to a Python "
                      "that has it (pip install egglog), or make .venv with one"));
    }
    fs::create_directories(folder_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { fs::remove_all(folder_); }

  /// The best time of some runs of a program's text.
  PeerAnswer time(const std::string& text, int runs) const {
    const fs::path program = folder_ / "program.egg";
    std::ofstream(program, std::ios::binary) << text;
    const auto [code, output] = run(cat(in_quotes(LUMINAL_SOURCE_DIR "/benches/peers/egglog_time.py"), " ",
                                        in_quotes(program.string()), " ", runs));
    if (code == stopped) return {.why = cat("had not ended after ", limit_s, " s")};
    const auto answer = nlohmann::json::parse(output, nullptr, false);
    if (answer.is_discarded() || code != 0) return {.why = cat("ended with status ", code)};
    if (answer.contains("error")) return {.why = cat("refuses it: ", answer["error"].get<std::string>())};
    return {.seconds = answer["seconds"].get<double>(), .rows = answer["rows"].get<std::size_t>()};
  }

 private:
  static constexpr int limit_s = 600;
  static constexpr int stopped = 124;  // what timeout(1) returns

  // Status and output. With one thread for the peer's engine, as ours has one.
  std::pair<int, std::string> run(const std::string& arguments) const {
    const std::string command =
        cat("RAYON_NUM_THREADS=1 timeout ", limit_s, " ", in_quotes(python_), " ", arguments, " 2>/dev/null");
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {-1, ""};
    std::string output;
    std::array<char, 256> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
      output += buffer.data();
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
  }

  fs::path folder_;
  std::string python_;
};

/// Makes the peer when it is first needed.
using PeerOf = std::function<const Peer*()>;

BenchRow row_of(const std::string& name, const Measured& ours) {
  BenchRow row{.name = name, .ours = ours.seconds};
  const double rate = static_cast<double>(ours.rows) / ours.seconds;
  row.more = {{"rows", static_cast<double>(ours.rows)},
              {"rows_per_second", rate},
              {"peak_bytes", static_cast<double>(ours.bytes)}};
  std::ostringstream note;
  note << ours.rows << " rows, " << std::setprecision(4) << rate << " rows/s, peak " << ours.bytes / 1000000
       << " MB";
  row.note = note.str();
  return row;
}

/// Beside the peer, if there is to be one. A program that the peer does not take, or not in time, has no
/// peer's time and says why.
BenchRow beside(const std::string& name, const std::string& text, int runs, const PeerOf& peer_of) {
  const Measured ours = best_of(runs, text);
  if (!ours.error.empty()) throw BenchFailure(cat("the program is refused: ", ours.error));
  BenchRow row = row_of(name, ours);
  if (const Peer* peer = peer_of()) {
    const PeerAnswer theirs = peer->time(text, runs);
    if (!theirs.seconds) {
      row.note += cat("; egglog ", theirs.why);
    } else if (theirs.rows != ours.rows) {
      throw BenchFailure(cat("egglog ends with ", theirs.rows, " rows, ours with ", ours.rows));
    } else {
      row.peers["egglog"] = *theirs.seconds;
    }
  }
  return row;
}

void add_algebra(std::vector<BenchEntry>& entries, const PeerOf& peer_of) {
  for (const int steps : {8, 11}) {
    const std::string name = cat("algebra ", steps, " steps");
    entries.push_back({name, [=] {
                         const std::string text = cat(algebra_rules, algebra_terms, "(run ", steps, ")\n");
                         return beside(name, text, steps == 8 ? 20 : 3, peer_of);
                       }});
  }
}

// Joins, inserts and unions over n facts.
std::string growth_program(std::int64_t n) {
  std::string text = cat("(datatype N (Z) (S i64) (Pair N N))\n(relation go (i64))\n", "(rule ((go x) (< x ",
                         n / 4, ")) ((go (+ x ", n / 100, ")) (S x) (Pair (S x) (S (+ x 1)))",
                         " (union (S x) (S (/ x 2)))))\n", "(rule ((Pair a b)) ((Pair b a)))\n");
  for (std::int64_t i = 0; i < n / 100; ++i) text += cat("(go ", i, ")\n");
  return text + "(run 1000)\n";
}

void add_growth(std::vector<BenchEntry>& entries) {
  for (const std::int64_t n : {20000, 200000, 2000000, 20000000}) {
    const std::string name = cat("growth ", n);
    entries.push_back({name, [=] { return row_of(name, measure(growth_program(n))); }});
  }
}

// Bodies over tables that change in every step, which no term of the algebra has: chains of sums and
// products, and at the end a table that is empty, a constant that does not occur, or two columns that never
// meet.
std::string idle_rules(int count, int atoms) {
  std::string text = "(relation never (Math))\n(ruleset idle)\n";
  const std::array<const char*, 3> ends = {"(never v)", "(= v (Const 123456))", "(= v (Sin (Sqrt s)))"};
  for (int i = 0; i < count; ++i) {
    text += "(rule (";
    for (int atom = 0; atom + 1 < atoms; ++atom) {
      text += cat("(= v", atom == 0 ? "" : std::to_string(atom), " (", (atom + i) % 2 == 0 ? "Add" : "Mul",
                  " v", atom + 1, " w", atom, ")) ");
    }
    text +=
        cat(ends[static_cast<std::size_t>(i % 3)], ") ((never v)) :ruleset idle :name \"idle ", i, "\")\n");
  }
  return text;
}

/// 500 rules that never match, stepped after every step of the algebra; ours is what they take.
BenchRow idle_row(const std::string& name, int atoms) {
  egraph::Program program;
  program.run(cat(algebra_rules, idle_rules(500, atoms), algebra_terms));
  BenchRow row{.name = name};
  double working = 0;
  for (int step = 0; step < 10; ++step) {
    auto start = Clock::now();
    program.run("(run 1)");
    working += since(start);
    start = Clock::now();
    program.run("(run idle 1)");
    row.ours += since(start);
  }
  row.more["working_us"] = working * 1e6;
  std::ostringstream note;
  note << std::setprecision(3) << row.ours / working * 100 << " % of the " << working * 1e3
       << " ms that the working rules take";
  row.note = note.str();
  return row;
}

void add_idle_rules(std::vector<BenchEntry>& entries) {
  for (const int atoms : {14, 50, 126}) {
    const std::string name = cat("idle rules ", atoms, " atoms");
    entries.push_back({name, [=] { return idle_row(name, atoms); }});
  }
}

void add_folder(std::vector<BenchEntry>& entries, const std::string& folder, const PeerOf& peer_of) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".egg") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    const std::string name = fs::relative(path, folder).string();
    entries.push_back({name, [=] { return beside(name, read_file(path.string(), "bench"), 3, peer_of); }});
  }
}

}  // namespace

int bench_egraph(const BenchOptions& options, std::ostream& out) {
  std::unique_ptr<Peer> peer;
  const PeerOf peer_of = [&]() -> const Peer* {
    if (options.peers && !peer) peer = std::make_unique<Peer>();
    return peer.get();
  };
  std::vector<BenchEntry> entries;
  add_algebra(entries, peer_of);
  add_growth(entries);
  add_idle_rules(entries);
  if (!options.programs.empty()) add_folder(entries, options.programs, peer_of);
  return bench_entries(options, entries, out);
}

}  // namespace luminal::cli
