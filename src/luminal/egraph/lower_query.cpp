#include "luminal/egraph/lower_query.h"

#include <algorithm>

#include "luminal/support/text.h"

namespace luminal::egraph {

Value constant_value(Atoms& atoms, const Expr& expr) {
  if (expr.kind == Expr::Kind::constant) return expr.value;
  const Literal& literal = expr.literal;
  if (std::holds_alternative<bool>(literal)) return atoms.boolean(std::get<bool>(literal));
  if (std::holds_alternative<std::int64_t>(literal)) return atoms.integer(std::get<std::int64_t>(literal));
  if (std::holds_alternative<double>(literal)) return atoms.real(std::get<double>(literal));
  if (std::holds_alternative<std::string>(literal)) return atoms.text(std::get<std::string>(literal));
  return 0;
}

QueryBuilder::QueryBuilder(const Database& database, const Resolver& resolver, std::uint32_t variables)
    : database_(database), resolver_(resolver), named_(variables) {
  for (std::uint32_t i = 0; i < variables; ++i) fresh();
}

Term QueryBuilder::fresh() {
  parents_.push_back({true, static_cast<std::uint32_t>(parents_.size())});
  return parents_.back();
}

Term QueryBuilder::find(Term term) const {
  while (term.variable && parents_[term.number] != term) term = parents_[term.number];
  return term;
}

void QueryBuilder::equate(Term left, Term right) {
  left = find(left);
  right = find(right);
  if (left == right) return;
  if (!left.variable) std::swap(left, right);
  if (!left.variable) {
    query_.impossible = true;
  } else if (right.variable && right.number > left.number) {
    parents_[right.number] = left;
  } else {
    parents_[left.number] = right;
  }
}

Term QueryBuilder::add(std::uint32_t id) {
  const ResolvedExpr& node = resolver_.node(id);
  switch (node.kind) {
    case ResolvedExpr::Kind::literal:
      return {false, constant_value(database_.atoms(), *node.source)};
    case ResolvedExpr::Kind::variable:
      return {true, node.variable};
    case ResolvedExpr::Kind::global: {
      const Term value = fresh();
      query_.atoms.push_back({node.function, {{false, node.global}, value}});
      return value;
    }
    case ResolvedExpr::Kind::function: {
      Atom atom;
      atom.function = node.function;
      for (const std::uint32_t argument : node.arguments) atom.terms.push_back(add(argument));
      atom.terms.push_back(fresh());
      query_.atoms.push_back(atom);
      return atom.terms.back();
    }
    case ResolvedExpr::Kind::primitive:
      break;
  }
  if (database_.primitive(node.primitive).action) {
    throw ProgramError(cat("primitive ", node.source->name, " can be called in actions only"),
                       node.source->span);
  }
  Computation computation;
  computation.primitive = node.primitive;
  for (const std::uint32_t argument : node.arguments) {
    const bool name = computation.inputs.empty() && node.callee;
    computation.inputs.push_back(name ? Term{false, *node.callee} : add(argument));
  }
  computation.output = fresh();
  query_.computations.push_back(computation);
  return computation.output;
}

bool QueryBuilder::merge_equal_atoms() {
  std::map<std::vector<std::uint64_t>, Term> seen;
  std::vector<Atom> kept;
  bool merged = false;
  for (Atom& atom : query_.atoms) {
    std::vector<std::uint64_t> key = {atom.function.value()};
    for (Term& term : atom.terms) term = find(term);
    for (std::size_t i = 0; i + 1 < atom.terms.size(); ++i) {
      key.push_back(std::uint64_t{atom.terms[i].number} << 1 | (atom.terms[i].variable ? 1 : 0));
    }
    const auto [place, fresh_key] = seen.emplace(std::move(key), atom.terms.back());
    if (fresh_key) {
      kept.push_back(atom);
      continue;
    }
    equate(place->second, atom.terms.back());
    merged = true;
  }
  query_.atoms = std::move(kept);
  return merged;
}

std::string QueryBuilder::name_of(std::uint32_t variable) const {
  for (std::uint32_t i = 0; i < named_; ++i) {
    if (find({true, i}) == Term{true, variable}) return resolver_.variable_name(i);
  }
  return "_";
}

void QueryBuilder::check_grounded(Span span) const {
  std::vector<bool> known(parents_.size(), false);
  const auto note = [&](const Term& term) {
    const bool news = term.variable && !known[term.number];
    if (news) known[term.number] = true;
    return news;
  };
  for (const Atom& atom : query_.atoms) {
    for (const Term& term : atom.terms) note(term);
  }
  const auto is_known = [&](const Term& term) { return !term.variable || known[term.number]; };
  for (bool again = true; again;) {
    again = false;
    for (const Computation& computation : query_.computations) {
      if (std::all_of(computation.inputs.begin(), computation.inputs.end(), is_known)) {
        again = note(computation.output) || again;
      }
    }
  }
  const auto require = [&](const Term& term) {
    if (!is_known(term)) throw ProgramError(cat("variable ", name_of(term.number), " is ungrounded"), span);
  };
  for (const Computation& computation : query_.computations) {
    for (const Term& term : computation.inputs) require(term);
  }
  for (std::uint32_t i = 0; i < named_; ++i) require(find({true, i}));
}

Query QueryBuilder::finish(Span span) {
  while (merge_equal_atoms()) {
  }
  for (Computation& computation : query_.computations) {
    for (Term& term : computation.inputs) term = find(term);
    computation.output = find(computation.output);
  }
  check_grounded(span);
  std::vector<std::uint32_t> numbers(parents_.size(), no_row);
  const auto renumber = [&](Term& term) {
    if (!term.variable) return;
    if (numbers[term.number] == no_row) numbers[term.number] = query_.variables++;
    term.number = numbers[term.number];
  };
  for (Atom& atom : query_.atoms) {
    for (Term& term : atom.terms) renumber(term);
  }
  for (Computation& computation : query_.computations) {
    for (Term& term : computation.inputs) renumber(term);
    renumber(computation.output);
  }
  for (std::uint32_t i = 0; i < named_; ++i) {
    Term term = find({true, i});
    renumber(term);
    places_.push_back(term);
  }
  return query_;
}

}  // namespace luminal::egraph
