#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "files.h"
#include "luminal/io/chat_template.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

const std::string folder = LUMINAL_SOURCE_DIR "/tests/io/templates/";

std::time_t reference_time() {
  std::tm parts{};
  parts.tm_year = 124, parts.tm_mon = 6, parts.tm_mday = 26, parts.tm_hour = 12, parts.tm_min = 30,
  parts.tm_sec = 45;
  parts.tm_isdst = -1;
  return std::mktime(&parts);
}

TEST(ChatTemplate, RendersAsTheReferences) {
  const auto cases = nlohmann::ordered_json::parse(test::read_file(folder + "references.json"));
  int rendered = 0;
  for (const auto& entry : cases) {
    const bool is_file = entry.contains("file");
    const std::string source = is_file ? test::read_file(folder + entry["file"].get<std::string>())
                                       : entry["template"].get<std::string>();
    const std::string what =
        is_file ? cat(entry["file"], " on conversation ", entry["conversation"]) : luminal::in_quotes(source);
    try {
      const std::string text =
          ChatTemplate(source).render(TemplateValue::from_json(entry["variables"].dump()), reference_time());
      if (entry.contains("error"))
        ADD_FAILURE() << what << " was rendered, but the reference raised " << entry["error"];
      else
        EXPECT_EQ(text, entry["text"].get<std::string>()) << what;
      ++rendered;
    } catch (const Error& error) {
      EXPECT_TRUE(entry.contains("error")) << what << ": " << error.what();
    }
  }
  EXPECT_GT(rendered, 100);
}

std::string refusal(const std::string& source, const char* variables = "{}") {
  try {
    (void)ChatTemplate(source).render(TemplateValue::from_json(variables));
  } catch (const Error& error) {
    return error.what();
  }
  return "it was accepted";
}

TEST(ChatTemplate, WhatIsNotSupportedIsNamedWithItsLine) {
  EXPECT_EQ(refusal("a\n{% include 'x' %}"), "template: line 2: the statement 'include' is not supported");
  EXPECT_EQ(refusal("\n\n{{ x | nosuch }}"), "template: line 3: the filter 'nosuch' is not supported");
  EXPECT_EQ(refusal("{{ x is nosuch }}"), "template: line 1: the test 'nosuch' is not supported");
  EXPECT_EQ(refusal("{% for x in y recursive %}{% endfor %}"),
            "template: line 1: recursive loops are not supported");
  EXPECT_EQ(refusal("\n{{ x.y }}"), "template: line 2: 'x' is not defined, so it has no field 'y'");
  EXPECT_EQ(refusal("{{ raise_exception('no') }}"), "template: the template raised: no");
  EXPECT_EQ(refusal("{{ 'a'.nosuch() }}"),
            "template: line 1: 'nosuch' is not defined or not supported, so it cannot be called");
}

TEST(ChatTemplate, TitleIsNotTheMethod) {
  const TemplateValue nothing = TemplateValue::from_json("{}");
  EXPECT_EQ(ChatTemplate(R"({{ "o'neil mc-x (ab) É" | title }})").render(nothing), "O'neil Mc-X (Ab) É");
  EXPECT_EQ(ChatTemplate(R"({{ "o'neil mc-x (ab) É".title() }})").render(nothing), "O'Neil Mc-X (Ab) É");
}

TEST(ChatTemplate, RefusesMalformedAndEndlessTemplates) {
  std::string deep = "{{ ";
  for (int i = 0; i < 10000; ++i) deep += "(";
  deep += "1" + std::string(10000, ')') + " }}";
  std::string blocks;
  for (int i = 0; i < 10000; ++i) blocks += "{% if 1 %}";
  std::string dots = "{{ a";
  for (int i = 0; i < 10000; ++i) dots += ".b";
  std::string nots = "{{ ";
  for (int i = 0; i < 10000; ++i) nots += "not ";
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"{{ x", "not closed"},
      {"{% if x", "not closed"},
      {"{# x", "not closed"},
      {"{{ 'x }}", "a string is not closed"},
      {"{% raw %}x", "not closed"},
      {"{% if 1 %}x", "'{% endif %}' is missing"},
      {"{% for x in y %}", "'{% endfor %}' is missing"},
      {"{% endif %}", "'endif' is not supported"},
      {"{% for x %}", "expected 'in'"},
      {"{% set 1 = 2 %}", "expected a variable's name"},
      {"{% macro %}", "expected a macro's name"},
      {"{{ }}", "expected a value"},
      {"{{ 1 + }}", "expected a value"},
      {"{{ (1 }}", "not closed"},
      {"{{ [1 }}", "not closed"},
      {"{{ {1 2} }}", "expected ':'"},
      {"{{ a b }}", "expected '}}'"},
      {"{{ f(*x) }}", "not supported"},
      {"{{ f(a=1, 2) }}", "positional"},
      {"{{ 'a' | upper(1) }}", "the filter 'upper': it takes at most 0 arguments, got 1"},
      {"{{ [1] | sort(key=2) }}", "the filter 'sort': the argument 'key' is not supported"},
      {"{{ 'a'.find(sub='a') }}", "find: the argument 'sub' is not supported"},
      {"{{ 1 is odd(2) }}", "the test 'odd': it takes at most 0"},
      {"{% macro m(a) %}{% endmacro %}{{ m(b=1) }}", "the macro 'm': the argument 'b' is not supported"},
      {"{% macro m(a) %}{% endmacro %}{{ m(1, a=1) }}", "the argument 'a' is given twice"},
      {"{% macro m() %}{{ varargs }}{% endmacro %}", "'varargs' in a macro is not supported"},
      {"{% macro m(*a) %}{% endmacro %}", "'*' and '**' parameters are not supported"},
      {"{% call m() %}{% endcall %}", "the statement 'call' is not supported"},
      {"{{ 1e30 | int }}", "exceeds 64 bits"},
      {"{{ '99999999999999999999' | int }}", "exceeds 64 bits"},
      {"{{ (-8) ** 0.5 }}", "complex"},
      {"{{ '{} {1}'.format(1, 2) }}", "cannot stand together"},
      {"{{ 1e300 | round(10, 'ceil') }}", "too large"},
      {"{{ $ }}", "not expected"},
      {"{{ '\\xZZ' }}", "escape"},
      {"{{ '\\U00110000' }}", "not a character"},
      {"{{ 99999999999999999999 }}", "exceeds 64 bits"},
      {"{{ 9223372036854775807 + 1 }}", "exceeds 64 bits"},
      {"{{ 10 ** 40 }}", "exceeds 64 bits"},
      {"{{ 1 / 0 }}", "division by zero"},
      {"{{ 1 // 0 }}", "division by zero"},
      {"{{ 1 % 0 }}", "division by zero"},
      {"{{ 1 + 'a' }}", "not supported between"},
      {"{{ x + 1 }}", "not defined"},
      {"{{ 1 < 'a' }}", "not supported between"},
      {"{{ 'a' * 1000000000 }}", "too large"},
      {"{{ range(1000000000) }}", "more than 100000"},
      {"{{ range(1, 2, 0) }}", "step is 0"},
      {"{{ [1][::0] }}", "step is 0"},
      {"{{ [1]['a':] }}", "whole numbers"},
      {"{% for a, b in [1] %}{% endfor %}", "unpacked"},
      {"{% for a in 1 %}{% endfor %}", "looped over"},
      {"{% set x = {} %}{% set x.a = 1 %}", "not a namespace"},
      {"{% set n = namespace() %}{% set n.a = n %}", "namespace within a namespace"},
      {"{% set n = namespace() %}{{ [n] }}", "nested deeper"},
      {"{% break %}", "outside a loop"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deeper than"},
      {"{% set n = namespace(l=[]) %}{% for i in range(1000) %}{% set n.l = [n.l] %}{% endfor %}",
       "nested deeper"},
      {"{% set l = range(9999) %}{% for a in l %}{% for b in l %}{% endfor %}{% endfor %}", "too many steps"},
      {"{% set n = namespace(s='aaaaaaaaaaaaaaaa') %}{% for i in range(40) %}{% set n.s = n.s + n.s %}{% "
       "endfor %}",
       "64 MiB"},
      {"{% for i in range(9999) %}{{ 'a' * 16000000 }}{% endfor %}", "64 MiB"},
      {deep, "nesting deeper"},
      {blocks, "nesting deeper"},
      {dots + " }}", "too long"},
      {nots + "1 }}", "nesting deeper"},
  };
  for (const auto& [source, says] : cases) {
    const std::string told = refusal(source);
    EXPECT_NE(told.find(says), std::string::npos) << source.substr(0, 80) << ": " << told;
  }
  EXPECT_GE(cases.size(), 50U);
}

}  // namespace
}  // namespace luminal::io
