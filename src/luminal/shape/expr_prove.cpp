// Proofs that an expression is never negative. The expression is a polynomial over atoms; atoms are replaced
// one by one by bounds that make it smaller, deepest first, until intervals decide. Nothing here builds a
// division, so a proof may run while one is being built.
#include <algorithm>

#include "luminal/shape/expr_facts.h"
#include "luminal/shape/expr_node.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

class Prover {
 public:
  Prover(const Expr& claim, Effort effort, const Given& given)
      : facts_(claim, given),
        assumed_(facts_.sums()),
        effort_(effort),
        steps_(effort == Effort::build ? 24 : 400) {}

  bool not_negative(const Expr& claim) {
    if (at_least(claim, 0)) return true;
    if (at_most(claim, -1) || claim.is_constant() || too_large(claim) || --steps_ < 0) return false;
    const auto shifted = shift(claim);
    if (at_least(shifted, 0)) return true;
    return by_bounds(shifted) || by_assumption(shifted) || by_cases(shifted);
  }

 private:
  Facts facts_;
  std::vector<Expr> assumed_;  // each is at least 0 in the case at hand
  Effort effort_;
  int steps_;

  /// Large polynomials come from hostile input or from long chains of reshapes rather than from models, and
  /// would take long: writing variables as their least value and more expands every power. While building,
  /// there are many claims, and a proof must cost no more than the expression it saves.
  bool too_large(const Expr& claim) const {
    const bool building = effort_ == Effort::build;
    const std::size_t max_terms = building ? 24 : 48;
    const std::size_t max_degree = building ? 5 : 12;
    const std::uint32_t max_nodes = building ? 128 : max_size;
    const auto terms = terms_of(claim);
    return terms.size() > max_terms || term_of(terms[0]).atoms.size() > max_degree ||
           claim.node().size > max_nodes;
  }

  /// Replaces the deepest atom that has a usable bound.
  bool by_bounds(const Expr& claim) {
    for (const auto& atom : atoms_of(claim)) {
      const auto parts = linear_in(claim, atom);
      if (!parts) continue;
      const bool rising = at_least(parts->coefficient, 0);
      if (!rising && !at_most(parts->coefficient, 0)) continue;
      if (const auto decided = without(atom, *parts, rising)) return *decided;
    }
    return false;
  }

  /// claim ≥ 0 follows from claim − k·assumed ≥ 0 for k ≥ 0; tried where that cancels a term. An assumption
  /// is used once on the way down, so this ends.
  bool by_assumption(const Expr& claim) {
    for (std::size_t i = 0; i < assumed_.size(); ++i) {
      const auto assumed = shift(assumed_[i]);
      const auto times = matching_multiple(claim, assumed);
      if (!times) continue;
      const auto kept = assumed_;
      assumed_.erase(assumed_.begin() + static_cast<std::ptrdiff_t>(i));
      const bool proved = not_negative(claim - *times * assumed);
      assumed_ = kept;
      if (proved) return true;
    }
    return false;
  }

  /// The k > 0 for which some term of k·part is one of `claim`.
  static std::optional<Expr> matching_multiple(const Expr& claim, const Expr& part) {
    for (const auto& wanted : terms_of(part)) {
      for (const auto& term : terms_of(claim)) {
        const auto times = divide_term(term, wanted);
        if (times && at_least(*times, 0)) return times;
      }
    }
    return std::nullopt;
  }

  bool holds_if(const Expr& claim, const Expr& assumption) {
    assumed_.push_back(assumption);
    const bool proved = not_negative(claim);
    assumed_.pop_back();
    return proved;
  }

  /// Tells a min or max apart by which operand it is, and a comparison by whether it holds.
  bool by_cases(const Expr& claim) {
    if (effort_ == Effort::build) return false;
    for (const auto& atom : atoms_of(claim)) {
      const auto& operands = atom.node().children;
      if (atom.kind() == Expr::Kind::min || atom.kind() == Expr::Kind::max) {
        const auto difference = operands[1] - operands[0];
        const bool smallest = atom.kind() == Expr::Kind::min;
        return holds_if(replace_factor(claim, atom, operands[smallest ? 0 : 1]), difference) &&
               holds_if(replace_factor(claim, atom, operands[smallest ? 1 : 0]), -difference);
      }
      if (const auto gap = gap_of(atom)) {
        const auto opposite = Expr::logical_not(atom);
        const auto holds = replace_factor(replace_factor(claim, atom, 1), opposite, 0);
        const auto fails = replace_factor(replace_factor(claim, atom, 0), opposite, 1);
        return holds_if(holds, *gap) && holds_if(fails, -1 - *gap);
      }
    }
    return false;
  }

  /// Writes variables as their least value + something that is not negative.
  Expr shift(const Expr& claim) const {
    Expr result = claim;
    for (const auto& atom : atoms_of(claim)) {
      if (atom.kind() != Expr::Kind::variable || atom.node().is_coordinate) continue;
      const auto low = facts_.low(atom);
      if (low == 0) continue;
      const auto high = atom.node().declared_high;
      const auto above = make_variable(cat(atom.name(), "'", atom.node().value, "'", low), 0,
                                       high ? checked_sub(*high, low) : high);
      result = replace_factor(result, atom, above + low);
    }
    return result;
  }

  static Expr replace_factor(const Expr& sum, const Expr& atom, const Expr& by) {
    std::vector<Expr> parts{constant_of(sum)};
    for (const auto& term : terms_of(sum)) {
      const auto [coefficient, atoms] = term_of(term);
      std::vector<Expr> kept;
      Expr factor = 1;
      for (const auto& each : atoms) {
        if (each == atom) {
          factor = factor * by;
        } else {
          kept.push_back(each);
        }
      }
      parts.push_back(make_term(coefficient, std::move(kept)) * factor);
    }
    return sum_of(parts);
  }

  /// The distinct factors, deepest first: an atom's bounds speak of shallower ones.
  static std::vector<Expr> atoms_of(const Expr& sum) {
    std::vector<Expr> result;
    for (const auto& term : terms_of(sum)) {
      for (const auto& atom : term_of(term).atoms) {
        if (std::find(result.begin(), result.end(), atom) == result.end()) result.push_back(atom);
      }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Expr& a, const Expr& b) { return a.node().depth > b.node().depth; });
    return result;
  }

  bool holds_with(const Linear& parts, const Expr& bound) {
    return not_negative(parts.coefficient * bound + parts.rest);
  }

  /// Decides coefficient·atom + rest ≥ 0 by bounds of the atom: lower ones if `rising`. nullopt if it has
  /// none.
  std::optional<bool> without(const Expr& atom, const Linear& parts, bool rising) {
    const auto& node = atom.node();
    switch (node.kind) {
      case Expr::Kind::variable:
        if (rising && node.is_coordinate) return holds_with(parts, 0);
        if (node.is_coordinate) return holds_with(parts, node.children[0] - 1);
        break;
      case Expr::Kind::mod:
        if (!at_least(node.children[1], 0)) break;
        if (rising) return holds_with(parts, 0);
        if (holds_with(parts, node.children[1] - 1)) return true;
        return at_least(node.children[0], 0) && holds_with(parts, node.children[0]);
      case Expr::Kind::div:
        if (at_least(node.children[1], 0)) return without_quotient(atom, parts, rising);
        break;
      case Expr::Kind::min:
      case Expr::Kind::max: {
        const bool either = rising == (node.kind == Expr::Kind::max);
        if (holds_with(parts, node.children[0])) return either || holds_with(parts, node.children[1]);
        return either && holds_with(parts, node.children[1]);
      }
      default:
        break;
    }
    const auto constant = rising ? node.bounds.low : node.bounds.high;
    if (!constant) return std::nullopt;
    return holds_with(parts, *constant);
  }

  /// With d·(x/d) in [x − d + 1, x]. The claim is a whole number, so d·claim ≥ 0 follows from d·claim + d − 1
  /// ≥ 0.
  bool without_quotient(const Expr& atom, const Linear& parts, bool rising) {
    const auto& x = atom.node().children[0];
    const auto& d = atom.node().children[1];
    const auto multiple = rising ? x - d + 1 : x;
    const bool term = terms_of(d).size() <= 1 && (d.is_constant() || constant_of(d) == 0);
    const auto times = term ? divide_exactly(parts.coefficient, d) : std::nullopt;
    if (times) {
      if (not_negative(*times * multiple + parts.rest)) return true;
    } else if (not_negative(parts.coefficient * multiple + d * parts.rest + d - 1)) {
      return true;
    }
    const auto constant = rising ? atom.node().bounds.low : atom.node().bounds.high;
    return constant && holds_with(parts, *constant);
  }
};

}  // namespace

bool proved_not_negative(const Expr& e, Effort effort, const Given& given) {
  if (at_least(e, 0)) return true;
  if (at_most(e, -1) || e.is_constant()) return false;
  try {
    return Prover(e, effort, given).not_negative(e);
  } catch (const Error&) {
    return false;  // a coefficient of the proof left 64 bits
  }
}

Expr expand_remainders(const Expr& e) {
  Expr result = constant_of(e);
  for (const auto& term : terms_of(e)) {
    if (!term.node().has_mod) {
      result = result + term;
      continue;
    }
    const auto [coefficient, atoms] = term_of(term);
    Expr product = coefficient;
    for (const auto& atom : atoms) {
      const auto& parts = atom.node().children;
      product = product * (atom.kind() == Expr::Kind::mod ? parts[0] - parts[1] * parts[2] : atom);
    }
    result = result + expand_remainders(product);
  }
  return result;
}

namespace {

bool at_most_by_proof(const Expr& a, const Expr& b, std::int64_t margin) {
  const Expr mentioned[] = {a, b};
  return proved_not_negative(b - a - margin, Effort::thorough, {mentioned, {}});
}

bool equal_by_proof(const Expr& a, const Expr& b) {
  const auto difference = a - b;
  if (difference == Expr(0)) return true;
  if (difference.is_constant()) return false;
  if (expand_remainders(difference) == Expr(0)) return true;
  return at_most_by_proof(a, b, 0) && at_most_by_proof(b, a, 0);
}

/// Tries the claim as it stands and, should that fail, on simplified operands.
template <typename Claim>
bool proved(const Expr& a, const Expr& b, const Claim& claim) {
  try {
    return claim(a, b) || claim(a.simplify(), b.simplify());
  } catch (const Error&) {
    return false;
  }
}

}  // namespace
}  // namespace detail

bool prove_eq(const Expr& a, const Expr& b) {
  return detail::proved(a, b, detail::equal_by_proof);
}

bool prove_lt(const Expr& a, const Expr& b) {
  return detail::proved(a, b, [](const Expr& x, const Expr& y) { return detail::at_most_by_proof(x, y, 1); });
}

bool prove_le(const Expr& a, const Expr& b) {
  return detail::proved(a, b, [](const Expr& x, const Expr& y) { return detail::at_most_by_proof(x, y, 0); });
}

bool prove_divides(const Expr& divisor, const Expr& a) {
  if (!prove_lt(0, divisor) && !prove_lt(divisor, 0)) return false;
  return detail::proved(divisor, a, [](const Expr& d, const Expr& x) {
    return prove_eq(detail::remainder(x, d, detail::Effort::thorough), 0) ||
           detail::remainder(detail::expand_remainders(x), d, detail::Effort::thorough) == Expr(0);
  });
}

}  // namespace luminal
