#include "luminal/shape/expr_node.h"

#include <algorithm>
#include <array>
#include <limits>

#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/hash.h"
#include "luminal/support/text.h"

namespace luminal {
namespace detail {
namespace {

constexpr std::int64_t smallest_cached = -16;
constexpr std::int64_t largest_cached = 1024;

std::shared_ptr<const Expr::Node> constant_node(std::int64_t value) {
  auto node = std::make_shared<Expr::Node>();
  node->value = value;
  node->bounds = {value, value};
  node->hash = Hash(0).add(static_cast<std::uint64_t>(value)).value();
  return node;
}

/// Small constants are everywhere in shapes, so they are made once. The table never changes after that.
const std::shared_ptr<const Expr::Node>& cached_constant(std::int64_t value) {
  static const auto table = [] {
    std::array<std::shared_ptr<const Expr::Node>, largest_cached - smallest_cached + 1> nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = constant_node(smallest_cached + static_cast<std::int64_t>(i));
    }
    return nodes;
  }();
  return table[static_cast<std::size_t>(value - smallest_cached)];
}

std::uint64_t hash_of(const Expr::Node& node) {
  Hash hash(static_cast<std::uint64_t>(node.kind) + (node.is_coordinate ? 64 : 0));
  hash.add(static_cast<std::uint64_t>(node.value));
  if (node.kind == Expr::Kind::variable) {
    hash.add(node.name);
    hash.add(node.declared_high ? static_cast<std::uint64_t>(*node.declared_high) : 0x5EED);
  }
  // A remainder's quotient follows from its operands.
  const auto count = node.kind == Expr::Kind::mod ? std::size_t{2} : node.children.size();
  for (std::size_t i = 0; i < count; ++i) hash.add(node.children[i].hash());
  return hash.value();
}

}  // namespace

Expr make_node(Expr::Node&& node) {
  std::uint64_t size = 1;
  std::uint16_t depth = 0;
  for (const auto& child : node.children) {
    size += child.node().size;
    depth = std::max(depth, child.node().depth);
    const auto kind = child.kind();
    if (node.kind == Expr::Kind::add || node.kind == Expr::Kind::mul) {
      node.has_mod =
          node.has_mod || kind == Expr::Kind::mod || (kind == Expr::Kind::mul && child.node().has_mod);
    }
  }
  if (size > max_size) throw Error(cat("expression: more than ", max_size, " operations"));
  if (depth >= max_depth) throw Error(cat("expression: nested more than ", max_depth, " deep"));
  node.has_mod = node.has_mod || node.kind == Expr::Kind::mod;
  node.size = static_cast<std::uint32_t>(size);
  node.depth = static_cast<std::uint16_t>(depth + 1);
  node.hash = hash_of(node);
  node.bounds = bounds_of(node);
  return Expr(std::make_shared<const Expr::Node>(std::move(node)));
}

Expr make_binary(Expr::Kind kind, const Expr& a, const Expr& b) {
  Expr::Node node;
  node.kind = kind;
  node.children = {a, b};
  return make_node(std::move(node));
}

Expr make_nest(Expr::Kind kind, std::span<const Expr> operands) {
  if (operands.size() == 1) return operands[0];
  const auto half = (operands.size() + 1) / 2;
  return make_binary(kind, make_nest(kind, operands.first(half)), make_nest(kind, operands.subspan(half)));
}

std::vector<Expr> flattened(Expr::Kind kind, const Expr& e) {
  if (e.kind() != kind) return {e};
  auto result = flattened(kind, e.node().children[0]);
  const auto more = flattened(kind, e.node().children[1]);
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

Expr make_variable(std::string name, std::int64_t low, std::optional<std::int64_t> high) {
  Expr::Node node;
  node.kind = Expr::Kind::variable;
  node.name = std::move(name);
  node.value = low;
  node.declared_high = high;
  return make_node(std::move(node));
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == -1) return mul_or_throw(a, -1);
  const auto quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const auto rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

std::int64_t add_or_throw(std::int64_t a, std::int64_t b) {
  const auto sum = checked_add(a, b);
  if (!sum) throw Error(cat("expression: ", a, " + ", b, " leaves 64 bits"));
  return *sum;
}

std::int64_t mul_or_throw(std::int64_t a, std::int64_t b) {
  const auto product = checked_mul(a, b);
  if (!product) throw Error(cat("expression: ", a, " * ", b, " leaves 64 bits"));
  return *product;
}

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_name(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_coordinate_name(std::string_view text) {
  return text.size() > 1 && text[0] == 'i' && std::all_of(text.begin() + 1, text.end(), is_digit);
}

int order(std::uint64_t a, std::uint64_t b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}
int order(std::int64_t a, std::int64_t b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}

int compare_variables(const Expr::Node& a, const Expr::Node& b) {
  if (a.is_coordinate != b.is_coordinate) return a.is_coordinate ? 1 : -1;
  if (a.is_coordinate) {
    if (const int by_axis = order(a.value, b.value)) return by_axis;
    return a.children[0].compare(b.children[0]);
  }
  if (const int by_name = a.name.compare(b.name)) return by_name < 0 ? -1 : 1;
  if (const int by_low = order(a.value, b.value)) return by_low;
  constexpr auto unbounded = std::numeric_limits<std::int64_t>::max();
  if (a.declared_high.has_value() != b.declared_high.has_value()) return a.declared_high ? -1 : 1;
  return order(a.declared_high.value_or(unbounded), b.declared_high.value_or(unbounded));
}

}  // namespace
}  // namespace detail

Expr::Expr(std::int64_t value)
    : node_(value >= detail::smallest_cached && value <= detail::largest_cached
                ? detail::cached_constant(value)
                : detail::constant_node(value)) {}

std::int64_t Expr::of_natural(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error(cat("expression: ", value, " leaves 64 bits"));
  return static_cast<std::int64_t>(value);
}

Expr Expr::variable(std::string_view name, std::int64_t low, std::optional<std::int64_t> high,
                    Location where) {
  if (!detail::is_name(name)) {
    throw Error(
        cat("variable: ", in_quotes(name), " is no name; expected letters, digits and _, no digit first"),
        where);
  }
  if (detail::is_coordinate_name(name)) {
    throw Error(cat("variable: ", in_quotes(name), " names a coordinate; those are made by `coordinate`"),
                where);
  }
  if (high && *high < low)
    throw Error(cat("variable: ", name, " has no value in [", low, ", ", *high, "]"), where);
  return detail::make_variable(std::string(name), low, high);
}

Expr Expr::coordinate(std::size_t axis, const Expr& extent) {
  Node node;
  node.kind = Kind::variable;
  node.is_coordinate = true;
  node.name = "i" + std::to_string(axis);
  node.value = static_cast<std::int64_t>(axis);
  node.children = {extent};
  return detail::make_node(std::move(node));
}

Expr::Kind Expr::kind() const {
  return node_->kind;
}

std::optional<std::int64_t> Expr::constant_value() const {
  if (node_->kind != Kind::constant) return std::nullopt;
  return node_->value;
}

std::string_view Expr::name() const {
  return node_->name;
}

Interval Expr::declared_bounds() const {
  return node_->kind == Kind::variable ? node_->bounds : Interval{};
}

std::optional<std::size_t> Expr::coordinate_axis() const {
  if (!node_->is_coordinate) return std::nullopt;
  return static_cast<std::size_t>(node_->value);
}

Expr Expr::coordinate_extent() const {
  if (!node_->is_coordinate) throw Error(cat("coordinate_extent: ", text(), " is no coordinate"));
  return node_->children[0];
}

std::vector<Expr> Expr::operands() const {
  const auto& node = *node_;
  if (node.kind == Kind::constant || node.kind == Kind::variable) return {};
  auto result = node.children;
  if (node.kind == Kind::mod) result.pop_back();
  const auto neutral = node.kind == Kind::mul ? 1 : 0;
  if ((node.kind == Kind::add || node.kind == Kind::mul) && node.value != neutral)
    result.emplace_back(node.value);
  return result;
}

Interval Expr::bounds() const {
  return node_->bounds;
}
std::uint64_t Expr::hash() const {
  return node_->hash;
}

int Expr::compare(const Expr& other) const {
  if (node_ == other.node_) return 0;
  const auto& a = *node_;
  const auto& b = *other.node_;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.kind == Kind::variable) return detail::compare_variables(a, b);
  const auto count = [](const Node& node) {
    return node.kind == Kind::mod ? std::size_t{2} : node.children.size();
  };
  for (std::size_t i = 0; i < std::min(count(a), count(b)); ++i) {
    if (const int by_child = a.children[i].compare(b.children[i])) return by_child;
  }
  if (const int by_count = detail::order(std::uint64_t{count(a)}, std::uint64_t{count(b)})) return by_count;
  return detail::order(a.value, b.value);
}

}  // namespace luminal
