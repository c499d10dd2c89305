#include <charconv>
#include <limits>

#include "luminal/graph/lexer.h"
#include "luminal/graph/text.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

using Arguments = std::vector<std::string_view>;
// Ids may have gaps where nodes were removed; the limits bound what a hostile text can make us allocate.
constexpr std::uint64_t free_ids = 4096;
constexpr std::uint64_t ids_per_line = 64;

class Parser {
 public:
  Parser(std::string_view text, const CustomOps& customs) : text_(text), customs_(customs) {}

  Dag run() {
    while (next_line()) {
      Lexer line(line_, number_);
      if (line.at_end()) continue;
      try {
        statement(line);
      } catch (const Error& error) {
        if (error.problem().starts_with("graph text, line ")) throw;
        line.fail(error.problem());
      }
    }
    if (!has_header_) throw Error("graph text: expected 'luminal graph 1' on the first line");
    return std::move(dag_);
  }

 private:
  bool next_line() {
    if (position_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', position_), text_.size());
    line_ = text_.substr(position_, end - position_);
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    position_ = end + 1;
    ++number_;
    return true;
  }

  void statement(Lexer& line) {
    if (!has_header_) {
      line.expect("luminal");
      line.expect("graph");
      line.expect("1");
      has_header_ = true;
    } else if (line.at("%")) {
      node(line);
    } else if (line.take("dim")) {
      dim(line);
    } else if (line.take("output")) {
      dag_.add_output(value(line));
    } else if (line.take("keep")) {
      const Value kept = value(line);
      dag_.keep(kept.node, kept.output);
    } else if (line.take("assign")) {
      const NodeId state = id(line);
      if (!dag_.contains(state)) line.fail(cat(state, " is not defined above"));
      line.expect("<-");
      dag_.assign(state, value(line), {});
    } else {
      line.fail("expected a node, dim, output, keep or assign");
    }
    if (!line.at_end()) line.fail("expected the line to end here");
  }

  void dim(Lexer& line) {
    const std::string name = line.word();
    line.expect("[");
    const auto ends = split_arguments(line.until_closing('[', ']'));
    if (ends.size() != 2) line.fail("a dim's bounds are [lowest, highest]");
    const auto whole = [&](std::string_view text) {
      const Number number = parse_number(std::string(text));
      if (number.kind() != Number::Kind::integer) line.fail("a dim's bounds are whole numbers, or inf");
      return number.integer();
    };
    const std::int64_t low = whole(ends[0]);
    std::optional<std::int64_t> high;
    if (ends[1] != "inf") high = whole(ends[1]);
    const Expr variable = Expr::variable(name, low, high, {});
    declared_.insert_or_assign(name, variable);
    dag_.declare(variable, {});
  }

  NodeId id(Lexer& line) {
    line.expect("%");
    return NodeId(line.natural(free_ids + ids_per_line * number_));
  }

  Value value(Lexer& line) {
    const NodeId node = id(line);
    std::uint32_t output = 0;
    if (line.take("."))
      output = static_cast<std::uint32_t>(line.natural(std::numeric_limits<std::uint32_t>::max()));
    if (!dag_.contains(node)) line.fail(cat(node, " is not defined above"));
    if (output >= dag_.node(node).outputs.size()) line.fail(cat(node, " has no output ", output));
    Value result = dag_.whole(node, output);
    while (!line.at_end() && !line.at(",") && !line.at(":") && !line.at("after") && !line.at("@"))
      movement(line, result.view);
    return result;
  }

  using Names = std::map<std::string, Expr, std::less<>>;

  Expr expression(std::string_view text) const { return expression(text, declared_); }

  static Expr expression(std::string_view text, const Names& names) {
    Expr result = parse_expr(text, names);
    if (result.is_constant()) return result;
    for (const auto& variable : result.variables())
      if (!names.contains(variable.name()))
        throw Error(cat("the dim '", variable.name(), "' is not declared above"));
    return result;
  }

  std::vector<Expr> expressions(std::string_view bracketed) const {
    if (bracketed.size() < 2 || bracketed.front() != '[' || bracketed.back() != ']')
      throw Error(cat("expected a list in brackets, got ", in_quotes(bracketed)));
    std::vector<Expr> result;
    for (const auto part : split_arguments(bracketed.substr(1, bracketed.size() - 2)))
      result.push_back(expression(part));
    return result;
  }

  static std::size_t axis(std::string_view text) {
    std::uint32_t result = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), result).ptr;
    if (text.empty() || end != text.data() + text.size())
      throw Error(cat("expected an axis, got ", in_quotes(text)));
    return result;
  }

  void movement(Lexer& line, View& view) const {
    const std::string name = line.word();
    line.expect("(");
    const Arguments a = split_arguments(line.until_closing('(', ')'));
    const auto count = [&](std::size_t wanted) {
      if (a.size() != wanted) line.fail(cat(name, " takes ", wanted, " arguments, got ", a.size()));
    };
    if (name == "permute") {
      std::vector<std::size_t> axes;
      for (const auto part : a) axes.push_back(axis(part));
      view = view.permute(std::move(axes));
    } else if (name == "expand") {
      count(2);
      view = view.expand(axis(a[0]), expression(a[1]));
    } else if (name == "slice") {
      count(4);
      view = view.slice(axis(a[0]), expression(a[1]), expression(a[2]), expression(a[3]));
    } else if (name == "pad") {
      count(4);
      view = view.pad(axis(a[0]), expression(a[1]), expression(a[2]), parse_number(std::string(a[3])));
    } else if (name == "reshape") {
      count(1);
      view = view.reshape(Shape(expressions(a[0])));
    } else if (name == "unfold") {
      count(4);
      view = view.unfold(axis(a[0]), expression(a[1]), expression(a[2]), expression(a[3]));
    } else if (name == "fold") {
      count(4);
      view = view.then(movement::Fold{axis(a[0]), expression(a[1]), expression(a[2]), expression(a[3])});
    } else if (name == "shear") {
      count(4);
      view = view.then(movement::Shear{axis(a[0]), expression(a[1]), expression(a[2]), expression(a[3])});
    } else if (name == "flip") {
      count(1);
      view = view.flip(axis(a[0]));
    } else if (name == "strided") {
      count(3);
      view = view.then(movement::Strided{Shape(expressions(a[0])), expressions(a[1]), expression(a[2])});
    } else {
      line.fail(cat("unknown movement '", name, "'"));
    }
  }

  TensorType type(Lexer& line) const {
    const std::string name = line.word();
    const auto dtype = dtype_named(name);
    if (!dtype) line.fail(cat("unknown dtype '", name, "'"));
    line.expect("[");
    std::vector<Expr> dims;
    for (const auto part : split_arguments(line.until_closing('[', ']'))) dims.push_back(expression(part));
    return {Shape(std::move(dims)), *dtype};
  }

  static std::uint64_t natural(std::string_view text, std::uint64_t limit) {
    return Lexer(text, 0).natural(limit);
  }

  /// What prints for a value of this dtype: reals round to floats, but integers and bools must be such.
  static Scalar exactly(const Number& number, DType dtype) {
    const bool is_bool = number.kind() == Number::Kind::boolean;
    const Scalar value = make_scalar(dtype, number);
    if (is_boolean(dtype) ? is_bool : is_floating(dtype) && !is_bool) return value;
    const Number stored = to_number(value);
    const auto negative = [](const Number& n) {
      return n.kind() == Number::Kind::integer && n.integer() < 0;
    };
    const bool same = stored.natural() == number.natural() && negative(stored) == negative(number);
    if (is_boolean(dtype) || is_bool || number.is_real() || !same)
      throw Error(cat("the constant ", number, " is no ", dtype));
    return value;
  }

  static Scalar constant(std::string_view text, DType dtype) {
    if (!text.starts_with("bits 0x")) return exactly(parse_number(std::string(text)), dtype);
    Scalar value{dtype, 0};
    text.remove_prefix(7);
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value.bits, 16).ptr;
    const bool too_wide = byte_size(dtype) < 8 && value.bits >> (8 * byte_size(dtype)) != 0;
    if (text.empty() || end != text.data() + text.size() || too_wide)
      throw Error(cat("expected the bits of one ", dtype));
    return value;
  }

  Attribute iota(std::string_view text, const Shape& shape) const {
    auto names = declared_;
    for (std::size_t i = 0; i < shape.rank(); ++i)
      names.insert_or_assign(cat("i", i), Expr::coordinate(i, shape[i]));
    return attribute::Iota{expression(text, names)};
  }

  static Attribute reduce(std::string_view text) {
    const auto parts = split_arguments(text);
    if (parts.empty() || parts.size() > 2 || (parts.size() == 2 && parts[1] != "first"))
      throw Error("a reduction carries a number of axes, and 'first'");
    const auto axes = natural(parts[0], std::numeric_limits<std::uint32_t>::max());
    return attribute::Reduce{static_cast<std::uint32_t>(axes), parts.size() == 2};
  }

  Attribute attribute_of(Op op, std::string_view text, const TensorType& type) const {
    const auto small = [&] {
      return static_cast<std::uint32_t>(natural(text, std::numeric_limits<std::uint32_t>::max()));
    };
    switch (op) {
      case Op::constant:
        return attribute::Constant{constant(text, type.dtype)};
      case Op::iota:
        return iota(text, type.shape);
      case Op::random:
        return attribute::Random{natural(text, std::numeric_limits<std::uint64_t>::max())};
      case Op::reduce_sum:
      case Op::reduce_max:
      case Op::reduce_prod:
        return reduce(text);
      case Op::gather:
      case Op::scatter:
      case Op::scatter_add:
        return attribute::Axis{small()};
      case Op::sort:
        if (text != "ascending" && text != "descending") throw Error("sort is ascending or descending");
        return attribute::Sort{text == "descending"};
      case Op::print:
        return attribute::Print{Lexer(text, number_).string()};
      case Op::diff: {
        const auto parts = split_arguments(text);
        if (parts.size() != 3) throw Error("diff takes a file and two tolerances");
        return attribute::Diff{Lexer(parts[0], number_).string(),
                               parse_number(std::string(parts[1])).as_double(),
                               parse_number(std::string(parts[2])).as_double()};
      }
      case Op::custom: {
        const std::string name = Lexer(text, number_).string();
        const auto found = customs_.find(name);
        if (found == customs_.end()) throw Error(cat("the custom op ", in_quotes(name), " was not given"));
        return attribute::Custom{found->second};
      }
      default:
        if (!text.empty()) throw Error(cat(op, " carries no attribute"));
        return attribute::None{};
    }
  }

  void node(Lexer& line) {
    NewNode node;
    const NodeId result = id(line);
    if (dag_.contains(result)) line.fail(cat(result, " is defined twice"));
    line.expect("=");
    const std::string op_name = line.word();
    const auto op = op_named(op_name);
    if (!op) line.fail(cat("unknown op '", op_name, "'"));
    node.op = *op;
    std::string_view attribute;
    const bool has_attribute = line.take("{");
    const Lexer at_attribute = line;
    if (has_attribute) attribute = line.until_closing('{', '}');
    if (line.at("\"")) node.name = line.string();
    if (line.at("%")) {
      do node.inputs.push_back(value(line));
      while (line.take(","));
    }
    if (line.take("after")) {
      do {
        node.after.push_back(id(line));
        if (!dag_.contains(node.after.back())) line.fail(cat(node.after.back(), " is not defined above"));
      } while (line.take(","));
    }
    line.expect(":");
    std::vector<TensorType> outputs;
    if (!line.take("()")) {
      do outputs.push_back(type(line));
      while (line.take(","));
    }
    if (!outputs.empty()) node.type = outputs[0];
    try {
      node.attribute = attribute_of(*op, attribute, node.type);
    } catch (const Error& error) {
      at_attribute.fail(error.problem());
    }
    if (line.take("@")) {
      const char* file = dag_.intern_file(line.string());
      node.where =
          Location(file, static_cast<std::uint32_t>(line.natural(std::numeric_limits<std::uint32_t>::max())));
    }
    dag_.add_as(result, std::move(node));
    if (dag_.node(result).outputs != outputs)
      line.fail(cat(result, " gives ", join(dag_.node(result).outputs), ", not ", join(outputs)));
  }

  std::string_view text_;
  const CustomOps& customs_;
  std::size_t position_ = 0;
  std::size_t number_ = 0;
  std::string_view line_;
  bool has_header_ = false;
  Names declared_;
  Dag dag_;
};

}  // namespace

Dag parse(std::string_view text, const CustomOps& customs) {
  return Parser(text, customs).run();
}

}  // namespace luminal
