#include "luminal/egraph/parse_parts.h"

#include "luminal/support/text.h"

namespace luminal::egraph::parts {

std::string print(const Sexpr& form) {
  if (form.kind == Sexpr::Kind::literal) return print_literal(form.literal);
  if (form.kind == Sexpr::Kind::symbol) return form.symbol;
  std::string result = "(";
  for (const Sexpr& item : form.items) {
    if (result.size() > 1) result += " ";
    result += print(item);
  }
  return result + ")";
}

const std::string& symbol(const Sexpr& form, const char* what) {
  if (form.kind != Sexpr::Kind::symbol) throw ProgramError(cat("parse error: expected ", what), form.span);
  return form.symbol;
}

std::string text(const Sexpr& form, const char* what) {
  if (form.kind != Sexpr::Kind::literal || !std::holds_alternative<std::string>(form.literal)) {
    throw ProgramError(cat("parse error: expected ", what, " to be a string literal"), form.span);
  }
  return std::get<std::string>(form.literal);
}

bool is_natural(const Sexpr& form) {
  return form.kind == Sexpr::Kind::literal && std::holds_alternative<std::int64_t>(form.literal) &&
         std::get<std::int64_t>(form.literal) >= 0;
}

std::uint64_t natural(const Sexpr& form, const char* what) {
  if (!is_natural(form)) {
    throw ProgramError(cat("parse error: expected ", what, " to be a nonnegative integer literal"),
                       form.span);
  }
  return static_cast<std::uint64_t>(std::get<std::int64_t>(form.literal));
}

const std::vector<Sexpr>& list(const Sexpr& form, const char* what) {
  if (form.kind != Sexpr::Kind::list) throw ProgramError(cat("parse error: expected ", what), form.span);
  return form.items;
}

std::vector<std::string> symbols(const Sexpr& form, const char* what) {
  std::vector<std::string> result;
  for (const Sexpr& item : list(form, what)) result.push_back(symbol(item, "a sort"));
  return result;
}

const std::string& head(const Sexpr& form, const char* what) {
  if (list(form, what).empty()) throw ProgramError(cat("parse error: expected ", what), form.span);
  if (form.items[0].kind != Sexpr::Kind::symbol)
    throw ProgramError(cat("parse error: expected ", what), form.span);
  return form.items[0].symbol;
}

void expect_size(const Sexpr& form, std::size_t least, std::size_t most, const char* usage) {
  if (form.items.size() < least || form.items.size() > most) {
    throw ProgramError(cat("parse error: usage: ", usage), form.span);
  }
}

std::vector<Option> options(const Sexpr& form, std::size_t first) {
  std::vector<Option> result;
  for (std::size_t i = first; i < form.items.size(); ++i) {
    const Sexpr& item = form.items[i];
    const bool key = item.kind == Sexpr::Kind::symbol && item.symbol[0] == ':';
    if (key) {
      result.push_back({item.symbol, {}});
    } else if (result.empty()) {
      throw ProgramError("parse error: option key must start with ':'", item.span);
    } else {
      result.back().values.push_back(&item);
    }
  }
  return result;
}

Expr expr(const Sexpr& form) {
  Expr result;
  result.span = form.span;
  if (form.kind == Sexpr::Kind::literal) {
    result.literal = form.literal;
    return result;
  }
  if (form.kind == Sexpr::Kind::symbol) {
    if (form.symbol[0] == '@') {
      throw ProgramError("parse error: symbols starting with '@' are reserved", form.span);
    }
    result.kind = Expr::Kind::variable;
    result.name = form.symbol;
    return result;
  }
  if (form.items.empty()) return result;
  result.kind = Expr::Kind::call;
  result.name = head(form, "call expression");
  result.arguments.reserve(form.items.size() - 1);
  for (std::size_t i = 1; i < form.items.size(); ++i) result.arguments.push_back(expr(form.items[i]));
  return result;
}

Fact fact(const Sexpr& form) {
  if (head(form, "fact") != "=") return {form.span, expr(form), std::nullopt};
  expect_size(form, 3, 3, "(= <expr> <expr>)");
  return {form.span, expr(form.items[1]), expr(form.items[2])};
}

Action action(const Sexpr& form) {
  const std::string& name = head(form, "action");
  Action result;
  result.span = form.span;
  const auto call = [&](const Sexpr& item) {
    head(item, "table lookup");
    return expr(item);
  };
  if (name == "let") {
    expect_size(form, 3, 3, "(let <name> <expr>)");
    result.kind = Action::Kind::let;
    result.name = expr(form.items[1]).kind == Expr::Kind::variable ? form.items[1].symbol : "";
    if (result.name.empty()) throw ProgramError("parse error: expected binding name", form.items[1].span);
    result.operands = {expr(form.items[2])};
  } else if (name == "set") {
    expect_size(form, 3, 3, "(set (<table name> <expr>*) <expr>)");
    result.kind = Action::Kind::set;
    result.operands = {call(form.items[1]), expr(form.items[2])};
  } else if (name == "union") {
    expect_size(form, 3, 3, "(union <expr> <expr>)");
    result.kind = Action::Kind::unite;
    result.operands = {expr(form.items[1]), expr(form.items[2])};
  } else if (name == "delete" || name == "subsume") {
    expect_size(form, 2, 2, "(delete (<table name> <expr>*)) or (subsume (<table name> <expr>*))");
    result.kind = name == "delete" ? Action::Kind::remove : Action::Kind::subsume;
    result.operands = {call(form.items[1])};
  } else if (name == "panic") {
    expect_size(form, 2, 2, "(panic <string>)");
    result.kind = Action::Kind::panic;
    result.name = text(form.items[1], "error message");
  } else {
    result.operands = {expr(form)};
  }
  return result;
}

std::vector<Fact> until(const Sexpr& form, std::size_t first) {
  std::vector<Fact> facts;
  const std::vector<Option> given = options(form, first);
  if (given.empty()) return facts;
  if (given.size() > 1 || given[0].key != ":until") {
    throw ProgramError("parse error: could not parse run options", form.span);
  }
  for (const Sexpr* item : given[0].values) facts.push_back(fact(*item));
  return facts;
}

Schedule schedule(const Sexpr& form) {
  Schedule result;
  result.span = form.span;
  if (form.kind == Sexpr::Kind::symbol) {
    result.kind = Schedule::Kind::run;
    result.ruleset = form.symbol;
    return result;
  }
  const std::string name = head(form, "schedule");
  std::size_t next = 1;
  if (name == "run") {
    result.kind = Schedule::Kind::run;
    const bool named = form.items.size() > 1 &&
                       !(form.items[1].kind == Sexpr::Kind::symbol && form.items[1].symbol == ":until");
    if (named) result.ruleset = symbol(form.items[next++], "ruleset name");
    result.until = until(form, next);
    return result;
  }
  if (name == "saturate") {
    result.kind = Schedule::Kind::saturate;
  } else if (name == "repeat") {
    expect_size(form, 2, no_limit, "(repeat <number of iterations> <schedule>*)");
    result.kind = Schedule::Kind::repeat;
    result.limit = natural(form.items[next++], "number of iterations");
  } else if (name != "seq") {
    throw ProgramError("parse error: expected either saturate, seq, repeat, or run", form.span);
  }
  for (; next < form.items.size(); ++next) result.parts.push_back(schedule(form.items[next]));
  return result;
}

Variant variant(const Sexpr& form) {
  Variant result;
  result.span = form.span;
  result.name = head(form, "datatype variant");
  std::size_t last = form.items.size();
  const auto is = [&](std::size_t i, const char* key) {
    return form.items[i].kind == Sexpr::Kind::symbol && form.items[i].symbol == key;
  };
  if (last >= 2 && is(last - 1, ":unextractable")) {
    result.options.extractable = false;
    last -= 1;
  } else if (last >= 3 && is(last - 2, ":cost")) {
    result.options.cost = natural(form.items[last - 1], "cost");
    last -= 2;
  }
  for (std::size_t i = 1; i < last; ++i)
    result.inputs.push_back(symbol(form.items[i], "variant argument type"));
  return result;
}

}  // namespace luminal::egraph::parts
