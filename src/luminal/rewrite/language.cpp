#include "luminal/rewrite/language.h"

#include <cctype>
#include <functional>

#include "luminal/op/op_table.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::rewriting {

using egraph::FunctionId;

std::string constructor_name(Op op) {
  switch (op) {
    case Op::max:
      return "Maximum";
    case Op::reduce_sum:
      return "Sum";
    case Op::reduce_max:
      return "Max";
    case Op::reduce_prod:
      return "Prod";
    default:
      break;
  }
  std::string result;
  bool upper = true;
  for (const char c : name(op)) {
    if (c == '_') {
      upper = true;
      continue;
    }
    result += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return result;
}

namespace {

/// Ops that the e-graph has a constructor for beside sources: everything else is an end of a region.
bool has_constructor(Op op) {
  switch (kind(op)) {
    case OpKind::unary:
    case OpKind::binary:
    case OpKind::select:
    case OpKind::convert:
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
    case OpKind::scan:
      return true;
    default:
      return false;
  }
}

bool is_element_wise(Op op) {
  const OpKind k = kind(op);
  return k == OpKind::unary || k == OpKind::binary || k == OpKind::select || k == OpKind::convert;
}

/// A constructor's arguments before its operands.
std::vector<std::string> leading(Op op) {
  switch (kind(op)) {
    case OpKind::convert:
      return {"DType"};
    case OpKind::reduce:
    case OpKind::gather:
    case OpKind::scatter:
      return {"i64"};
    default:
      return {};
  }
}

constexpr std::string_view facts = R"(
(ruleset facts) (ruleset simplify) (ruleset views) (ruleset exact) (ruleset reassociating)
(function shape (T) Shape :merge (agreed-shape old new))
(function dtype (T) DType :merge (agreed-dtype old new))
(function varies (T) i64 :merge (& old new))
(function value (T) Scalar :merge old)
(relation static (T))
(relation dynamic (T))
(relation from-maximum (T))

(rule ((= e (Leaf n s t))) ((set (shape e) s) (set (dtype e) t) (set (varies e) (all-axes s)))
      :ruleset facts :name "facts/Leaf")
(rule ((= e (Const c s))) ((set (shape e) s) (set (dtype e) (dtype-of c)) (set (varies e) 0) (set (value e) c) (static e))
      :ruleset facts :name "facts/Const")
(rule ((= e (Iota i s t))) ((set (shape e) s) (set (dtype e) t) (set (varies e) (index-axes i)))
      :ruleset facts :name "facts/Iota")
(rule ((= e (Random n s x))) ((set (shape e) s) (set (dtype e) (dtype-u32)) (set (varies e) (all-axes s)) (dynamic e))
      :ruleset facts :name "facts/Random")
(rule ((= e (View v x)) (= t (dtype x)) (= d (varies x)))
      ((set (shape e) (map-shape v)) (set (dtype e) t) (set (varies e) (map-axes v d)))
      :ruleset facts :name "facts/View")
(rule ((= e (View v x)) (static x) (fixed-map v)) ((static e)) :ruleset facts :name "static/View")
(rule ((= e (View v x)) (dynamic x)) ((dynamic e)) :ruleset facts :name "dynamic/View")
(rule ((= e (View v x)) (= c (value x)) (total-for v c)) ((union e (Const c (map-shape v))) (subsume (View v x)))
      :ruleset facts :name "constant/View")
(rule ((= e (Sum k x)) (= c (value x)) (is-zero c) (= s (shape x))) ((union e (Const c (reduced-shape s k))) (subsume (Sum k x)))
      :ruleset facts :name "constant/Sum")
(rule ((= e (Max k x)) (= c (value x)) (= s (shape x)) (nonempty-tail s k))
      ((union e (Const c (reduced-shape s k))) (subsume (Max k x))) :ruleset facts :name "constant/Max")
(rule ((= e (View v x)) (from-maximum x)) ((from-maximum e)) :ruleset facts :name "from-maximum/View")
(rule ((= e (SoftSum k x w)) (= s (shape x)) (= t (dtype x)) (= d (varies x)) (= f (varies w)))
      ((set (shape e) (reduced-shape s k)) (set (dtype e) t) (set (varies e) (reduced-axes (| d f) s k)))
      :ruleset facts :name "facts/SoftSum")
(rule ((= e (SoftSum k x w)) (dynamic x)) ((dynamic e)) :ruleset facts :name "dynamic/SoftSum")
(rule ((= e (M2 k x)) (= s (shape x)) (= t (dtype x)) (= d (varies x)))
      ((set (shape e) (reduced-shape s k)) (set (dtype e) t) (set (varies e) (reduced-axes d s k)))
      :ruleset facts :name "facts/M2")
(rule ((= e (M2 k x)) (dynamic x)) ((dynamic e)) :ruleset facts :name "dynamic/M2")
(rule ((= e (Max k x))) ((from-maximum e)) :ruleset facts :name "from-maximum/Max")
(rule ((= e (Mul a b)) (from-maximum a)) ((from-maximum e)) :ruleset facts :name "from-maximum/Mul")
(rule ((= e (Add a b)) (from-maximum a)) ((from-maximum e)) :ruleset facts :name "from-maximum/Add")
(rule ((= e (Select c a b)) (from-maximum b)) ((from-maximum e)) :ruleset facts :name "from-maximum/Select")
)";

std::string operand_names(std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += cat(" x", k);
  return text;
}

/// The rules that every element-wise op has: facts, folding of constants, and views moving below it.
std::string element_wise_rules(Op op) {
  const std::string constructor = constructor_name(op);
  const auto count = static_cast<std::size_t>(static_cast<unsigned char>(row(op).arity));
  const bool converts = kind(op) == OpKind::convert;
  const std::string term = cat("(", constructor, converts ? " t" : "", operand_names(count), ")");
  const std::string main = op == Op::select ? "x1" : "x0";
  const auto each = [&](std::string_view before, std::string_view after) {
    std::string text;
    for (std::size_t k = 0; k < count; ++k) text += cat(" ", before, "x", k, after);
    return text;
  };
  std::string axes = "d0";
  for (std::size_t k = 1; k < count; ++k) axes = cat("(| ", axes, " d", k, ")");
  std::string varying;
  for (std::size_t k = 0; k < count; ++k) varying += cat(" (= d", k, " (varies x", k, "))");
  std::string values;
  for (std::size_t k = 0; k < count; ++k) values += cat(" (= c", k, " (value x", k, "))");
  std::string constants;
  for (std::size_t k = 0; k < count; ++k) constants += cat(" c", k);

  std::string text;
  text += cat("(rule ((= e ", term, ") (= s (shape ", main, "))",
              converts ? "" : cat(" (= t (dtype ", main, "))"), varying,
              ") ((set (shape e) s) (set (dtype e) ", row(op).boolean_result ? "(dtype-bool)" : "t",
              ") (set (varies e) ", axes, ")) :ruleset facts :name \"facts/", constructor, "\")\n");
  text += cat("(rule ((= e ", term, ")", each("(static ", ")"),
              ") ((static e)) :ruleset facts :name \"static/", constructor, "\")\n");
  for (std::size_t k = 0; k < count; ++k)
    text += cat("(rule ((= e ", term, ") (dynamic x", k, ")) ((dynamic e)) :ruleset facts :name \"dynamic/",
                constructor, "/", k, "\")\n");
  text += cat("(rule ((= e ", term, ")", values, " (= s (shape ", main, ")) (= r (fold-", constructor,
              converts ? " t" : "", constants, "))) ((union e (Const r s)) (subsume ", term,
              ")) :ruleset facts :name \"constant/", constructor, "\")\n");
  text += cat("(rule ((= e (View v y)) (= y ", term, ") (simple-map v)) ((union e (", constructor,
              converts ? " t" : "", each("(View v ", ")"), "))) :ruleset views :name \"view-of/", constructor,
              "\")\n");
  return text;
}

std::string reduction_rules(Op op) {
  const std::string constructor = constructor_name(op);
  return cat("(rule ((= e (", constructor, " k x)) (= s (shape x)) (= t (dtype x)) (= d (varies x))) ",
             "((set (shape e) (reduced-shape s k)) (set (dtype e) t) (set (varies e) (reduced-axes d s k))) ",
             ":ruleset facts :name \"facts/", constructor, "\")\n", "(rule ((= e (", constructor,
             " k x)) (static x)) ((static e)) :ruleset facts :name \"static/", constructor, "\")\n",
             "(rule ((= e (", constructor,
             " k x)) (dynamic x)) ((dynamic e)) :ruleset facts :name \"dynamic/", constructor, "\")\n");
}

/// Data-dependent movement and scans: opaque to algebra, so only their types are known.
std::string opaque_rules(Op op) {
  const std::string constructor = constructor_name(op);
  const auto count = static_cast<std::size_t>(static_cast<unsigned char>(row(op).arity));
  const bool gathers = kind(op) == OpKind::gather;
  const std::string term = cat("(", constructor, leading(op).empty() ? "" : " k", operand_names(count), ")");
  std::string text =
      cat("(rule ((= e ", term, ") (= s (shape ", gathers ? "x1" : "x0", ")) (= t (dtype x0))) ",
          "((set (shape e) s) (set (dtype e) t) (set (varies e) (all-axes s))) :ruleset facts :name \"facts/",
          constructor, "\")\n");
  for (std::size_t k = 0; k < count; ++k)
    text += cat("(rule ((= e ", term, ") (dynamic x", k, ")) ((dynamic e)) :ruleset facts :name \"dynamic/",
                constructor, "/", k, "\")\n");
  std::string statics;
  for (std::size_t k = 0; k < count; ++k) statics += cat(" (static x", k, ")");
  if (gathers)
    text += cat("(rule ((= e ", term, ")", statics, ") ((static e)) :ruleset facts :name \"static/",
                constructor, "\")\n");
  return text;
}

}  // namespace

void add_language_primitives(egraph::EGraph& graph, Atoms& atoms);

Language::Language(const RuleOptions& options)
    : atoms_(std::make_unique<Atoms>()), graph_(std::make_unique<egraph::EGraph>()), exact_(options.exact) {
  declare();
  add_language_primitives(*graph_, *atoms_);
  graph_->run_text(facts);
  add_schematic_rules();
  for (const auto& [file, text] : rule_files()) graph_->run_text(text);
  add_rules(options.extra);
  const auto function = [&](std::string_view name) { return *graph_->database().find_function(name); };
  shape = function("shape");
  dtype = function("dtype");
  varies = function("varies");
  value = function("value");
  is_static = function("static");
}

void Language::add_rules(const std::string& text) {
  try {
    graph_->run_text(text);
  } catch (const egraph::ProgramError& error) {
    throw Error(cat("rules: ", error.problem()));
  }
}

void Language::declare() {
  auto& g = *graph_;
  g.add_sort("T");
  g.add_opaque_sort("Shape", [this](egraph::Value v) { return atoms_->shapes[v].text(); });
  g.add_opaque_sort("Map", [this](egraph::Value v) { return atoms_->maps[v].text(); });
  g.add_opaque_sort("Index", [this](egraph::Value v) { return atoms_->expressions[v].text(); });
  g.add_opaque_sort("Scalar", [this](egraph::Value v) { return to_number(atoms_->scalars[v]).text(); });
  g.add_opaque_sort("DType", [](egraph::Value v) { return std::string(name(static_cast<DType>(v))); });
  leaf = g.add_constructor("Leaf", {"i64", "Shape", "DType"}, "T");
  constant = g.add_constructor("Const", {"Scalar", "Shape"}, "T");
  iota = g.add_constructor("Iota", {"Index", "Shape", "DType"}, "T");
  random = g.add_constructor("Random", {"i64", "Shape", "T"}, "T");
  view = g.add_constructor("View", {"Map", "T"}, "T");
  soft_sum = g.add_constructor("SoftSum", {"i64", "T", "T"}, "T");
  m2 = g.add_constructor("M2", {"i64", "T"}, "T");
  for (const OpRow& r : op_table) {
    if (!has_constructor(r.op)) continue;
    auto inputs = leading(r.op);
    for (int k = 0; k < r.arity; ++k) inputs.emplace_back("T");
    constructors_[static_cast<std::size_t>(r.op)] = g.add_constructor(constructor_name(r.op), inputs, "T");
  }
}

void Language::add_schematic_rules() {
  std::string text;
  for (const OpRow& r : op_table) {
    if (is_element_wise(r.op))
      text += element_wise_rules(r.op);
    else if (r.kind == OpKind::reduce)
      text += reduction_rules(r.op);
    else if (has_constructor(r.op))
      text += opaque_rules(r.op);
  }
  graph_->run_text(text);
}

FunctionId Language::constructor(Op op) const {
  const FunctionId id = constructors_[static_cast<std::size_t>(op)];
  if (id.none()) throw InternalError(cat("the e-graph has no constructor for ", op));
  return id;
}

std::optional<Op> Language::op_of(FunctionId function) const {
  for (std::size_t k = 0; k < op_count; ++k)
    if (constructors_[k] == function) return static_cast<Op>(k);
  return std::nullopt;
}

bool Language::saturate(const egraph::Budget& budget) {
  auto& engine = graph_->engine();
  auto& database = graph_->database();
  const auto settle = [&](const std::function<void()>& round) {
    std::uint64_t before = 0;
    do {
      before = database.changes();
      round();
    } while (database.changes() != before && engine.stopped() == egraph::Stop::finished);
  };
  // Simple forms first: a view or a rule that meets a form which is about to go could grow without end.
  const auto simplify = [&] {
    settle([&] {
      graph_->run("facts");
      graph_->run("simplify", 1);
    });
  };
  engine.set_budget(budget);
  settle([&] {
    settle([&] {
      simplify();
      graph_->run("views", 1);
    });
    graph_->run("exact", 1);
    graph_->run("", 1);
    if (!exact_) graph_->run("reassociating", 1);
  });
  const bool saturated = engine.stopped() == egraph::Stop::finished;
  // Whatever was found last must have its facts, and no form that is to go may stay.
  engine.set_budget({});
  simplify();
  return saturated;
}

}  // namespace luminal::rewriting
