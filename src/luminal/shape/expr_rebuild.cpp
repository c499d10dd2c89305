// Walks that rebuild an expression: substitution and simplification.
#include <algorithm>
#include <unordered_map>

#include "luminal/shape/expr_node.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

/// Applies the constructors again, bottom-up, to what `leaf` makes of the variables.
class Rebuild {
 public:
  using Leaf = std::function<std::optional<Expr>(const Expr&)>;

  Rebuild(Leaf leaf, Effort effort) : leaf_(std::move(leaf)), effort_(effort) {}

  Expr operator()(const Expr& e) {
    if (e.is_constant()) return e;
    if (const auto found = done_.find(&e.node()); found != done_.end()) return found->second;
    auto result = e.kind() == Expr::Kind::variable ? variable(e) : operation(e);
    done_.emplace(&e.node(), result);
    return result;
  }

 private:
  Leaf leaf_;
  Effort effort_;
  std::unordered_map<const Expr::Node*, Expr> done_;

  Expr variable(const Expr& e) {
    if (auto replaced = leaf_(e)) return *replaced;
    if (!e.node().is_coordinate) return e;
    const auto extent = (*this)(e.node().children[0]);
    return extent == e.node().children[0] ? e : Expr::coordinate(*e.coordinate_axis(), extent);
  }

  Expr operation(const Expr& e) {
    const auto& node = e.node();
    if (node.kind == Expr::Kind::add) {
      Expr sum = node.value;
      for (const auto& term : node.children) sum = sum + (*this)(term);
      return sum;
    }
    if (node.kind == Expr::Kind::mul) {
      Expr product = node.value;
      for (const auto& atom : node.children) product = product * (*this)(atom);
      return product;
    }
    if (node.kind == Expr::Kind::logical_and || node.kind == Expr::Kind::logical_or) {
      auto parts = flattened(node.kind, e);
      for (auto& part : parts) part = (*this)(part);
      return joined(node.kind, parts);
    }
    return binary(node.kind, (*this)(node.children[0]), (*this)(node.children[1]));
  }

  Expr binary(Expr::Kind kind, const Expr& a, const Expr& b) const {
    switch (kind) {
      case Expr::Kind::div:
        return divide(a, b, effort_);
      case Expr::Kind::mod:
        return remainder(a, b, effort_);
      case Expr::Kind::min:
      case Expr::Kind::max:
        return extremum(kind, a, b, effort_);
      case Expr::Kind::less:
        return compare(a, b, -1);
      case Expr::Kind::less_equal:
        return compare(a, b, 0);
      default:
        return Expr::equal(a, b);
    }
  }

  Expr compare(const Expr& a, const Expr& b, int margin) const {
    try {
      return not_negative(b - a + margin, effort_);
    } catch (const Error&) {
      return margin == 0 ? Expr::less_equal(a, b) : Expr::less(a, b);
    }
  }
};

void collect_variables(const Expr& e, std::vector<Expr>& into) {
  if (e.kind() == Expr::Kind::variable) into.push_back(e);
  const auto count = e.kind() == Expr::Kind::mod ? std::size_t{2} : e.node().children.size();
  for (std::size_t i = 0; i < count; ++i) collect_variables(e.node().children[i], into);
}

}  // namespace
}  // namespace detail

std::vector<Expr> Expr::variables() const {
  std::vector<Expr> result;
  detail::collect_variables(*this, result);
  std::sort(result.begin(), result.end(), [](const Expr& a, const Expr& b) {
    const int by_name = a.name().compare(b.name());
    return by_name != 0 ? by_name < 0 : a < b;
  });
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

bool Expr::depends_on(std::string_view variable_name) const {
  const auto all = variables();
  return std::any_of(all.begin(), all.end(), [&](const Expr& v) { return v.name() == variable_name; });
}

Expr Expr::simplify() const {
  constexpr int max_rounds = 8;
  Expr current = *this;
  try {
    for (int round = 0; round < max_rounds; ++round) {
      auto next =
          detail::Rebuild([](const Expr&) { return std::nullopt; }, detail::Effort::thorough)(current);
      if (next == current) return current;
      current = next;
    }
  } catch (const Error&) {
    return *this;
  }
  return *this;
}

Expr Expr::substitute(const std::map<std::string, Expr, std::less<>>& replacements) const {
  if (is_constant() || replacements.empty()) return *this;
  return detail::Rebuild(
      [&](const Expr& variable) -> std::optional<Expr> {
        const auto found = replacements.find(variable.name());
        if (found == replacements.end()) return std::nullopt;
        return found->second;
      },
      detail::Effort::build)(*this);
}

Expr Expr::substitute_coordinates(std::span<const Expr> coordinates) const {
  if (is_constant()) return *this;
  return detail::Rebuild(
      [&](const Expr& variable) -> std::optional<Expr> {
        const auto axis = variable.coordinate_axis();
        if (!axis) return std::nullopt;
        if (*axis >= coordinates.size()) {
          throw Error(cat("substitute_coordinates: ", variable, " in an array of rank ", coordinates.size()));
        }
        return coordinates[*axis];
      },
      detail::Effort::build)(*this);
}

Expr Expr::substitute(const DimMap& values) const {
  if (is_constant() || values.empty()) return *this;
  return detail::Rebuild(
      [&](const Expr& variable) -> std::optional<Expr> {
        const auto found = values.find(variable.name());
        if (found == values.end()) return std::nullopt;
        return Expr(found->second);
      },
      detail::Effort::build)(*this);
}

}  // namespace luminal
