#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "luminal/io/template_syntax.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr int deepest_nesting = 150;

class Parser {
 public:
  Parser(std::vector<TemplateToken> tokens, const std::string& file)
      : tokens_(std::move(tokens)), file_(file) {}

  TemplateNodePtr run() {
    TemplateNodePtr body = statements({});
    if (now().kind != TokenKind::end) refuse(cat("'", now().text, "' was not expected"));
    return body;
  }

 private:
  // --- tokens ---
  const TemplateToken& now() const { return tokens_[at_]; }
  const TemplateToken& next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(cat(file_, ": line ", now().line, ": ", why));
  }
  bool is(TokenKind kind, std::string_view text) const { return now().kind == kind && now().text == text; }
  bool is_symbol(std::string_view text) const { return is(TokenKind::symbol, text); }
  bool is_name(std::string_view text) const { return is(TokenKind::name, text); }
  bool take_symbol(std::string_view text) {
    if (!is_symbol(text)) return false;
    ++at_;
    return true;
  }
  bool take_name(std::string_view text) {
    if (!is_name(text)) return false;
    ++at_;
    return true;
  }
  std::string shown() const {
    return now().kind == TokenKind::end         ? "the end"
           : now().kind == TokenKind::block_end ? "'%}'"
           : now().kind == TokenKind::print_end ? "'}}'"
                                                : cat("'", now().text, "'");
  }
  void expect_symbol(std::string_view text) {
    if (!take_symbol(text)) refuse(cat("expected '", text, "', got ", shown()));
  }
  void expect_name(std::string_view text) {
    if (!take_name(text)) refuse(cat("expected '", text, "', got ", shown()));
  }
  std::string take_identifier(const char* what) {
    if (now().kind != TokenKind::name) refuse(cat("expected ", what, ", got ", shown()));
    return tokens_[at_++].text;
  }
  void expect_end(TokenKind kind) {
    if (now().kind != kind)
      refuse(cat("expected '", kind == TokenKind::block_end ? "%}" : "}}", "', got ", shown()));
    ++at_;
  }

  /// Nesting is bounded, so that no template overflows the stack here or where it runs.
  struct Level {
    explicit Level(Parser& parser_) : parser(parser_) {
      if (++parser.depth_ > deepest_nesting)
        parser.refuse(cat("nesting deeper than ", deepest_nesting, " is refused"));
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser.depth_; }
    Parser& parser;
  };

  TemplateNodePtr make(NodeKind kind) const {
    auto node = std::make_unique<TemplateNode>();
    node->kind = kind;
    node->line = now().line;
    return node;
  }
  TemplateNodePtr wrap(NodeKind kind, TemplateNodePtr child, std::string text = "") const {
    TemplateNodePtr node = make(kind);
    node->line = child->line;
    node->text = std::move(text);
    node->children.push_back(std::move(child));
    return node;
  }
  TemplateNodePtr pair(NodeKind kind, TemplateNodePtr left, TemplateNodePtr right,
                       std::string text = "") const {
    TemplateNodePtr node = wrap(kind, std::move(left), std::move(text));
    node->children.push_back(std::move(right));
    return node;
  }

  // --- statements ---
  /// Up to one of the given words, which is left at its '{%'.
  TemplateNodePtr statements(const std::vector<std::string_view>& ends) {
    const Level level(*this);
    TemplateNodePtr body = make(NodeKind::body);
    while (now().kind != TokenKind::end) {
      if (now().kind == TokenKind::text) {
        TemplateNodePtr text = make(NodeKind::text);
        text->text = tokens_[at_++].text;
        body->children.push_back(std::move(text));
      } else if (now().kind == TokenKind::print_begin) {
        ++at_;
        body->children.push_back(wrap(NodeKind::print, expression_list()));
        expect_end(TokenKind::print_end);
      } else {
        if (next().kind == TokenKind::name && std::find(ends.begin(), ends.end(), next().text) != ends.end())
          return body;
        ++at_;
        if (TemplateNodePtr node = statement()) body->children.push_back(std::move(node));
      }
    }
    if (!ends.empty()) refuse(cat("'{% ", ends.back(), " %}' is missing"));
    return body;
  }

  TemplateNodePtr statement() {
    const std::size_t start = at_;
    const std::string word = take_identifier("a statement");
    if (word == "if") return branch();
    if (word == "for") return loop();
    if (word == "set") return assignment();
    if (word == "macro") return macro();
    if (word == "filter") return filter_block();
    if (word == "with") return with_block();
    if (word == "break" || word == "continue") {
      if (loops_ == 0) refuse(cat("'", word, "' outside a loop"));
      TemplateNodePtr node = make(word == "break" ? NodeKind::break_loop : NodeKind::continue_loop);
      expect_end(TokenKind::block_end);
      return node;
    }
    if (word == "generation") {  // marks what the assistant wrote; changes nothing in the text
      expect_end(TokenKind::block_end);
      return closed("endgeneration");
    }
    at_ = start;
    refuse(cat("the statement '", word, "' is not supported"));
  }

  /// The body up to `{% end %}`, and that tag.
  TemplateNodePtr closed(std::string_view end) {
    TemplateNodePtr body = statements({end});
    ++at_;
    expect_name(end);
    expect_end(TokenKind::block_end);
    return body;
  }

  /// children: condition, body, condition, body … and perhaps a last body.
  TemplateNodePtr branch() {
    TemplateNodePtr node = make(NodeKind::branch);
    node->children.push_back(expression());
    expect_end(TokenKind::block_end);
    for (;;) {
      node->children.push_back(statements({"elif", "else", "endif"}));
      ++at_;
      const std::string word = take_identifier("a statement");
      if (word == "elif") node->children.push_back(expression());
      expect_end(TokenKind::block_end);
      if (word == "else") node->children.push_back(closed("endif"));
      if (word != "elif") return node;
    }
  }

  std::vector<std::string> targets() {
    std::vector<std::string> names;
    const bool bracket = take_symbol("(");
    do {
      if (!names.empty() && now().kind != TokenKind::name) break;
      names.push_back(take_identifier("a variable's name"));
    } while (take_symbol(","));
    if (bracket) expect_symbol(")");
    return names;
  }

  /// names: targets; children: iterable, condition or null, body, else or null.
  TemplateNodePtr loop() {
    TemplateNodePtr node = make(NodeKind::loop);
    node->names = targets();
    expect_name("in");
    node->children.push_back(expression_list(false));
    node->children.push_back(take_name("if") ? expression() : nullptr);
    if (is_name("recursive")) refuse("recursive loops are not supported");
    expect_end(TokenKind::block_end);
    ++loops_;
    node->children.push_back(statements({"else", "endfor"}));
    --loops_;
    ++at_;
    const bool has_else = take_identifier("a statement") == "else";
    expect_end(TokenKind::block_end);
    node->children.push_back(has_else ? closed("endfor") : nullptr);
    return node;
  }

  /// names: targets; text: a namespace's field; children: the value, or the block.
  TemplateNodePtr assignment() {
    TemplateNodePtr node = make(NodeKind::assign);
    if (now().kind == TokenKind::name && next().kind == TokenKind::symbol && next().text == ".") {
      node->names.push_back(take_identifier("a name"));
      ++at_;
      node->text = take_identifier("a field's name");
    } else {
      node->names = targets();
    }
    if (take_symbol("=")) {
      node->children.push_back(expression_list());
      expect_end(TokenKind::block_end);
      return node;
    }
    if (!is_symbol("|") && now().kind != TokenKind::block_end) refuse(cat("expected '=', got ", shown()));
    node->kind = NodeKind::assign_block;
    TemplateNodePtr filters = filter_chain(nullptr);
    expect_end(TokenKind::block_end);
    node->children.push_back(closed("endset"));
    node->children.push_back(std::move(filters));
    return node;
  }

  /// text: name; names: parameters; named: defaults; children: body.
  TemplateNodePtr macro() {
    TemplateNodePtr node = make(NodeKind::macro);
    node->text = take_identifier("a macro's name");
    expect_symbol("(");
    while (!is_symbol(")")) {
      if (is_symbol("*") || is_symbol("**")) refuse("'*' and '**' parameters are not supported");
      node->names.push_back(take_identifier("a parameter's name"));
      if (take_symbol("=")) node->named.emplace_back(node->names.back(), expression());
      if (!take_symbol(",")) break;
    }
    expect_symbol(")");
    expect_end(TokenKind::block_end);
    const int outer = std::exchange(loops_, 0);
    ++macros_;
    node->children.push_back(closed("endmacro"));
    --macros_;
    loops_ = outer;
    return node;
  }

  TemplateNodePtr filter_block() {
    TemplateNodePtr node = make(NodeKind::filter_block);
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(at_), {TokenKind::symbol, "|", now().line});
    TemplateNodePtr filters = filter_chain(nullptr);
    expect_end(TokenKind::block_end);
    node->children.push_back(closed("endfilter"));
    node->children.push_back(std::move(filters));
    return node;
  }

  TemplateNodePtr with_block() {
    TemplateNodePtr node = make(NodeKind::with_block);
    while (now().kind == TokenKind::name) {
      std::string name = take_identifier("a name");
      expect_symbol("=");
      node->named.emplace_back(std::move(name), expression());
      if (!take_symbol(",")) break;
    }
    expect_end(TokenKind::block_end);
    node->children.push_back(closed("endwith"));
    return node;
  }

  // --- expressions, loosest first ---
  /// "a, b" makes a tuple.
  TemplateNodePtr expression_list(bool with_condition = true) {
    TemplateNodePtr first = with_condition ? expression() : disjunction();
    if (!is_symbol(",")) return first;
    TemplateNodePtr list = wrap(NodeKind::tuple, std::move(first));
    while (take_symbol(",")) {
      if (now().kind == TokenKind::print_end || now().kind == TokenKind::block_end || is_symbol(")")) break;
      list->children.push_back(with_condition ? expression() : disjunction());
    }
    return list;
  }

  TemplateNodePtr expression() {
    const Level level(*this);
    TemplateNodePtr value = disjunction();
    while (take_name("if")) {
      TemplateNodePtr node = wrap(NodeKind::conditional, disjunction());
      node->children.push_back(std::move(value));
      node->children.push_back(take_name("else") ? expression() : nullptr);
      value = std::move(node);
    }
    return value;
  }

  TemplateNodePtr disjunction() {
    TemplateNodePtr left = conjunction();
    while (take_name("or")) left = pair(NodeKind::logical_or, std::move(left), conjunction());
    return left;
  }
  TemplateNodePtr conjunction() {
    TemplateNodePtr left = negation();
    while (take_name("and")) left = pair(NodeKind::logical_and, std::move(left), negation());
    return left;
  }
  TemplateNodePtr negation() {
    const Level level(*this);
    if (take_name("not")) return wrap(NodeKind::logical_not, negation());
    return comparison();
  }

  /// children: operands; names: operators between them.
  TemplateNodePtr comparison() {
    TemplateNodePtr left = sum();
    TemplateNodePtr node;
    for (;;) {
      std::string operation;
      if (now().kind == TokenKind::symbol) {
        for (const char* candidate : {"==", "!=", "<=", ">=", "<", ">"})
          if (operation.empty() && take_symbol(candidate)) operation = candidate;
      } else if (take_name("in")) {
        operation = "in";
      } else if (is_name("not") && next().kind == TokenKind::name && next().text == "in") {
        at_ += 2;
        operation = "not in";
      }
      if (operation.empty()) return node ? std::move(node) : std::move(left);
      if (!node) node = wrap(NodeKind::compare, std::move(left));
      node->names.push_back(std::move(operation));
      node->children.push_back(sum());
    }
  }

  template <typename Operand>
  TemplateNodePtr binary(const std::vector<std::string_view>& operations, const Operand& operand) {
    TemplateNodePtr left = operand();
    for (;;) {
      const auto found =
          std::find_if(operations.begin(), operations.end(), [&](auto o) { return is_symbol(o); });
      if (found == operations.end()) return left;
      ++at_;
      left = pair(NodeKind::binary, std::move(left), operand(), std::string(*found));
    }
  }
  TemplateNodePtr sum() {
    return binary({"+", "-"}, [this] { return concatenation(); });
  }
  TemplateNodePtr concatenation() {
    TemplateNodePtr left = product();
    while (take_symbol("~")) left = pair(NodeKind::concatenate, std::move(left), product());
    return left;
  }
  TemplateNodePtr product() {
    return binary({"*", "/", "//", "%"}, [this] { return power(); });
  }
  TemplateNodePtr power() {
    return binary({"**"}, [this] { return unary(true); });
  }

  TemplateNodePtr unary(bool with_filters) {
    const Level level(*this);
    TemplateNodePtr node;
    if (take_symbol("-"))
      node = wrap(NodeKind::negate, unary(false));
    else if (take_symbol("+"))
      node = wrap(NodeKind::plus, unary(false));
    else
      node = postfix(primary());
    return with_filters ? filter_chain(std::move(node)) : std::move(node);
  }

  TemplateNodePtr constant(TemplateValue value) {
    TemplateNodePtr node = make(NodeKind::constant);
    node->value = std::move(value);
    ++at_;
    return node;
  }

  TemplateNodePtr primary() {
    const TemplateToken token = now();
    switch (token.kind) {
      case TokenKind::name:
        if (token.text == "true" || token.text == "True") return constant(true);
        if (token.text == "false" || token.text == "False") return constant(false);
        if (token.text == "none" || token.text == "None") return constant({});
        break;
      case TokenKind::string: {
        std::string text;
        while (now().kind == TokenKind::string) text += tokens_[at_++].text;  // neighbours are one
        --at_;
        return constant(std::move(text));
      }
      case TokenKind::integer:
        return constant(integer(token.text));
      case TokenKind::real:
        return constant(std::strtod(token.text.c_str(), nullptr));
      default:
        return bracketed();
    }
    if (macros_ > 0 && (token.text == "varargs" || token.text == "kwargs"))
      refuse(cat("'", token.text, "' in a macro is not supported"));
    TemplateNodePtr node = make(NodeKind::name);
    node->text = token.text;
    ++at_;
    return node;
  }

  std::int64_t integer(const std::string& text) const {
    std::int64_t value = 0;
    const bool prefixed = text.size() > 2 && !std::isdigit(static_cast<unsigned char>(text[1]));
    const int base = !prefixed ? 10 : text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;
    const auto [end, failure] =
        std::from_chars(text.data() + (prefixed ? 2 : 0), text.data() + text.size(), value, base);
    if (failure != std::errc() || end != text.data() + text.size())
      refuse(cat("the number ", text, " exceeds 64 bits"));
    return value;
  }

  TemplateNodePtr bracketed() {
    if (take_symbol("(")) {
      if (take_symbol(")")) return make(NodeKind::tuple);
      TemplateNodePtr node = expression_list();
      expect_symbol(")");
      return node;
    }
    if (is_symbol("[")) {
      TemplateNodePtr node = make(NodeKind::list);
      ++at_;
      while (!is_symbol("]")) {
        node->children.push_back(expression());
        if (!take_symbol(",")) break;
      }
      expect_symbol("]");
      return node;
    }
    if (is_symbol("{")) {  // children: key, value, key, value …
      TemplateNodePtr node = make(NodeKind::mapping);
      ++at_;
      while (!is_symbol("}")) {
        node->children.push_back(expression());
        expect_symbol(":");
        node->children.push_back(expression());
        if (!take_symbol(",")) break;
      }
      expect_symbol("}");
      return node;
    }
    refuse(cat("expected a value, got ", shown()));
  }

  TemplateNodePtr postfix(TemplateNodePtr node) {
    for (int links = 0;; ++links) {
      if (links > deepest_nesting) refuse("a chain of fields and calls is too long");
      if (take_symbol(".")) {
        if (now().kind == TokenKind::integer) {
          TemplateNodePtr index = constant(integer(now().text));
          node = pair(NodeKind::subscript, std::move(node), std::move(index));
        } else {
          node = wrap(NodeKind::attribute, std::move(node), take_identifier("a field's name"));
        }
      } else if (take_symbol("[")) {
        node = subscript(std::move(node));
      } else if (is_symbol("(")) {
        node = wrap(NodeKind::call, std::move(node));
        arguments(*node);
      } else {
        return node;
      }
    }
  }

  /// value[key], or value[start:stop:step] with nulls for what is left out.
  TemplateNodePtr subscript(TemplateNodePtr value) {
    std::vector<TemplateNodePtr> parts;
    bool is_slice = false;
    parts.push_back(is_symbol(":") ? nullptr : expression());
    while (parts.size() < 3 && take_symbol(":")) {
      is_slice = true;
      parts.push_back(is_symbol(":") || is_symbol("]") ? nullptr : expression());
    }
    expect_symbol("]");
    TemplateNodePtr node = wrap(is_slice ? NodeKind::slice : NodeKind::subscript, std::move(value));
    if (is_slice) parts.resize(3);
    for (auto& part : parts) node->children.push_back(std::move(part));
    return node;
  }

  void arguments(TemplateNode& node) {
    expect_symbol("(");
    while (!is_symbol(")")) {
      if (is_symbol("*") || is_symbol("**")) refuse("'*' and '**' arguments are not supported");
      if (now().kind == TokenKind::name && next().kind == TokenKind::symbol && next().text == "=") {
        std::string name = take_identifier("a name");
        ++at_;
        node.named.emplace_back(std::move(name), expression());
      } else {
        if (!node.named.empty()) refuse("a positional argument follows a named one");
        node.children.push_back(expression());
      }
      if (!take_symbol(",")) break;
    }
    expect_symbol(")");
  }

  /// children: the input (null: what a block gives), then arguments.
  TemplateNodePtr filter_chain(TemplateNodePtr node) {
    for (int links = 0;; ++links) {
      if (links > deepest_nesting) refuse("a chain of filters is too long");
      if (take_symbol("|")) {
        TemplateNodePtr filter = make(NodeKind::filter);
        filter->text = take_identifier("a filter's name");
        if (!is_known_filter(filter->text)) refuse(cat("the filter '", filter->text, "' is not supported"));
        filter->children.push_back(std::move(node));
        if (is_symbol("(")) arguments(*filter);
        node = std::move(filter);
      } else if (node && is_name("is")) {
        node = test(std::move(node));
      } else if (node && is_symbol("(")) {
        node = wrap(NodeKind::call, std::move(node));
        arguments(*node);
      } else {
        return node;
      }
    }
  }

  TemplateNodePtr test(TemplateNodePtr input) {
    ++at_;
    const bool negated = take_name("not");
    TemplateNodePtr node = wrap(NodeKind::test, std::move(input), take_identifier("a test's name"));
    if (!is_known_test(node->text)) refuse(cat("the test '", node->text, "' is not supported"));
    const bool operand =
        now().kind == TokenKind::string || now().kind == TokenKind::integer ||
        now().kind == TokenKind::real || is_symbol("[") || is_symbol("{") ||
        (now().kind == TokenKind::name && !is_name("else") && !is_name("or") && !is_name("and") &&
         !is_name("if") && !is_name("is") && !is_name("in") && !is_name("not"));
    if (is_symbol("("))
      arguments(*node);
    else if (operand)
      node->children.push_back(postfix(primary()));
    return negated ? wrap(NodeKind::logical_not, std::move(node)) : std::move(node);
  }

  std::vector<TemplateToken> tokens_;
  const std::string& file_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int loops_ = 0;
  int macros_ = 0;
};

}  // namespace

TemplateNodePtr parse_template(std::string_view source, const std::string& file) {
  return Parser(lex_template(source, file), file).run();
}

}  // namespace luminal::io
