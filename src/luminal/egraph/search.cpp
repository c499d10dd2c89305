#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <thread>
#include <utility>

#include "luminal/egraph/engine.h"

namespace luminal::egraph {
namespace {
using Clock = std::chrono::steady_clock;
}  // namespace

// Looks only at what costs a few instructions: the table, the row of a constant key, an index that exists
// anyway.
bool Engine::lacks_rows(const Atom& atom) {
  Function& function = database_.function(atom.function);
  Table& table = function.table;
  if (table.live() == 0) return true;
  std::vector<Value> key;
  for (std::size_t column = 0; column < function.inputs.size(); ++column) {
    if (atom.terms[column].variable) continue;
    key.push_back(atom.terms[column].number);
    if (table.ready_index(column) != nullptr && table.index(column).chain(key.back()).length == 0)
      return true;
  }
  return !key.empty() && key.size() == function.inputs.size() && table.find(key.data()) == no_row;
}

std::uint32_t Engine::obstacle_of(const Atom& atom, std::optional<std::uint32_t> join) {
  std::vector<std::uint32_t> key;
  if (join) {
    key = {*join};
  } else {
    key = {atom.function.value(), 0};
    for (std::uint32_t column = 0; column < atom.terms.size(); ++column) {
      if (!atom.terms[column].variable) key.insert(key.end(), {column, atom.terms[column].number});
    }
  }
  const auto [place, fresh] =
      obstacle_numbers_.emplace(std::move(key), static_cast<std::uint32_t>(obstacles_.size()));
  if (fresh) obstacles_.push_back({atom, join, std::numeric_limits<std::uint64_t>::max(), false});
  return place->second;
}

// Looked at once in a step, whoever asks.
bool Engine::is_there(Obstacle& obstacle) {
  if (obstacle.looked_at == database_.changes()) return obstacle.there;
  obstacle.looked_at = database_.changes();
  obstacle.there = obstacle.join ? !pairs_.joined(database_, *obstacle.join) : lacks_rows(obstacle.atom);
  return obstacle.there;
}

std::uint32_t Engine::find_obstacle(Body& body) {
  for (const Atom& atom : body.query.atoms) {
    if (lacks_rows(atom)) return obstacle_of(atom, std::nullopt);
  }
  // The join of the smallest tables comes last, for every new row of what is waited for will be looked at.
  std::sort(body.unjoined.begin(), body.unjoined.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(pairs_.rows(database_, a), a) > std::pair(pairs_.rows(database_, b), b);
  });
  while (!body.unjoined.empty()) {
    const std::uint32_t obstacle = obstacle_of({}, body.unjoined.back());
    if (is_there(obstacles_[obstacle])) return obstacle;
    body.unjoined.pop_back();
  }
  return no_obstacle;
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
    const auto fresh =
        static_cast<std::uint32_t>(std::bit_width(table.rows() - table.first_since(body.last_run)) / 3);
    sizes.push_back(live * 64 + fresh);
  }
  if (sizes == body.planned_sizes && !body.plans.empty()) return;
  body.planned_sizes = std::move(sizes);
  body.plans.assign(body.query.atoms.size() + 1, Plan{});
}

// Adds what has to be run for a body. True if nothing that is new to it will then be unseen.
bool Engine::prepare(std::size_t number, std::vector<Job>& jobs) {
  Body& body = bodies_[number];
  if (body.query.impossible || body.rules.empty()) return false;
  if (body.banned_until > iterations_) {
    any_banned_ = true;
    return false;
  }
  if (!fresh_since(body)) return false;
  waits_for_[number] = find_obstacle(body);
  if (waits_for_[number] != no_obstacle) return true;
  refresh_plans(body);
  const std::size_t count = body.query.atoms.size();
  const auto add = [&](std::optional<std::size_t> delta) {
    Plan& plan = body.plans[delta.value_or(count)];
    if (plan.steps.empty()) plan = make_plan(database_, body.query, delta, body.last_run);
    jobs.push_back({number, Matcher(database_, body.query, plan, body.last_run), {}, 0, true});
  };
  if (body.naive || body.last_run == 0 || count == 0) {
    add(std::nullopt);
    return true;
  }
  for (std::size_t delta = 0; delta < count; ++delta) {
    const Table& table = database_.function(body.query.atoms[delta].function).table;
    const Row boundary = table.first_since(body.last_run);
    if (boundary < table.rows()) add(delta);
    if (boundary == 0) break;  // atoms after this one would need an old row of it
  }
  return true;
}

void Engine::run_job(Job& job, std::vector<Value>& matches) {
  const auto start = Clock::now();
  SearchLimits limits;
  limits.deadline = deadline_;
  limits.matches = budget_.matches - std::min(budget_.matches, matches_used_);
  job.complete = job.matcher.run(bodies_[job.body].kept, limits, matches);
  job.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

// Jobs with computations intern new atoms, so they run on this thread; the others only read.
void Engine::run_in_parallel(std::vector<Job>& jobs) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) {
      if (bodies_[jobs[i].body].query.computations.empty()) run_job(jobs[i], jobs[i].matches);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < threads_; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  for (Job& job : jobs) {
    if (!bodies_[job.body].query.computations.empty()) run_job(job, job.matches);
  }
}

void Engine::run_jobs(std::vector<Job>& jobs) {
  const bool parallel = threads_ > 1 && jobs.size() > 1;
  if (parallel) run_in_parallel(jobs);
  for (Job& job : jobs) {
    Body& body = bodies_[job.body];
    if (stopped_ != Stop::finished) return;
    if (parallel) {
      body.matches.insert(body.matches.end(), job.matches.begin(), job.matches.end());
    } else {
      run_job(job, body.matches);
    }
    const std::uint64_t found = job.matcher.found();
    body.found += found;
    matches_used_ += found;
    for (const RuleId rule : body.rules) {
      RuleStatistics& statistics = statistics_[rule.index()];
      statistics.matches += found;
      statistics.candidates += job.matcher.candidates();
      statistics.search_seconds += job.seconds / static_cast<double>(body.rules.size());
    }
    if (!job.complete) stopped_ = matches_used_ >= budget_.matches ? Stop::matches : Stop::seconds;
  }
}

bool Engine::over_limit(Body& body) {
  if (!backoff_) return false;
  const std::uint64_t shift = std::min<std::uint64_t>(body.times_banned, 32);
  if (body.found <= backoff_->match_limit << shift) return false;
  body.banned_until = iterations_ + 1 + (backoff_->ban_length << shift);
  ++body.times_banned;
  body.found = 0;
  body.matches.clear();
  any_banned_ = true;
  return true;
}

// Leaves only the bodies that may have matches, and collects these. Returns those that have now seen
// everything there is. A body that waits has no match, so what it will see when it wakes is still new to it.
std::vector<std::size_t> Engine::search(std::vector<std::size_t>& bodies) {
  std::erase_if(bodies, [&](std::size_t number) {
    const std::uint32_t obstacle = waits_for_[number];
    return obstacle != no_obstacle && is_there(obstacles_[obstacle]);
  });
  std::vector<std::size_t> complete;
  std::vector<Job> jobs;
  for (const std::size_t number : bodies) {
    if (prepare(number, jobs)) complete.push_back(number);
  }
  run_jobs(jobs);
  std::erase_if(complete, [&](std::size_t number) { return over_limit(bodies_[number]); });
  return complete;
}

}  // namespace luminal::egraph
