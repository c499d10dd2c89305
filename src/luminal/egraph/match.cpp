#include "luminal/egraph/match.h"

#include <algorithm>

namespace luminal::egraph {

Matcher::Matcher(Database& database, const Query& query, const Plan& plan, Stamp since)
    : database_(database),
      plan_(plan),
      see_subsumed_(query.see_subsumed),
      access_(query.access),
      sources_(plan.steps.size()) {
  registers_.resize(query.variables + plan.constants.size());
  std::copy(plan.constants.begin(), plan.constants.end(), registers_.begin() + query.variables);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    widest = std::max(widest, step.inputs.size());
    if (step.kind == Step::Kind::compute) continue;
    Source& source = sources_[i];
    source.table = &database.function(step.function).table;
    source.boundary = step.age == Age::any ? 0 : source.table->first_since(since);
    for (const Step::Cell& cell : step.chains) source.indexes.push_back(&source.table->index(cell.column));
  }
  arguments_.resize(widest);
}

bool Matcher::run(const std::vector<std::uint32_t>& kept, const SearchLimits& limits,
                  std::vector<Value>& matches) {
  kept_ = &kept;
  matches_ = &matches;
  limits_ = limits;
  next_clock_check_ = candidates_;
  return advance(0);
}

bool Matcher::out_of_time() {
  constexpr std::uint64_t interval = 8192;
  next_clock_check_ = candidates_ + interval;
  return limits_.deadline != std::chrono::steady_clock::time_point::max() &&
         std::chrono::steady_clock::now() > limits_.deadline;
}

bool Matcher::emit() {
  if (found_ >= limits_.matches) return false;
  ++found_;
  for (const std::uint32_t variable : *kept_) matches_->push_back(registers_[variable]);
  return true;
}

inline bool Matcher::visible(const Step& step, const Source& source, Row row) const {
  if (step.age == Age::old && row >= source.boundary) return false;
  if (step.age == Age::fresh && row < source.boundary) return false;
  return see_subsumed_ ? !source.table->dead(row) : source.table->matchable(row);
}

inline bool Matcher::accept(const Step& step, const Source& source, Row row) {
  const Value* cells = source.table->row(row);
  for (const Step::Cell& cell : step.checks) {
    if (cells[cell.column] != registers_[cell.reg]) return false;
  }
  for (const auto& [first, second] : step.equal_columns) {
    if (cells[first] != cells[second]) return false;
  }
  for (const Step::Cell& cell : step.binds) registers_[cell.reg] = cells[cell.column];
  return true;
}

inline bool Matcher::lookup(const Step& step, const Source& source) {
  ++candidates_;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) arguments_[i] = registers_[step.inputs[i]];
  const Row row = source.table->find(arguments_.data());
  return row != no_row && visible(step, source, row) && accept(step, source, row);
}

inline bool Matcher::compute(const Step& step) {
  for (std::size_t i = 0; i < step.inputs.size(); ++i) arguments_[i] = registers_[step.inputs[i]];
  const Primitive& primitive = database_.primitive(step.primitive);
  const std::span<const Value> arguments(arguments_.data(), step.inputs.size());
  const auto result = primitive.body ? primitive.body(database_.atoms(), arguments)
                                     : database_.call(step.primitive, access_, arguments);
  if (!result) return false;
  if (step.check_result) return registers_[step.result] == *result;
  registers_[step.result] = *result;
  return true;
}

bool Matcher::advance(std::size_t number) {
  for (; number < plan_.steps.size(); ++number) {
    const Step& step = plan_.steps[number];
    switch (step.kind) {
      case Step::Kind::compute:
        if (!compute(step)) return true;
        break;
      case Step::Kind::lookup:
        if (!lookup(step, sources_[number])) return true;
        break;
      case Step::Kind::chain:
        return walk_chain(number);
      case Step::Kind::scan:
        return walk_rows(number);
    }
  }
  return emit();
}

bool Matcher::walk_chain(std::size_t number) {
  const Step& step = plan_.steps[number];
  const Source& source = sources_[number];
  const ColumnIndex* index = source.indexes[0];
  ColumnIndex::Chain chain = index->chain(registers_[step.chains[0].reg]);
  for (std::size_t i = 1; i < step.chains.size() && chain.length > 2; ++i) {
    const ColumnIndex::Chain other = source.indexes[i]->chain(registers_[step.chains[i].reg]);
    if (other.length < chain.length) {
      chain = other;
      index = source.indexes[i];
    }
  }
  for (Row row = chain.head; row != no_row; row = index->next(row)) {
    if (step.age == Age::fresh && row < source.boundary) break;
    if (++candidates_ >= next_clock_check_ && out_of_time()) return false;
    if (!visible(step, source, row) || !accept(step, source, row)) continue;
    if (!advance(number + 1)) return false;
  }
  return true;
}

bool Matcher::walk_rows(std::size_t number) {
  const Step& step = plan_.steps[number];
  const Source& source = sources_[number];
  const Row first = step.age == Age::fresh ? source.boundary : 0;
  const Row last = step.age == Age::old ? source.boundary : source.table->rows();
  for (Row row = first; row < last; ++row) {
    if (++candidates_ >= next_clock_check_ && out_of_time()) return false;
    if (!visible(step, source, row) || !accept(step, source, row)) continue;
    if (!advance(number + 1)) return false;
  }
  return true;
}

}  // namespace luminal::egraph
