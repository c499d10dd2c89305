#pragma once
#include <chrono>
#include <cstdint>
#include <vector>

#include "luminal/egraph/plan.h"

namespace luminal::egraph {

/// What one search may use up, and what it used.
struct SearchLimits {
  std::uint64_t matches = std::numeric_limits<std::uint64_t>::max();
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

/// Runs a plan over the tables as they stand, which must not change meanwhile.
class Matcher {
 public:
  /// Brings the indexes that the plan needs up to date.
  Matcher(Database& database, const Query& query, const Plan& plan, Stamp since);

  /// Appends the kept variables of every match to `matches`. Returns false if a limit stopped it.
  bool run(const std::vector<std::uint32_t>& kept, const SearchLimits& limits, std::vector<Value>& matches);

  std::uint64_t found() const { return found_; }
  /// Rows looked at.
  std::uint64_t candidates() const { return candidates_; }

 private:
  struct Source {
    Table* table = nullptr;
    Row boundary = 0;
    std::vector<const ColumnIndex*> indexes;  // beside the step's chains
  };
  bool advance(std::size_t step);
  bool accept(const Step& step, const Source& source, Row row);
  bool visible(const Step& step, const Source& source, Row row) const;
  bool walk_chain(std::size_t number);
  bool walk_rows(std::size_t number);
  bool lookup(const Step& step, const Source& source);
  bool compute(const Step& step);
  bool emit();
  bool out_of_time();

  Database& database_;
  const Plan& plan_;
  bool see_subsumed_;
  Access access_;
  std::vector<Source> sources_;
  std::vector<Value> registers_;
  std::vector<Value> arguments_;
  const std::vector<std::uint32_t>* kept_ = nullptr;
  std::vector<Value>* matches_ = nullptr;
  SearchLimits limits_;
  std::uint64_t found_ = 0;
  std::uint64_t candidates_ = 0;
  std::uint64_t next_clock_check_ = 0;
};

}  // namespace luminal::egraph
