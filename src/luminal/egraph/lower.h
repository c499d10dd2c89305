#pragma once
#include <string>
#include <vector>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/database.h"
#include "luminal/egraph/engine.h"
#include "luminal/egraph/query.h"

namespace luminal::egraph {

/// A conjunction of facts as a query that also sees subsumed rows. Throws `ProgramError`, as all of these do.
Query lower_facts(const Database& database, const std::vector<Fact>& facts, Span span);

/// A rule's body and head. Functions can be read in the head, and by function values in the body, only if
/// `reads`.
void lower_rule(const Database& database, const std::vector<Fact>& body, const std::vector<Action>& head,
                bool reads, Span span, Rule& rule);

struct LoweredAction {
  Code code;
  /// Of `let` and plain expressions: the value's sort and register.
  SortId sort;
};
/// A top-level action; `code.result` is the register of its value.
LoweredAction lower_action(const Database& database, const Action& action);
LoweredAction lower_expr(const Database& database, const Expr& expr);

/// An expression over `old` and `new` of the function's output sort; it may read other functions.
MergeCode lower_merge(const Database& database, const Expr& expr, SortId output);

}  // namespace luminal::egraph
