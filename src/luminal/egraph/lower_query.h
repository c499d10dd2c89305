#pragma once
#include <map>
#include <optional>
#include <vector>

#include "luminal/egraph/query.h"
#include "luminal/egraph/resolve.h"

namespace luminal::egraph {

/// The value of a literal or constant.
Value constant_value(Atoms& atoms, const Expr& expr);

/// Flattens nested patterns into atoms and computations. Equated places become one variable, and two atoms of
/// one function with the same inputs become one atom.
class QueryBuilder {
 public:
  /// The first `variables` of the resolver's variables are the query's; the rest belong to a rule's head.
  QueryBuilder(const Database& database, const Resolver& resolver, std::uint32_t variables);

  /// The place that holds the expression's value.
  Term add(std::uint32_t node);
  void equate(Term left, Term right);
  /// Renumbers densely. Throws `ProgramError` for a variable that nothing gives a value.
  Query finish(Span span);
  /// After `finish`: where a variable of the resolver is now.
  Term place(std::uint32_t variable) const { return places_[variable]; }

 private:
  Term fresh();
  Term find(Term term) const;
  bool merge_equal_atoms();
  void check_grounded(Span span) const;
  std::string name_of(std::uint32_t variable) const;

  const Database& database_;
  const Resolver& resolver_;
  std::uint32_t named_;
  std::vector<Term> parents_;
  Query query_;
  std::vector<Term> places_;
};

}  // namespace luminal::egraph
