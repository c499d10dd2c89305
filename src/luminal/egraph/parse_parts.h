#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "luminal/egraph/ast.h"

/// What commands are made of. All throw `ProgramError` at the place of what they cannot read.
namespace luminal::egraph::parts {

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
/// The name of what a rewrite's left side matched; no program can spell it.
inline constexpr const char* rewrite_variable = "@rewritten";

struct Option {
  std::string key;
  std::vector<const Sexpr*> values;
};

std::string print(const Sexpr& form);
const std::string& symbol(const Sexpr& form, const char* what);
std::string text(const Sexpr& form, const char* what);
bool is_natural(const Sexpr& form);
std::uint64_t natural(const Sexpr& form, const char* what);
const std::vector<Sexpr>& list(const Sexpr& form, const char* what);
std::vector<std::string> symbols(const Sexpr& form, const char* what);
/// The symbol that a list begins with.
const std::string& head(const Sexpr& form, const char* what);
void expect_size(const Sexpr& form, std::size_t least, std::size_t most, const char* usage);
/// From the item `first` on: keys that begin with a colon, each with the items that follow it.
std::vector<Option> options(const Sexpr& form, std::size_t first);
Expr expr(const Sexpr& form);
Fact fact(const Sexpr& form);
Action action(const Sexpr& form);
Schedule schedule(const Sexpr& form);
/// The facts of an `:until` option, which is the only one allowed.
std::vector<Fact> until(const Sexpr& form, std::size_t first);
Variant variant(const Sexpr& form);

}  // namespace luminal::egraph::parts
