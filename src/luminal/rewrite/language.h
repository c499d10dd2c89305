#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/egraph/egraph.h"
#include "luminal/op/op.h"
#include "luminal/rewrite/atoms.h"

namespace luminal::rewriting {

/// The name of an op's constructor in rules: "Exp2", "BitAnd", "Sum" (of reduce_sum), "Maximum" (of max).
std::string constructor_name(Op op);

/// Which rules may be used.
struct RuleOptions {
  /// Only rules that keep every bit: no sum or product is regrouped.
  bool exact = false;
  /// Program text with further rules of the user's, over the same language; see docs/adding-a-rule.md.
  std::string extra;
};

/// The e-graph's language of tensors: sorts, constructors, facts about classes, the rules' primitives, and
/// the rules. A class of sort T is a function from coordinates to a scalar; coordinates are positions.
class Language {
 public:
  explicit Language(const RuleOptions& options = {});
  Language(const Language&) = delete;
  Language& operator=(const Language&) = delete;

  egraph::EGraph& graph() { return *graph_; }
  Atoms& atoms() { return *atoms_; }
  /// Whether rules that regroup are left out.
  bool is_exact() const { return exact_; }

  egraph::FunctionId constructor(Op op) const;
  std::optional<Op> op_of(egraph::FunctionId function) const;

  egraph::FunctionId leaf, constant, iota, random, view, soft_sum, m2;
  egraph::FunctionId shape, dtype, varies, is_static, value;

  /// Runs facts, views and algebra to saturation or until the budget is used up. Returns whether it
  /// saturated.
  bool saturate(const egraph::Budget& budget);

 private:
  void declare();
  void add_schematic_rules();
  /// Those of the user; `Error` with the place in the text.
  void add_rules(const std::string& text);
  std::unique_ptr<Atoms> atoms_;
  std::unique_ptr<egraph::EGraph> graph_;
  std::array<egraph::FunctionId, op_count> constructors_;
  bool exact_ = false;
};

/// The text of the rules that are built in, by file name.
std::vector<std::pair<std::string_view, std::string_view>> rule_files();

}  // namespace luminal::rewriting
