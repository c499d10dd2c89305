// Reads lemmas.txt: every lemma must be proved, and true at small values.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "luminal/shape/expr.h"
#include "luminal/support/text.h"
#include "tests/random.h"

namespace luminal {
namespace {

using Declared = std::map<std::string, Expr, std::less<>>;

struct Lemma {
  std::string name, variables, claim, left, right;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(trimmed(part));
  return parts;
}

std::vector<Lemma> read_lemmas() {
  std::vector<Lemma> lemmas;
  std::ifstream in(std::string(LUMINAL_SOURCE_DIR) + "/tests/shape/lemmas.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto parts = split(line, ';');
    EXPECT_EQ(parts.size(), 5U) << line;
    if (parts.size() == 5) lemmas.push_back({parts[0], parts[1], parts[2], parts[3], parts[4]});
  }
  return lemmas;
}

Declared declarations(const Lemma& lemma) {
  Declared declared;
  for (const auto& part : split(lemma.variables, ',')) {
    if (const auto equals = part.find('='); equals != std::string::npos) {
      const auto ends = split(part.substr(equals + 1) + ":", ':');
      std::optional<std::int64_t> high;
      if (!ends[1].empty()) high = std::stoll(ends[1]);
      const auto name = part.substr(0, equals);
      declared.insert_or_assign(name, Expr::variable(name, std::stoll(ends[0]), high));
    }
  }
  for (const auto& part : split(lemma.variables, ',')) {
    if (const auto less = part.find('<'); less != std::string::npos) {
      const auto axis = static_cast<std::size_t>(std::stoul(part.substr(1, less - 1)));
      declared.insert_or_assign(part.substr(0, less),
                                Expr::coordinate(axis, parse_expr(part.substr(less + 1), declared)));
    }
  }
  return declared;
}

/// Values within bounds for everything that the two sides mention; nullopt if a coordinate has none.
std::optional<DimMap> sample(test::Random& random, const std::vector<Expr>& variables) {
  DimMap values;
  for (const auto& variable : variables) {
    if (variable.coordinate_axis()) continue;
    const auto bounds = variable.declared_bounds();
    values.emplace(variable.name(), random.between(*bounds.low, bounds.high.value_or(*bounds.low + 11)));
  }
  for (const auto& variable : variables) {
    if (!variable.coordinate_axis()) continue;
    const auto extent = variable.coordinate_extent().try_eval(values);
    if (!extent || *extent < 1) return std::nullopt;
    values.emplace(variable.name(), random.between(0, *extent - 1));
  }
  return values;
}

bool holds(const std::string& claim, std::int64_t left, std::int64_t right) {
  if (claim == "lt") return left < right;
  if (claim == "le") return left <= right;
  if (claim == "divides") return left != 0 && right % left == 0;
  return left == right;
}

bool proved(const std::string& claim, const Expr& left, const Expr& right) {
  if (claim == "lt") return prove_lt(left, right);
  if (claim == "le") return prove_le(left, right);
  if (claim == "divides") return prove_divides(left, right);
  return prove_eq(left, right);
}

TEST(Lemmas, AreProvedAndTrue) {
  const auto lemmas = read_lemmas();
  EXPECT_GE(lemmas.size(), 80U);
  test::Random random(5);
  for (const auto& lemma : lemmas) {
    const auto declared = declarations(lemma);
    const auto left = parse_expr(lemma.left, declared);
    const auto right = parse_expr(lemma.right, declared);
    const auto shown = cat(lemma.name, ": ", left, " ", lemma.claim, " ", right);
    EXPECT_TRUE(proved(lemma.claim, left, right)) << shown;
    if (lemma.claim == "same") {
      EXPECT_EQ(left, right) << shown;
      EXPECT_EQ(left.hash(), right.hash()) << shown;
    }
    auto variables = left.variables();
    for (const auto& variable : right.variables()) variables.push_back(variable);
    for (int i = 0; i < 60; ++i) {
      const auto values = sample(random, variables);
      if (!values) continue;
      const auto a = left.try_eval(*values);
      const auto b = right.try_eval(*values);
      if (a && b) {
        EXPECT_TRUE(holds(lemma.claim, *a, *b)) << shown;
      }
    }
  }
}

TEST(Lemmas, HaveNamesOfTheirOwn) {
  std::vector<std::string> names;
  for (const auto& lemma : read_lemmas()) names.push_back(lemma.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace luminal
