#include <algorithm>
#include <map>
#include <set>

#include "luminal/frontend/formula.h"
#include "luminal/frontend/matmul.h"
#include "luminal/frontend/movement.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

// The axes that "..." stands for are letters too: '0' is the last of them, '1' the one before.
constexpr int most_ellipsis_axes = 10;

/// A tensor and the letter of each of its axes, no letter twice.
struct Labelled {
  Tensor tensor;
  std::string letters;
};

class Einsum {
 public:
  Einsum(std::string_view formula, Location where) : formula_(formula), where_(where) {
    const auto arrow = formula.find("->");
    std::string inputs = without_spaces(formula.substr(0, arrow));
    if (arrow != std::string_view::npos) output_ = without_spaces(formula.substr(arrow + 2));
    std::size_t start = 0;
    for (std::size_t comma = inputs.find(','); comma != std::string::npos; comma = inputs.find(',', start)) {
      inputs_.push_back(inputs.substr(start, comma - start));
      start = comma + 1;
    }
    inputs_.push_back(inputs.substr(start));
  }

  Tensor run(const std::vector<Tensor>& operands) {
    if (operands.size() != inputs_.size())
      refuse(cat("names ", inputs_.size(), " operands, got ", operands.size()));
    std::vector<Labelled> labelled;
    for (std::size_t i = 0; i < operands.size(); ++i)
      labelled.push_back(diagonals({operands[i], expanded(inputs_[i], operands[i].rank(), i)}));
    require_sizes(labelled);
    const std::string result = result_letters(labelled);
    Labelled product = std::move(labelled[0]);
    const DType dtype = common_dtype(operands);
    product.tensor = product.tensor.cast(compute_dtype(dtype), where_);
    for (std::size_t i = 1; i < labelled.size(); ++i) {
      std::string needed = result;
      for (std::size_t k = i + 1; k < labelled.size(); ++k) needed += labelled[k].letters;
      labelled[i].tensor = labelled[i].tensor.cast(compute_dtype(dtype), where_);
      product = contract(product, labelled[i], needed);
    }
    product = summed(product, result);
    return ordered(product, result).cast(dtype, where_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw Error(cat("einsum: \"", formula_, "\" ", problem), where_);
  }

  static std::string without_spaces(std::string_view text) {
    std::string result;
    std::copy_if(text.begin(), text.end(), std::back_inserter(result), [](char c) { return c != ' '; });
    return result;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  std::string ellipsis(std::size_t count) const {
    if (count > most_ellipsis_axes) refuse("has an ellipsis for too many axes");
    std::string result;
    for (std::size_t k = count; k-- > 0;) result += static_cast<char>('0' + k);
    return result;
  }

  /// The letters of each axis, "..." spelt out.
  std::string expanded(const std::string& term, std::size_t rank, std::size_t number) {
    const auto dots = term.find("...");
    std::string letters = term;
    if (dots != std::string::npos) letters.erase(dots, 3);
    for (const char c : letters)
      if (!is_letter(c)) refuse(cat("has '", c, "' where a letter was expected"));
    if (letters.size() > rank || (dots == std::string::npos && letters.size() != rank))
      refuse(cat("names ", letters.size(), " axes of operand ", number, ", which has rank ", rank));
    if (dots == std::string::npos) return letters;
    ellipsis_axes_ = std::max(ellipsis_axes_, rank - letters.size());
    return letters.insert(dots, ellipsis(rank - letters.size()));
  }

  Labelled diagonals(Labelled operand) const {
    for (std::size_t i = 0; i < operand.letters.size(); ++i) {
      const auto again = operand.letters.find(operand.letters[i], i + 1);
      if (again == std::string::npos) continue;
      const char letter = operand.letters[i];
      const Expr a = operand.tensor.shape()[i];
      const Expr b = operand.tensor.shape()[again];
      if (prove_lt(a, b) || prove_lt(b, a)) refuse(cat("gives '", letter, "' the sizes ", a, " and ", b));
      if (!prove_eq(a, b)) {  // for some values of the dims: the reshape checks it
        const Shape square(replaced_dims(operand.tensor.shape(), again, 1, {a}));
        operand.tensor = operand.tensor.move(movement::Reshape{square}, where_);
      }
      operand.tensor = operand.tensor.diagonal(0, static_cast<int>(i), static_cast<int>(again), where_);
      operand.letters.erase(again, 1);
      operand.letters.erase(i, 1);
      operand.letters += letter;
      return diagonals(std::move(operand));
    }
    return operand;
  }

  void require_sizes(const std::vector<Labelled>& operands) const {
    std::map<char, Expr> sizes;
    for (const auto& operand : operands)
      for (std::size_t i = 0; i < operand.letters.size(); ++i) {
        const Expr& size = operand.tensor.shape()[i];
        if (is_value(size, 1)) continue;
        const auto [known, added] = sizes.try_emplace(operand.letters[i], size);
        if (!added && (prove_lt(size, known->second) || prove_lt(known->second, size)))
          refuse(cat("gives '", operand.letters[i], "' the sizes ", known->second, " and ", size));
      }
  }

  std::string result_letters(const std::vector<Labelled>& operands) const {
    std::string letters;
    if (output_) {
      letters = *output_;
      const auto dots = letters.find("...");
      if (dots != std::string::npos) letters.replace(dots, 3, ellipsis(ellipsis_axes_));
    } else {
      std::map<char, int> occurrences;
      for (const auto& term : inputs_)
        for (const char c : term)
          if (is_letter(c)) ++occurrences[c];
      letters = ellipsis(ellipsis_axes_);
      for (const auto& [letter, count] : occurrences)
        if (count == 1) letters += letter;
    }
    for (const char c : letters) {
      const bool known = std::any_of(operands.begin(), operands.end(), [&](const Labelled& operand) {
        return operand.letters.find(c) != std::string::npos;
      });
      if (!known) refuse(cat("has '", c, "' in the result, which no operand has"));
      if (std::count(letters.begin(), letters.end(), c) > 1) refuse(cat("has '", c, "' in the result twice"));
    }
    return letters;
  }

  DType common_dtype(const std::vector<Tensor>& operands) const {
    std::vector<Operand> sides;
    for (const auto& operand : operands) sides.emplace_back(operand, where_);
    return result_type(sides, "einsum");
  }

  /// The sum over the letters that are not needed.
  Labelled summed(const Labelled& operand, const std::string& needed) const {
    std::vector<std::size_t> axes;
    std::string kept;
    for (std::size_t i = 0; i < operand.letters.size(); ++i) {
      if (needed.find(operand.letters[i]) == std::string::npos)
        axes.push_back(i);
      else
        kept += operand.letters[i];
    }
    if (axes.empty()) return operand;
    return {sum({operand.tensor, where_}, axes, false), kept};
  }

  /// The axes in the order of `letters`; those that the operand lacks have size 1.
  Tensor ordered(const Labelled& operand, const std::string& letters) const {
    std::vector<std::size_t> order;
    std::vector<Expr> dims;
    for (const char letter : letters) {
      const auto axis = operand.letters.find(letter);
      dims.push_back(axis == std::string::npos ? Expr(1) : operand.tensor.shape()[axis]);
      if (axis != std::string::npos) order.push_back(axis);
    }
    return operand.tensor.move(movement::Permute{order}, where_).reshape(Shape(std::move(dims)), where_);
  }

  /// One contraction: what is needed later first, then what is summed.
  Labelled contract(const Labelled& a, const Labelled& b, const std::string& needed) const {
    std::string kept;
    std::string gone;
    for (const char letter : a.letters + b.letters) {
      if ((kept + gone).find(letter) != std::string::npos) continue;
      (needed.find(letter) != std::string::npos ? kept : gone) += letter;
    }
    const std::string all = kept + gone;
    const Term product = Term(ordered(a, all), where_) * Term(ordered(b, all), where_);
    return summed({product, all}, kept);
  }

  std::string_view formula_;
  Location where_;
  std::vector<std::string> inputs_;
  std::optional<std::string> output_;
  std::size_t ellipsis_axes_ = 0;
};

}  // namespace

Tensor einsum(std::string_view formula, const std::vector<Tensor>& operands, Location where) {
  if (operands.empty()) throw Error("einsum: takes at least one tensor", where);
  return Einsum(formula, where).run(operands);
}

}  // namespace luminal
