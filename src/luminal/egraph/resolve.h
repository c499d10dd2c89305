#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/egraph/ast.h"
#include "luminal/egraph/database.h"

namespace luminal::egraph {

/// An expression whose names are known: what they call, and of which sort it is.
struct ResolvedExpr {
  enum class Kind : std::uint8_t { literal, variable, global, function, primitive };
  Kind kind = Kind::literal;
  const Expr* source = nullptr;
  std::uint32_t slot = 0;
  std::uint32_t variable = 0;
  FunctionId function;
  Value global = 0;  // a global's number in its function
  PrimitiveId primitive;
  std::vector<std::uint32_t> arguments;
  /// Of a function value: what its name means.
  std::optional<Value> callee;
};

/// Finds what names mean and which sorts expressions have, for the expressions of one rule or action
/// together: an overloaded primitive is decided by whatever is known around it. Throws `ProgramError` for
/// unbound names, wrong arities, sorts that do not fit, and sorts that nothing decides. The expressions must
/// outlive the resolver.
class Resolver {
 public:
  explicit Resolver(const Database& database) : database_(database) {}

  /// A pattern: an unknown name is a new variable, `_` always is.
  std::uint32_t add_pattern(const Expr& expr);
  /// An expression to evaluate: every name must be known.
  std::uint32_t add_value(const Expr& expr);
  /// Names a value for the expressions added from now on.
  std::uint32_t bind(const std::string& name, std::uint32_t node, Span span);
  std::uint32_t declare(const std::string& name, SortId sort);
  void equate(std::uint32_t left, std::uint32_t right);
  /// The expression must be of this sort.
  void expect(std::uint32_t node, SortId sort);
  /// Decides everything that is open.
  void solve();

  const ResolvedExpr& node(std::uint32_t id) const { return nodes_[id]; }
  /// After `solve`.
  SortId sort(std::uint32_t node) const { return slots_[root(nodes_[node].slot)].sort; }
  std::size_t variable_count() const { return variables_.size(); }
  const std::string& variable_name(std::uint32_t variable) const { return variables_[variable].name; }

 private:
  struct Slot {
    std::uint32_t parent;
    SortId sort;
  };
  struct Variable {
    std::string name;
    std::uint32_t slot;
    const Expr* first_use;
  };
  std::uint32_t add(const Expr& expr);
  std::uint32_t add_name(const Expr& expr);
  void add_call(const Expr& expr, ResolvedExpr& node);
  void check_name(const Expr& expr) const;
  std::uint32_t new_slot();
  std::uint32_t root(std::uint32_t slot) const;
  void assign(std::uint32_t slot, SortId sort, const Expr& expr);
  void unify(std::uint32_t a, std::uint32_t b, const Expr& expr);
  /// What a function value's name can mean, and the sorts of the arguments it is given.
  struct Target {
    Value callee;
    std::vector<SortId> given;
  };
  std::vector<Target> targets(const ResolvedExpr& node, const Sort& sort) const;
  bool fits(const ResolvedExpr& node, std::span<const SortId> inputs) const;
  bool viable(const ResolvedExpr& node, const Primitive& primitive) const;
  bool decide(ResolvedExpr& node);
  void apply(const ResolvedExpr& node, const Primitive& primitive);
  [[noreturn]] void refuse(const ResolvedExpr& node) const;
  std::string sort_name(std::uint32_t slot) const;

  const Database& database_;
  bool patterns_ = false;
  std::vector<ResolvedExpr> nodes_;
  std::vector<Slot> slots_;
  std::vector<Variable> variables_;
  std::map<std::string, std::uint32_t, std::less<>> names_;
  std::vector<std::uint32_t> undecided_;
};

}  // namespace luminal::egraph
