#include <algorithm>
#include <bit>

#include "luminal/egraph/engine.h"

namespace luminal::egraph {
namespace {
using Clock = std::chrono::steady_clock;
}  // namespace

// Looks only at what costs a few instructions: the table, the row of a constant key, an index that exists anyway.
bool Engine::lacks_rows(const Atom& atom) {
  Function& function = database_.function(atom.function);
  Table& table = function.table;
  if (table.live() == 0) return true;
  std::vector<Value> key;
  for (std::size_t column = 0; column < function.inputs.size(); ++column) {
    if (atom.terms[column].variable) continue;
    key.push_back(atom.terms[column].number);
    if (table.ready_index(column) != nullptr && table.index(column).chain(key.back()).length == 0) return true;
  }
  return !key.empty() && key.size() == function.inputs.size() && table.find(key.data()) == no_row;
}

// Watches one atom that had no row: as long as it has none, the rest need not be looked at.
bool Engine::cannot_match(Body& body) {
  const std::size_t count = body.query.atoms.size();
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t atom = (body.watched + tried) % count;
    if (lacks_rows(body.query.atoms[atom])) {
      body.watched = atom;
      return true;
    }
  }
  return false;
}

bool Engine::fresh_since(const Body& body) const {
  if (body.naive || body.functions.empty()) return true;
  return std::any_of(body.functions.begin(), body.functions.end(), [&](FunctionId id) {
    return database_.function(id).table.last_written() >= body.last_run;
  });
}

// Plans are kept until a table has grown enough to change an estimate's order of magnitude.
void Engine::refresh_plans(Body& body) {
  std::vector<std::uint32_t> sizes;
  sizes.reserve(body.functions.size());
  for (const FunctionId id : body.functions) {
    const Table& table = database_.function(id).table;
    const auto live = static_cast<std::uint32_t>(std::bit_width(table.live()) / 2);
    const auto fresh = static_cast<std::uint32_t>(std::bit_width(table.rows() - table.first_since(body.last_run)) / 3);
    sizes.push_back(live * 64 + fresh);
  }
  if (sizes == body.planned_sizes && !body.plans.empty()) return;
  body.planned_sizes = std::move(sizes);
  body.plans.assign(body.query.atoms.size() + 1, Plan{});
}

bool Engine::search_once(Body& body, const Plan& plan) {
  const auto start = Clock::now();
  Matcher matcher(database_, body.query, plan, body.last_run);
  SearchLimits limits;
  limits.deadline = deadline_;
  limits.matches = budget_.matches - std::min(budget_.matches, matches_used_);
  const bool complete = matcher.run(body.kept, limits, body.matches);
  body.found += matcher.found();
  matches_used_ += matcher.found();
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  for (const RuleId rule : body.rules) {
    RuleStatistics& statistics = statistics_[rule.index()];
    statistics.matches += matcher.found();
    statistics.candidates += matcher.candidates();
    statistics.search_seconds += elapsed / static_cast<double>(body.rules.size());
  }
  if (!complete) stopped_ = matcher.found() >= limits.matches ? Stop::matches : Stop::seconds;
  return complete;
}

bool Engine::over_limit(Body& body) {
  if (!backoff_) return false;
  const std::uint64_t shift = std::min<std::uint64_t>(body.times_banned, 32);
  if (body.found <= backoff_->match_limit << shift) return false;
  body.banned_until = iterations_ + 1 + (backoff_->ban_length << shift);
  ++body.times_banned;
  body.found = 0;
  body.matches.clear();
  return true;
}

// True if everything that is new to the body was looked at, so that it is old from now on.
bool Engine::search(Body& body) {
  if (body.query.impossible || body.rules.empty()) return false;
  if (body.banned_until > iterations_) {
    any_banned_ = true;
    return false;
  }
  if (!fresh_since(body)) return false;
  if (cannot_match(body)) return true;
  refresh_plans(body);
  const std::size_t count = body.query.atoms.size();
  const auto run = [&](std::optional<std::size_t> delta) {
    Plan& plan = body.plans[delta.value_or(count)];
    if (plan.steps.empty()) plan = make_plan(database_, body.query, delta, body.last_run);
    return search_once(body, plan);
  };
  if (body.naive || body.last_run == 0 || count == 0) {
    if (!run(std::nullopt)) return false;
  } else {
    for (std::size_t delta = 0; delta < count; ++delta) {
      const Table& table = database_.function(body.query.atoms[delta].function).table;
      const Row boundary = table.first_since(body.last_run);
      if (boundary < table.rows() && !run(delta)) return false;
      if (boundary == 0) break;  // atoms after this one would need an old row of it
    }
  }
  if (over_limit(body)) {
    any_banned_ = true;
    return false;
  }
  return true;
}

}  // namespace luminal::egraph
