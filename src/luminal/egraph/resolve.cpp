#include "luminal/egraph/resolve.h"

#include <algorithm>

#include "luminal/support/text.h"

namespace luminal::egraph {

std::uint32_t Resolver::new_slot() {
  slots_.push_back({static_cast<std::uint32_t>(slots_.size()), SortId()});
  return slots_.back().parent;
}

std::uint32_t Resolver::root(std::uint32_t slot) const {
  while (slots_[slot].parent != slot) slot = slots_[slot].parent;
  return slot;
}

std::string Resolver::sort_name(std::uint32_t slot) const {
  const SortId sort = slots_[root(slot)].sort;
  return sort.none() ? "?" : database_.sort(sort).name;
}

void Resolver::assign(std::uint32_t slot, SortId sort, const Expr& expr) {
  SortId& known = slots_[root(slot)].sort;
  if (known.none()) known = sort;
  if (known == sort) return;
  throw ProgramError(cat("expected expression ", print_expr(expr), " to have type ",
                         database_.sort(sort).name, ", but it has type ", database_.sort(known).name),
                     expr.span);
}

void Resolver::unify(std::uint32_t a, std::uint32_t b, const Expr& expr) {
  a = root(a);
  b = root(b);
  if (a == b) return;
  if (slots_[a].sort.none()) std::swap(a, b);
  if (!slots_[b].sort.none()) assign(b, slots_[a].sort, expr);
  slots_[b].parent = a;
}

std::uint32_t Resolver::add_pattern(const Expr& expr) {
  patterns_ = true;
  return add(expr);
}

std::uint32_t Resolver::add_value(const Expr& expr) {
  patterns_ = false;
  return add(expr);
}

std::uint32_t Resolver::bind(const std::string& name, std::uint32_t node, Span span) {
  if (names_.contains(name)) throw ProgramError(cat("variable ", name, " was already defined"), span);
  const auto variable = static_cast<std::uint32_t>(variables_.size());
  variables_.push_back({name, nodes_[node].slot, nodes_[node].source});
  names_.emplace(name, variable);
  return variable;
}

std::uint32_t Resolver::declare(const std::string& name, SortId sort) {
  const auto variable = static_cast<std::uint32_t>(variables_.size());
  variables_.push_back({name, new_slot(), nullptr});
  slots_.back().sort = sort;
  names_.emplace(name, variable);
  return variable;
}

void Resolver::equate(std::uint32_t left, std::uint32_t right) {
  unify(nodes_[left].slot, nodes_[right].slot, *nodes_[right].source);
}

void Resolver::expect(std::uint32_t node, SortId sort) {
  assign(nodes_[node].slot, sort, *nodes_[node].source);
}

std::uint32_t Resolver::add(const Expr& expr) {
  if (expr.kind == Expr::Kind::variable) return add_name(expr);
  ResolvedExpr node;
  node.source = &expr;
  node.slot = new_slot();
  if (expr.kind == Expr::Kind::constant) {
    assign(node.slot, expr.sort, expr);
  } else if (expr.kind == Expr::Kind::literal) {
    static constexpr const char* names[] = {"Unit", "bool", "i64", "f64", "String"};
    assign(node.slot, *database_.find_sort(names[expr.literal.index()]), expr);
  } else {
    for (const Expr& argument : expr.arguments) node.arguments.push_back(add(argument));
    add_call(expr, node);
  }
  nodes_.push_back(std::move(node));
  const auto id = static_cast<std::uint32_t>(nodes_.size() - 1);
  if (nodes_[id].kind == ResolvedExpr::Kind::primitive) undecided_.push_back(id);
  return id;
}

std::uint32_t Resolver::add_name(const Expr& expr) {
  ResolvedExpr node;
  node.source = &expr;
  const auto known = names_.find(expr.name);
  const auto global = database_.find_global(expr.name);
  const bool fresh = patterns_ && expr.name == "_";
  if (known != names_.end() && !fresh) {
    node.kind = ResolvedExpr::Kind::variable;
    node.variable = known->second;
    node.slot = variables_[known->second].slot;
  } else if (global) {
    node.kind = ResolvedExpr::Kind::global;
    node.function = global->function;
    node.global = global->number;
    node.slot = new_slot();
    assign(node.slot, database_.function(global->function).output, expr);
  } else if (patterns_) {
    node.kind = ResolvedExpr::Kind::variable;
    node.variable = static_cast<std::uint32_t>(variables_.size());
    node.slot = new_slot();
    variables_.push_back({expr.name, node.slot, &expr});
    if (!fresh) names_.emplace(expr.name, node.variable);
  } else {
    throw ProgramError(cat("unbound symbol ", expr.name), expr.span);
  }
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

// What a function value calls is known when the program is read.
void Resolver::check_name(const Expr& expr) const {
  const bool literal = !expr.arguments.empty() && expr.arguments[0].kind == Expr::Kind::literal &&
                       std::holds_alternative<std::string>(expr.arguments[0].literal);
  if (!literal)
    throw ProgramError(cat("the first argument must be a function's name in quotes: ", print_expr(expr)),
                       expr.span);
  const std::string& name = std::get<std::string>(expr.arguments[0].literal);
  if (!database_.find_function(name) && database_.overloads(name).empty())
    throw ProgramError(cat("unbound function ", name), expr.arguments[0].span);
}

void Resolver::add_call(const Expr& expr, ResolvedExpr& node) {
  const auto function = database_.find_function(expr.name);
  if (!function) {
    if (database_.overloads(expr.name).empty()) {
      throw ProgramError(cat("unbound function ", expr.name), expr.span);
    }
    node.kind = ResolvedExpr::Kind::primitive;
    if (database_.primitive(database_.overloads(expr.name).front()).names_function) check_name(expr);
    return;
  }
  node.kind = ResolvedExpr::Kind::function;
  node.function = *function;
  const Function& callee = database_.function(*function);
  if (callee.inputs.size() != expr.arguments.size()) {
    throw ProgramError(cat("arity mismatch, expected ", callee.inputs.size(), " args: ", print_expr(expr)),
                       expr.span);
  }
  for (std::size_t i = 0; i < callee.inputs.size(); ++i) {
    assign(nodes_[node.arguments[i]].slot, callee.inputs[i], expr.arguments[i]);
  }
  assign(node.slot, callee.output, expr);
}

// Whether a function value's arguments can be of these sorts.
bool Resolver::fits(const ResolvedExpr& node, std::span<const SortId> inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const SortId known = slots_[root(nodes_[node.arguments[i + 1]].slot)].sort;
    if (!known.none() && known != inputs[i]) return false;
  }
  return true;
}

std::vector<Resolver::Target> Resolver::targets(const ResolvedExpr& node, const Sort& sort) const {
  const std::string& name = std::get<std::string>(node.source->arguments[0].literal);
  const std::size_t given = node.arguments.size() - 1;
  const std::size_t taken = sort.elements.size() - 1;
  std::vector<Target> result;
  const auto consider = [&](Value callee, std::vector<SortId> sorts, SortId output) {
    const bool same = output == sort.elements.back() &&
                      std::equal(sorts.begin() + static_cast<std::ptrdiff_t>(given), sorts.end(),
                                 sort.elements.begin(), sort.elements.end() - 1);
    sorts.resize(given);
    if (same && fits(node, sorts)) result.push_back({callee, std::move(sorts)});
  };
  if (const auto function = database_.find_function(name)) {
    const Function& called = database_.function(*function);
    if (called.inputs.size() == given + taken) {
      consider(Database::callee(*function), called.inputs, called.output);
    }
    return result;
  }
  for (const PrimitiveId id : database_.overloads(name)) {
    const Primitive& primitive = database_.primitive(id);
    if (primitive.names_function || !primitive.takes(given + taken)) continue;
    std::vector<SortId> sorts;
    for (std::size_t i = 0; i < given + taken; ++i) sorts.push_back(primitive.input(i));
    consider(Database::callee(id), std::move(sorts), primitive.output);
  }
  return result;
}

bool Resolver::viable(const ResolvedExpr& node, const Primitive& primitive) const {
  if (primitive.names_function) {
    const SortId known = slots_[root(node.slot)].sort;
    return (known.none() || known == primitive.output) &&
           !targets(node, database_.sort(primitive.output)).empty();
  }
  if (!primitive.takes(node.arguments.size())) return false;
  SortId any;
  const auto fits = [&](std::uint32_t slot, SortId wanted) {
    const SortId known = slots_[root(slot)].sort;
    if (known.none()) return true;
    if (wanted != any_sort) return known == wanted;
    if (any.none()) any = known;
    return any == known;
  };
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    if (!fits(nodes_[node.arguments[i]].slot, primitive.input(i))) return false;
  }
  return fits(node.slot, primitive.output);
}

void Resolver::apply(const ResolvedExpr& node, const Primitive& primitive) {
  if (primitive.names_function) {
    const auto possible = targets(node, database_.sort(primitive.output));
    for (std::size_t i = 0; i < possible.front().given.size(); ++i) {
      assign(nodes_[node.arguments[i + 1]].slot, possible.front().given[i], *node.source);
    }
    return assign(node.slot, primitive.output, *node.source);
  }
  std::optional<std::uint32_t> any;
  const auto place = [&](std::uint32_t slot, SortId wanted) {
    if (wanted != any_sort) return assign(slot, wanted, *node.source);
    if (any) unify(*any, slot, *node.source);
    any = slot;
  };
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    place(nodes_[node.arguments[i]].slot, primitive.input(i));
  }
  place(node.slot, primitive.output);
}

bool Resolver::decide(ResolvedExpr& node) {
  std::optional<PrimitiveId> only;
  for (const PrimitiveId id : database_.overloads(node.source->name)) {
    if (!viable(node, database_.primitive(id))) continue;
    if (only) return false;
    only = id;
  }
  if (!only) refuse(node);
  if (database_.primitive(*only).names_function) {
    const auto possible = targets(node, database_.sort(database_.primitive(*only).output));
    if (possible.size() > 1) return false;
    node.callee = possible.front().callee;
  }
  node.primitive = *only;
  apply(node, database_.primitive(*only));
  return true;
}

void Resolver::refuse(const ResolvedExpr& node) const {
  const auto overloads = database_.overloads(node.source->name);
  if (database_.primitive(overloads.front()).names_function) {
    const SortId known = slots_[root(node.slot)].sort;
    throw ProgramError(cat("cannot be a function of ", known.none() ? "any declared sort" : "sort ",
                           known.none() ? "" : database_.sort(known).name, ": ", print_expr(*node.source)),
                       node.source->span);
  }
  const bool arity = std::none_of(overloads.begin(), overloads.end(), [&](PrimitiveId id) {
    return database_.primitive(id).takes(node.arguments.size());
  });
  if (arity) throw ProgramError(cat("arity mismatch: ", print_expr(*node.source)), node.source->span);
  std::vector<std::string> sorts;
  sorts.reserve(node.arguments.size());
  for (const std::uint32_t argument : node.arguments) sorts.push_back(sort_name(nodes_[argument].slot));
  throw ProgramError(cat("no primitive ", node.source->name, " takes (", join(sorts, " "), ") and gives ",
                         sort_name(node.slot), ": ", print_expr(*node.source)),
                     node.source->span);
}

void Resolver::solve() {
  bool progress = true;
  while (progress && !undecided_.empty()) {
    progress = false;
    std::vector<std::uint32_t> open;
    for (const std::uint32_t id : undecided_) {
      if (decide(nodes_[id])) {
        progress = true;
      } else {
        open.push_back(id);
      }
    }
    undecided_ = std::move(open);
  }
  if (!undecided_.empty()) {
    const Expr& expr = *nodes_[undecided_.front()].source;
    throw ProgramError(cat("failed to infer a type for: ", print_expr(expr)), expr.span);
  }
  for (const ResolvedExpr& node : nodes_) {
    if (slots_[root(node.slot)].sort.none()) {
      throw ProgramError(cat("failed to infer a type for: ", print_expr(*node.source)), node.source->span);
    }
  }
}

}  // namespace luminal::egraph
