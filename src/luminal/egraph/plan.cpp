#include "luminal/egraph/plan.h"

#include <algorithm>
#include <limits>

namespace luminal::egraph {
namespace {

class Planner {
 public:
  Planner(Database& database, const Query& query, std::optional<std::size_t> delta, Stamp since)
      : database_(database),
        query_(query),
        delta_(delta),
        since_(since),
        known_(query.variables, false),
        values_(query.variables) {}

  Plan plan() {
    std::vector<bool> atom_done(query_.atoms.size(), false);
    computation_done_.assign(query_.computations.size(), false);
    place_computations();
    for (std::size_t placed = 0; placed < query_.atoms.size(); ++placed) {
      std::size_t best = query_.atoms.size();
      double best_rows = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < query_.atoms.size(); ++i) {
        if (atom_done[i]) continue;
        const double rows = expected_rows(i);
        if (rows < best_rows || best == query_.atoms.size()) {
          best = i;
          best_rows = rows;
        }
      }
      atom_done[best] = true;
      place_atom(best);
      place_computations();
    }
    return std::move(plan_);
  }

 private:
  bool known(const Term& term) const { return !term.variable || known_[term.number]; }

  std::uint32_t reg(const Term& term) {
    if (term.variable) return term.number;
    const auto found = std::find(plan_.constants.begin(), plan_.constants.end(), term.number);
    const auto position = static_cast<std::uint32_t>(found - plan_.constants.begin());
    if (found == plan_.constants.end()) plan_.constants.push_back(term.number);
    return query_.variables + position;
  }

  // What a term is while planning already: a constant, or what a row found by constants alone holds.
  std::optional<Value> value_of(const Term& term) const {
    return term.variable ? values_[term.number] : std::optional<Value>(term.number);
  }

  // How many rows of a table hold a term's value in a column: exactly where the value is known, for a list's
  // end is in more rows than any other tail; else on average; a guess if the column has no index yet.
  double rows_per_value(const Function& function, std::size_t column, const Term& term) const {
    const auto live = static_cast<double>(function.table.live());
    const ColumnIndex* index = function.table.ready_index(column);
    if (index == nullptr)
      return column == function.inputs.size() ? std::max(1.0, live / 64) : std::max(1.0, live / 16);
    if (const auto value = value_of(term)) return static_cast<double>(index->chain(*value).length);
    return live / static_cast<double>(std::max<std::size_t>(1, index->distinct()));
  }

  Age age(std::size_t atom) const {
    if (!delta_ || atom > *delta_) return Age::any;
    return atom == *delta_ ? Age::fresh : Age::old;
  }

  double expected_rows(std::size_t i) const {
    const Atom& atom = query_.atoms[i];
    const Function& function = database_.function(atom.function);
    const std::size_t inputs = function.inputs.size();
    auto rows = static_cast<double>(function.table.live());
    if (age(i) == Age::fresh) {
      rows = std::min(rows, static_cast<double>(function.table.rows() - function.table.first_since(since_)));
    }
    const double all = std::max(1.0, static_cast<double>(function.table.live()));
    bool key_known = true;
    double fraction = 1;
    for (std::size_t column = 0; column <= inputs; ++column) {
      if (!known(atom.terms[column])) {
        key_known = key_known && column == inputs;
        continue;
      }
      fraction *= std::min(1.0, rows_per_value(function, column, atom.terms[column]) / all);
    }
    // A single row found by its key beats everything; of two such, the one that also checks its output.
    if (key_known) return known(atom.terms[inputs]) ? 0.25 : 0.5;
    return rows * fraction + (fraction < 1 ? 0.75 : 1);
  }

  void place_atom(std::size_t i) {
    const Atom& atom = query_.atoms[i];
    const Function& function = database_.function(atom.function);
    const std::size_t inputs = function.inputs.size();
    Step step;
    step.function = atom.function;
    step.age = age(i);
    bool key_known = true;
    for (std::size_t column = 0; column < inputs; ++column)
      key_known = key_known && known(atom.terms[column]);
    if (key_known) {
      step.kind = Step::Kind::lookup;
      for (std::size_t column = 0; column < inputs; ++column) step.inputs.push_back(reg(atom.terms[column]));
    }
    std::vector<std::uint32_t> first_column(query_.variables, no_row);
    for (std::uint32_t column = key_known ? static_cast<std::uint32_t>(inputs) : 0; column <= inputs;
         ++column) {
      const Term& term = atom.terms[column];
      if (known(term)) {
        step.checks.push_back({column, reg(term)});
      } else if (first_column[term.number] != no_row) {
        step.equal_columns.emplace_back(first_column[term.number], column);
      } else {
        first_column[term.number] = column;
        step.binds.push_back({column, term.number});
      }
    }
    if (!key_known && !step.checks.empty()) choose_chains(function, atom, step);
    for (const Step::Cell& cell : step.binds) known_[cell.reg] = true;
    if (key_known) find_value(function, atom);
    plan_.steps.push_back(std::move(step));
  }

  // The output of a row whose key is known while planning, such as a nullary constructor's.
  void find_value(const Function& function, const Atom& atom) {
    const Term& output = atom.terms[function.inputs.size()];
    if (!output.variable) return;
    std::vector<Value> key;
    for (std::size_t column = 0; column < function.inputs.size(); ++column) {
      const auto value = value_of(atom.terms[column]);
      if (!value) return;
      key.push_back(*value);
    }
    const Row row = function.table.find(key.data());
    if (row != no_row) values_[output.number] = function.table.output(row);
  }

  // Two indexes at most: the run-time choice between them avoids the worst chains, more would cost upkeep.
  void choose_chains(const Function& function, const Atom& atom, Step& step) const {
    step.kind = Step::Kind::chain;
    step.chains = step.checks;
    std::sort(step.chains.begin(), step.chains.end(), [&](const Step::Cell& a, const Step::Cell& b) {
      return std::pair(rows_per_value(function, a.column, atom.terms[a.column]), a.column) <
             std::pair(rows_per_value(function, b.column, atom.terms[b.column]), b.column);
    });
    if (step.chains.size() > 2) step.chains.resize(2);
  }

  void place_computations() {
    bool again = true;
    while (again) {
      again = false;
      for (std::size_t i = 0; i < query_.computations.size(); ++i) {
        const Computation& computation = query_.computations[i];
        const bool ready = std::all_of(computation.inputs.begin(), computation.inputs.end(),
                                       [&](const Term& term) { return known(term); });
        if (computation_done_[i] || !ready) continue;
        computation_done_[i] = true;
        again = true;
        Step step;
        step.kind = Step::Kind::compute;
        step.primitive = computation.primitive;
        for (const Term& term : computation.inputs) step.inputs.push_back(reg(term));
        step.check_result = known(computation.output);
        step.result = reg(computation.output);
        if (!step.check_result) known_[computation.output.number] = true;
        plan_.steps.push_back(std::move(step));
      }
    }
  }

  Database& database_;
  const Query& query_;
  std::optional<std::size_t> delta_;
  Stamp since_;
  std::vector<bool> known_;
  std::vector<std::optional<Value>> values_;
  std::vector<bool> computation_done_;
  Plan plan_;
};

}  // namespace

Plan make_plan(Database& database, const Query& query, std::optional<std::size_t> delta, Stamp since) {
  return Planner(database, query, delta, since).plan();
}

}  // namespace luminal::egraph
