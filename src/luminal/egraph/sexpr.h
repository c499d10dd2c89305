#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// `()` as a literal.
struct UnitLiteral {};
using Literal = std::variant<UnitLiteral, bool, std::int64_t, double, std::string>;

/// A program's text as nested lists.
struct Sexpr {
  enum class Kind : std::uint8_t { literal, symbol, list };
  Kind kind = Kind::list;
  Span span;
  Literal literal;
  std::string symbol;
  std::vector<Sexpr> items;
};

/// Throws `ProgramError` at the first character that cannot be read. Lists nested deeper than a few thousand
/// levels are refused, because later stages walk them recursively.
std::vector<Sexpr> read_sexprs(std::string_view text);

}  // namespace luminal::egraph
