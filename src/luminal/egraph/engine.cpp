#include "luminal/egraph/engine.h"

#include <algorithm>

#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t budget_interval = 256;
// Every restart searches anew, and each brings the e-graph closer to its budget.
constexpr int most_restarts = 10;

// How many matches an instruction takes at a time. Where several instructions write to functions, matches go
// one by one, so that the writes keep the order of the matches.
std::size_t batch_size(const Code& code) {
  constexpr std::size_t full = 32;
  const auto writes =
      std::count_if(code.instructions.begin(), code.instructions.end(), [](const Instruction& i) {
        return i.kind == Instruction::Kind::set || i.kind == Instruction::Kind::fail;
      });
  return writes > 1 ? 1 : full;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
}  // namespace

Engine::Engine() {
  add_ruleset("");
}

RulesetId Engine::add_ruleset(std::string name) {
  const RulesetId id(rulesets_.size());
  ruleset_names_.emplace(name, id);
  rulesets_.push_back({std::move(name), {}, false, {}});
  return id;
}

RulesetId Engine::add_combined_ruleset(std::string name, std::vector<RulesetId> parts) {
  const RulesetId id = add_ruleset(std::move(name));
  rulesets_.back().is_combined = true;
  rulesets_.back().parts = std::move(parts);
  return id;
}

std::optional<RulesetId> Engine::find_ruleset(std::string_view name) const {
  const auto found = ruleset_names_.find(name);
  if (found == ruleset_names_.end()) return std::nullopt;
  return found->second;
}

RuleId Engine::add_rule(Rule rule) {
  const RuleId id(rules_.size());
  if (!rule_names_.emplace(rule.name, id).second) {
    throw ProgramError(cat("rule '", rule.name, "' was already present"), Span{});
  }
  const std::size_t number = body_for(rule);
  Body& body = bodies_[number];
  body.rules.push_back(id);
  for (const std::uint32_t variable : rule.head_variables) {
    if (std::find(body.kept.begin(), body.kept.end(), variable) == body.kept.end())
      body.kept.push_back(variable);
  }
  statistics_.push_back({rule.name, 0, 0, 0, 0});
  rules_.push_back(std::move(rule));
  return id;
}

// A body that has run is not shared: a new rule has to see everything once.
std::size_t Engine::body_for(const Rule& rule) {
  Ruleset& ruleset = rulesets_[rule.ruleset.index()];
  std::string signature = rule.query.signature();
  for (const std::size_t number : ruleset.bodies) {
    const Body& body = bodies_[number];
    if (body.last_run == 0 && body.naive == rule.naive && body.signature == signature) return number;
  }
  Body body;
  body.query = rule.query;
  body.signature = std::move(signature);
  body.naive = rule.naive;
  for (const Atom& atom : rule.query.atoms) {
    if (std::find(body.functions.begin(), body.functions.end(), atom.function) == body.functions.end()) {
      body.functions.push_back(atom.function);
    }
  }
  body.unjoined = pairs_.pairs_of(rule.query);
  bodies_.push_back(std::move(body));
  waits_for_.push_back(no_obstacle);
  ruleset.bodies.push_back(bodies_.size() - 1);
  return bodies_.size() - 1;
}

void Engine::collect(RulesetId id, std::vector<std::size_t>& bodies) const {
  const Ruleset& ruleset = rulesets_[id.index()];
  bodies.insert(bodies.end(), ruleset.bodies.begin(), ruleset.bodies.end());
  for (const RulesetId part : ruleset.parts) collect(part, bodies);
}

bool Engine::step(RulesetId ruleset) {
  if (stopped_ != Stop::finished) return false;
  std::vector<std::size_t> bodies;
  collect(ruleset, bodies);
  if (!rulesets_[ruleset.index()].parts.empty()) {  // else they are in order
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
  }
  const std::uint64_t before = database_.changes();
  changes_before_step_ = before;
  any_banned_ = false;
  const std::vector<std::size_t> complete = search_all(bodies);
  database_.advance();
  if (!apply_in_time(bodies)) stopped_ = Stop::seconds;
  changes_before_step_ = database_.changes();
  if (stopped_ == Stop::finished) {
    for (const std::size_t number : complete) bodies_[number].last_run = database_.now();
  } else if (database_.changes() != before && restarts_ < most_restarts && has_room()) {
    ++restarts_;
    stopped_ = Stop::finished;
  }
  ++iterations_;
  note_budget();
  return database_.changes() != before || any_banned_;
}

// A function that may not be called where it is stops the program.
std::vector<std::size_t> Engine::search_all(std::vector<std::size_t>& bodies) {
  try {
    return search(bodies);
  } catch (const ProgramError&) {
    forget_matches(bodies);
    throw;
  }
}

// Whether a step with so many matches may not end before the deadline.
bool Engine::at_risk(std::uint64_t matches) const {
  constexpr double doubt = 4;
  if (deadline_ == Clock::time_point::max() || matches == 0) return false;
  return seconds_since(deadline_) + doubt * seconds_per_match_ * static_cast<double>(matches) >= 0;
}

// A step that may take too long can be undone: its repair cannot stop half way.
bool Engine::apply_in_time(const std::vector<std::size_t>& bodies) {
  std::uint64_t matches = 0;
  for (const std::size_t number : bodies) matches += bodies_[number].found;
  const auto start = Clock::now();
  if (!at_risk(matches)) {
    apply_all(bodies, Clock::time_point::max());
  } else {
    Database copy = database_;
    try {
      apply_all(bodies, deadline_);
    } catch (const OutOfTime&) {
      forget_matches(bodies);
      database_.restore(std::move(copy));
      return false;
    }
  }
  if (matches != 0) seconds_per_match_ = seconds_since(start) / static_cast<double>(matches);
  return true;
}

// If an action fails, what the others did stays, the rest is forgotten.
void Engine::apply_all(const std::vector<std::size_t>& bodies, Clock::time_point deadline) {
  try {
    const std::uint64_t before = database_.changes();
    for (const std::size_t number : bodies) apply(bodies_[number]);
    const auto start = Clock::now();
    const std::uint64_t applied = database_.changes() - before;
    database_.rebuild(deadline);
    const double rebuilding = seconds_since(start);
    rebuild_seconds_ += rebuilding;
    if (applied != 0) seconds_per_change_ = rebuilding / static_cast<double>(applied);
  } catch (const ProgramError&) {
    database_.discard();
    database_.blame(RuleId());
    forget_matches(bodies);
    throw;
  }
}

void Engine::forget_matches(const std::vector<std::size_t>& bodies) {
  for (const std::size_t number : bodies) {
    bodies_[number].found = 0;
    bodies_[number].matches.clear();
  }
}

void Engine::apply(Body& body) {
  if (body.found == 0) return;
  for (const RuleId rule : body.rules) {
    apply_rule(body, rule);
    if (stopped_ != Stop::finished) break;
  }
  body.found = 0;
  body.matches.clear();
}

void Engine::apply_rule(Body& body, RuleId id) {
  const auto start = Clock::now();
  const Rule& rule = rules_[id.index()];
  database_.blame(id);
  std::vector<std::size_t> positions;
  positions.reserve(rule.head_variables.size());
  for (const std::uint32_t variable : rule.head_variables) {
    positions.push_back(static_cast<std::size_t>(std::find(body.kept.begin(), body.kept.end(), variable) -
                                                 body.kept.begin()));
  }
  const std::size_t files = batch_size(rule.head);
  const std::size_t width = rule.head.registers;
  std::vector<Value> registers(width * files);
  for (std::size_t file = 0; file < files; ++file) {
    std::copy(rule.head.constants.begin(), rule.head.constants.end(),
              registers.begin() + static_cast<std::ptrdiff_t>(file * width + rule.head.inputs));
  }
  const std::size_t stride = body.kept.size();
  for (std::uint64_t match = 0; match < body.found && stopped_ == Stop::finished; match += files) {
    const std::size_t count = std::min<std::uint64_t>(files, body.found - match);
    for (std::size_t file = 0; file < count; ++file) {
      const Value* cells = body.matches.data() + (match + file) * stride;
      for (std::size_t i = 0; i < positions.size(); ++i) registers[file * width + i] = cells[positions[i]];
    }
    database_.execute_batch(rule.head, registers.data(), count);
    if (match / budget_interval != (match + files) / budget_interval) note_budget();
  }
  database_.blame(RuleId());
  statistics_[id.index()].apply_seconds += seconds_since(start);
}

void Engine::set_budget(const Budget& budget) {
  budget_ = budget;
  stopped_ = Stop::finished;
  matches_used_ = 0;
  restarts_ = 0;
  deadline_ = Clock::time_point::max();
  if (budget.seconds < 1e9) {
    deadline_ = Clock::now() +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget.seconds));
  }
}

// Rebuilding needs room too: it writes rows anew before the old ones are forgotten.
bool Engine::over_bytes(std::size_t used) const {
  constexpr double share = 0.93;
  return static_cast<double>(used) >= share * static_cast<double>(budget_.bytes);
}

void Engine::note_budget() {
  if (stopped_ != Stop::finished) return;
  peak_bytes_ = std::max(peak_bytes_, database_.bytes());
  if (database_.live_rows() >= budget_.rows) {
    stopped_ = Stop::rows;
  } else if (budget_.bytes != std::numeric_limits<std::uint64_t>::max() &&
             over_bytes(database_.used_bytes())) {
    stopped_ = Stop::bytes;
  } else if (deadline_ != Clock::time_point::max()) {
    const double ahead =
        seconds_per_change_ * static_cast<double>(database_.changes() - changes_before_step_);
    if (seconds_since(deadline_) + ahead >= 0) stopped_ = Stop::seconds;
  }
}

// Rebuilding may have merged so many rows, or taken so little time, that there is room again; what was not
// applied is then found once more.
bool Engine::has_room() const {
  constexpr double full = 0.9;
  if (stopped_ == Stop::seconds) return seconds_since(deadline_) < -(1 - full) * budget_.seconds;
  if (stopped_ != Stop::rows && stopped_ != Stop::bytes) return false;
  return static_cast<double>(database_.live_rows()) < full * static_cast<double>(budget_.rows) &&
         static_cast<double>(database_.used_bytes()) < full * static_cast<double>(budget_.bytes);
}

bool Engine::holds(const Query& query) {
  if (query.impossible) return false;
  const Plan plan = make_plan(database_, query, std::nullopt, 0);
  Matcher matcher(database_, query, plan, 0);
  std::vector<Value> matches;
  SearchLimits limits;
  limits.matches = 1;
  matcher.run({}, limits, matches);
  return matcher.found() != 0;
}

std::vector<Value> Engine::values(const Query& query, std::uint32_t variable) {
  std::vector<Value> matches;
  if (query.impossible) return matches;
  const Plan plan = make_plan(database_, query, std::nullopt, 0);
  Matcher matcher(database_, query, plan, 0);
  matcher.run({variable}, {}, matches);
  return matches;
}

}  // namespace luminal::egraph
