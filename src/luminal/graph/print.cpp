#include <sstream>

#include "luminal/graph/text.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string constant_text(const Scalar& value) {
  const Number number = to_number(value);
  if (make_scalar(value.dtype, number) == value) return number.text();
  std::ostringstream out;  // a NaN whose payload a conversion would lose
  out << "bits 0x" << std::hex << value.bits;
  return out.str();
}

struct AttributeText {
  std::string operator()(const attribute::None&) const { return ""; }
  std::string operator()(const attribute::Constant& a) const { return constant_text(a.value); }
  std::string operator()(const attribute::Iota& a) const { return a.value.text(); }
  std::string operator()(const attribute::Random& a) const { return std::to_string(a.stream); }
  std::string operator()(const attribute::Reduce& a) const {
    return cat(a.axes, a.first_tie ? ", first" : "");
  }
  std::string operator()(const attribute::Axis& a) const { return std::to_string(a.axis); }
  std::string operator()(const attribute::Sort& a) const { return a.descending ? "descending" : "ascending"; }
  std::string operator()(const attribute::Print& a) const { return in_quotes(a.message); }
  std::string operator()(const attribute::Diff& a) const {
    return cat(in_quotes(a.file), ", ", Number(a.absolute), ", ", Number(a.relative));
  }
  std::string operator()(const attribute::Custom& a) const { return in_quotes(a.op->name); }
};

std::string value_text(const Value& value) {
  const std::string view = value.view.text();
  return cat(value.node, value.output == 0 ? "" : cat(".", value.output), view.empty() ? "" : " ", view);
}

std::string bound_text(const std::optional<std::int64_t>& bound, const char* unbounded) {
  return bound ? std::to_string(*bound) : unbounded;
}

}  // namespace

std::string attribute_text(const Node& node) {
  return std::visit(AttributeText{}, node.attribute);
}

std::string print_node(const Dag& dag, NodeId id) {
  const Node& node = dag.node(id);
  std::ostringstream out;
  out << id << " = " << node.op;
  const std::string attribute = attribute_text(node);
  if (!attribute.empty()) out << " {" << attribute << "}";
  if (!node.name.empty()) out << ' ' << in_quotes(node.name);
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    out << (i == 0 ? " " : ", ") << value_text(node.inputs[i]);
  if (!node.after.empty()) out << " after " << join(node.after);
  out << " : " << (node.outputs.empty() ? "()" : join(node.outputs));
  if (node.where.known()) out << " @ " << in_quotes(node.where.file) << ' ' << node.where.line;
  return out.str();
}

std::string print(const Dag& dag) {
  std::ostringstream out;
  out << "luminal graph 1\n";
  for (const auto& [name, variable] : dag.variables()) {
    const Interval bounds = variable.declared_bounds();
    out << "dim " << name << " [" << bound_text(bounds.low, "-inf") << ", " << bound_text(bounds.high, "inf")
        << "]\n";
  }
  for (const auto id : execution_order(dag, dag.nodes())) out << print_node(dag, id) << '\n';
  for (const auto& [place, unused] : dag.kept())
    out << "keep " << place.first << (place.second == 0 ? "" : cat(".", place.second)) << '\n';
  for (const auto& value : dag.outputs()) out << "output " << value_text(value) << '\n';
  for (const auto& [state, value] : dag.assignments())
    out << "assign " << state << " <- " << value_text(value) << '\n';
  return out.str();
}

}  // namespace luminal
