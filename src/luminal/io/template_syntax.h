#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/io/template_value.h"

namespace luminal::io {

enum class TokenKind : std::uint8_t {
  text,
  name,
  string,
  integer,
  real,
  symbol,
  print_begin,
  print_end,
  block_begin,
  block_end,
  end
};

struct TemplateToken {
  TokenKind kind = TokenKind::end;
  std::string text;
  std::size_t line = 1;
};

/// Cuts a template into text and tokens with Jinja's whitespace control, trim_blocks and lstrip_blocks on, as
/// transformers sets it. `Error` with file and line for what is not closed or not known.
std::vector<TemplateToken> lex_template(std::string_view source, const std::string& file);

enum class NodeKind : std::uint8_t {
  // expressions
  constant,
  name,
  list,
  tuple,
  mapping,
  attribute,
  subscript,
  slice,
  call,
  filter,
  test,
  negate,
  plus,
  binary,
  compare,
  logical_not,
  logical_and,
  logical_or,
  conditional,
  concatenate,
  // statements
  body,
  text,
  print,
  branch,
  loop,
  assign,
  assign_block,
  macro,
  filter_block,
  with_block,
  break_loop,
  continue_loop
};

/// One node of a template. What `children`, `named` and `names` hold depends on the kind; see the parser.
struct TemplateNode {
  NodeKind kind = NodeKind::body;
  std::size_t line = 1;
  std::string text;
  TemplateValue value;
  std::vector<std::unique_ptr<TemplateNode>> children;  // some may be null: parts that were left out
  std::vector<std::pair<std::string, std::unique_ptr<TemplateNode>>> named;
  std::vector<std::string> names;
};
using TemplateNodePtr = std::unique_ptr<TemplateNode>;

/// `Error` naming the construct and its line for what is malformed or not supported.
TemplateNodePtr parse_template(std::string_view source, const std::string& file);

/// Whether a filter or test of this name exists.
bool is_known_filter(std::string_view name);
bool is_known_test(std::string_view name);
TemplateValue apply_filter(const std::string& name, const TemplateValue& input,
                           const TemplateArguments& arguments);
bool apply_test(const std::string& name, const TemplateValue& input, const TemplateArguments& arguments);
/// A method or field of a value; undefined if there is none.
TemplateValue attribute_of(const TemplateValue& value, const std::string& name);
TemplateValue item_of(const TemplateValue& value, const TemplateValue& key);
TemplateValue slice_of(const TemplateValue& value, const TemplateValue& start, const TemplateValue& stop,
                       const TemplateValue& step);
TemplateValue binary_operation(const std::string& operation, const TemplateValue& a, const TemplateValue& b);
bool contains(const TemplateValue& container, const TemplateValue& element);

}  // namespace luminal::io
