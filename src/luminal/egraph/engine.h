#pragma once
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/database.h"
#include "luminal/egraph/match.h"
#include "luminal/egraph/pair_filter.h"
#include "luminal/egraph/plan.h"
#include "luminal/egraph/query.h"

namespace luminal::egraph {

struct Rule {
  std::string name;
  RulesetId ruleset;
  Query query;
  Code head;
  /// The query's variables that the head's inputs are, in order.
  std::vector<std::uint32_t> head_variables;
  /// Matched against everything in every iteration, not only against what is new.
  bool naive = false;
};

struct RuleStatistics {
  std::string name;
  std::uint64_t matches = 0;
  std::uint64_t candidates = 0;
  double search_seconds = 0;
  double apply_seconds = 0;
};

/// What a run may use. Each is checked often enough that a diverging program stops within a tenth of it.
/// `rows` and `bytes` (see `Database::used_bytes`) are what is there in all; `matches` and `seconds` count
/// from `set_budget` on.
struct Budget {
  std::uint64_t rows = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t matches = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

/// A rule with more matches in an iteration than its limit is banned for some iterations; both double every
/// time.
struct Backoff {
  std::uint64_t match_limit = 1000;
  std::uint64_t ban_length = 5;
};

enum class Stop : std::uint8_t { finished, rows, matches, bytes, seconds };

/// Rules and their running. A step matches all rules of a ruleset against the tables as they are, then
/// applies the matches, then rebuilds. Rules only look for matches with something new in them, in the tables
/// or in time.
class Engine {
 public:
  Engine();

  Database& database() { return database_; }
  const Database& database() const { return database_; }

  RulesetId add_ruleset(std::string name);
  RulesetId add_combined_ruleset(std::string name, std::vector<RulesetId> parts);
  std::optional<RulesetId> find_ruleset(std::string_view name) const;
  /// Whether it is made of others, and takes no rules itself.
  bool is_combined(RulesetId ruleset) const { return rulesets_[ruleset.index()].is_combined; }
  /// Throws `ProgramError` if a rule of this name is present.
  RuleId add_rule(Rule rule);
  const Rule& rule(RuleId id) const { return rules_[id.index()]; }

  /// One step. True if anything changed. Also true if a rule is banned, for its matches are still to come.
  bool step(RulesetId ruleset);
  /// Whether the query has a match.
  bool holds(const Query& query);
  /// All values of one variable for which the query holds, for tests and tools.
  std::vector<Value> values(const Query& query, std::uint32_t variable);

  void set_budget(const Budget& budget);
  /// How many threads match. The outcome does not depend on it.
  void set_threads(unsigned threads) { threads_ = threads; }
  void set_backoff(std::optional<Backoff> backoff) { backoff_ = backoff; }
  /// Why the last step ended early; steps after that do nothing.
  Stop stopped() const { return stopped_; }
  std::uint64_t iterations() const { return iterations_; }
  std::size_t peak_bytes() const { return peak_bytes_; }
  /// In the order of declaration.
  std::vector<RuleStatistics> statistics() const { return statistics_; }
  double rebuild_seconds() const { return rebuild_seconds_; }

 private:
  /// One body, matched once for all rules of a ruleset that have it.
  struct Body {
    Query query;
    std::string signature;
    std::vector<RuleId> rules;
    std::vector<std::uint32_t> kept;
    std::vector<FunctionId> functions;
    bool naive = false;
    Stamp last_run = 0;
    std::vector<Plan> plans;
    std::vector<std::uint32_t> planned_sizes;
    /// The joins that had no value in common when last looked at.
    std::vector<std::uint32_t> unjoined;
    std::uint64_t banned_until = 0;
    std::uint64_t times_banned = 0;
    std::vector<Value> matches;
    std::uint64_t found = 0;
  };
  /// What keeps bodies from matching: an atom that has no row, or a join that has no value in common. Bodies
  /// with the same one sleep together, and cost nothing until it is gone.
  struct Obstacle {
    Atom atom;
    std::optional<std::uint32_t> join;
    /// `Database::changes` when last looked at, and what was seen.
    std::uint64_t looked_at = 0;
    bool there = false;
  };
  static constexpr std::uint32_t no_obstacle = std::numeric_limits<std::uint32_t>::max();
  /// One plan of a body, to be run once.
  struct Job {
    std::size_t body;
    Matcher matcher;
    std::vector<Value> matches;
    double seconds;
    bool complete;
  };
  struct Ruleset {
    std::string name;
    std::vector<std::size_t> bodies;
    bool is_combined = false;
    std::vector<RulesetId> parts;
  };

  void collect(RulesetId ruleset, std::vector<std::size_t>& bodies) const;
  bool lacks_rows(const Atom& atom);
  std::uint32_t obstacle_of(const Atom& atom, std::optional<std::uint32_t> join);
  bool is_there(Obstacle& obstacle);
  std::uint32_t find_obstacle(Body& body);
  bool fresh_since(const Body& body) const;
  void refresh_plans(Body& body);
  std::vector<std::size_t> search(std::vector<std::size_t>& bodies);
  bool prepare(std::size_t number, std::vector<Job>& jobs);
  void run_job(Job& job, std::vector<Value>& matches);
  void run_in_parallel(std::vector<Job>& jobs);
  void run_jobs(std::vector<Job>& jobs);
  bool over_limit(Body& body);
  std::vector<std::size_t> search_all(std::vector<std::size_t>& bodies);
  bool at_risk(std::uint64_t matches) const;
  bool apply_in_time(const std::vector<std::size_t>& bodies);
  void apply_all(const std::vector<std::size_t>& bodies, std::chrono::steady_clock::time_point deadline);
  void forget_matches(const std::vector<std::size_t>& bodies);
  void apply(Body& body);
  void apply_rule(Body& body, RuleId id);
  void note_budget();
  bool has_room() const;
  bool over_bytes(std::size_t used) const;
  std::size_t body_for(const Rule& rule);

  Database database_;
  std::vector<Ruleset> rulesets_;
  std::map<std::string, RulesetId, std::less<>> ruleset_names_;
  std::vector<Rule> rules_;
  std::map<std::string, RuleId, std::less<>> rule_names_;
  std::vector<Body> bodies_;
  std::vector<Obstacle> obstacles_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> obstacle_numbers_;
  /// By body: what it waits for.
  std::vector<std::uint32_t> waits_for_;
  PairFilter pairs_;
  std::vector<RuleStatistics> statistics_;
  Budget budget_;
  unsigned threads_ = 1;
  std::optional<Backoff> backoff_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  std::uint64_t matches_used_ = 0;
  Stop stopped_ = Stop::finished;
  int restarts_ = 0;
  std::uint64_t iterations_ = 0;
  std::size_t peak_bytes_ = 0;
  double rebuild_seconds_ = 0;
  bool any_banned_ = false;
  /// How long rebuilding took for each change that the last step's actions made, to leave time for it, and
  /// how long that step took for each match.
  double seconds_per_change_ = 0;
  double seconds_per_match_ = 0;
  std::uint64_t changes_before_step_ = 0;
};

}  // namespace luminal::egraph
