#pragma once
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace luminal::cli {

struct BenchOptions {
  std::string suite = "models";
  std::string programs;
  std::string filter;
  std::string json;
  bool peers = false;
  bool interpreter = false;
  bool search = false;
  std::optional<double> budget;
  std::optional<double> longer;
};

/// One line of a benchmark: we and the peers, run in turn; medians.
struct BenchRow {
  std::string name;
  double ours = 0;                           // seconds
  std::map<std::string, double> peers = {};  // seconds
  double limit = 0;                          // seconds that the machine's ceilings allow; 0: nobody knows
  std::optional<double> max_error = {};      // relative to the largest element; none: nothing was compared
  std::string note = {};
  double runs = 0;  // of ours; and those of them that others interrupted
  double interrupted = 0;
  std::map<std::string, double> more = {};  // what else there is to say of it, by its key in the JSON

  /// The best peer's time by ours; none without peers.
  std::optional<double> ratio() const;
};

/// Why there is no row: a wrong result, say.
class BenchFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A row to come. `measure` throws `BenchFailure` if there is none.
struct BenchEntry {
  std::string name;
  std::function<BenchRow()> measure;
};

/// Measures the entries that the filter takes, and prints them; after each the JSON file, if the options ask
/// for one, has the rows until then. Entries whose results are wrong are told of on stderr, and make the exit
/// code 1. `Error` if the filter takes none.
int bench_entries(const BenchOptions& options, const std::vector<BenchEntry>& entries, std::ostream& out);

}  // namespace luminal::cli
