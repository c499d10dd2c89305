#include "luminal/io/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "luminal/support/error.h"

namespace luminal::io {
namespace {

struct Replacement {
  const char* pattern;
  const char* text;
  const char* expected;
};

// What the `tokenizers` package, which uses Oniguruma, makes of Replace(Regex(pattern), "X").
TEST(Pattern, MeansWhatItMeansToOniguruma) {
  const Replacement cases[] = {
      {"a{1,2}+", "aaaaa b", "X b"},
      {"a{2}?", "aaaaa", "XXaX"},
      {"a{1,2}?", "aaa", "XXX"},
      {"a{,2}", "aaaaa b", "XXX XbX"},
      {"a{2", "a{2 a", "X a"},
      {"(?m:a.b)", "a\nb", "X"},
      {"a.b", "a\nb", "a\nb"},
      {"\\v", "\x0b\x0c\n", "X\x0c\n"},
      {"\\u0041", "AB", "XB"},
      {"\\p{uppercase letter}", "Aa", "Xa"},
      {"\\p{Lowercase_Letter}+", "ABcd", "ABX"},
      {"\\p{^L}", "a1", "aX"},
      {"\\P{^L}", "a1", "X1"},
      {"\\pL", "apL", "aX"},
      {"[a[:digit:]b]", "a1b:", "XXX:"},
      {"[[:^digit:]]", "a1", "X1"},
      {"[[:alpha:]&&[^x]]", "ax\xc3\xa9", "XxX"},
      {"[^a&&b]", "abc", "XXX"},
      {"[^a-c&&b-d]", "abcde", "XbcXX"},
      {"[a&&]", "a&", "a&"},
      {"[a&b]", "a&b", "XXX"},
      {"[[a-m][x-z]]+", "abnxyz", "XnX"},
      {"[^[a-m][x-z]]+", "abnxyz", "abXxyz"},
      {"[a-z&&[^aeiou]&&[^x-z]]+", "abexyzf", "aXexyzX"},
      {"[\\w&&[^\\d_]]+", "ab1_\xc3\xa9", "X1_X"},
      {"[^\\W\\d_]+", "ab1_\xc3\xa9", "X1_X"},
      {" ?[^(\\s|[.,!?\xe2\x80\xa6])]+", "Hi, you (there)\xe2\x80\xa6 ok", "X,X (X)\xe2\x80\xa6X"},
      {"[\\p{L}&&[^\\p{Han}]]+",
       "ab\xe6\xbc\xa2\xe5\xad\x97"
       "cd",
       "X\xe6\xbc\xa2\xe5\xad\x97X"},
      {"\\h+", "xyz12ab", "xyzX"},
      {"\\H+", "xyz12ab", "X12ab"},
      {"[\\H]", "xa", "Xa"},
      {"\\Qa\\E", "a QaE", "a X"},
      {"a(?#[x)b", "ab", "X"},
      {"[]a]+", "a]b", "Xb"},
      {"[a-]", "a-b", "XXb"},
      {"\\p{Word}+", "a\xc2\xbd b", "X X"},
      {"[[:word:]]+", "a\xc2\xbd b", "X\xc2\xbd X"},
      {"\\w", "a\xc2\xb2\xc2\xbc_-", "XXXX-"},
      {"[\\w]", "a\xc2\xb2\xc2\xbc_-", "X\xc2\xb2\xc2\xbcX-"},
      {"[^\\w]", "a\xc2\xb2_-", "aX_X"},
      {"[\\w&&[^a]]", "a\xc2\xb2\xc2\xbc_-", "a\xc2\xb2\xc2\xbcX-"},
      {"[\\p{word}]", "a\xc2\xb2_-", "X\xc2\xb2X-"},
      {"\\p{Punct}", "a+b!", "a+bX"},
      {"[[:punct:]]", "a+b!", "aXbX"},
      {"\\O", "\n", "X"},
      {"\\N", "\n", "\n"},
      {"\\x{4e2d}",
       "a\xe4\xb8\xad"
       "b",
       "aXb"},
      {"\\x{4e2d}+",
       "a\xe4\xb8\xad\xe4\xb8\xad"
       "b",
       "aXb"},
      {"\\x61{2}?", "aaaaa", "XXaX"},
      {"\\x61{1,2}+", "aaaaa b", "X b"},
      {"\\x{61}{1,2}+", "aaaaa b", "X b"},
      {"\\x{61}?b", "abb", "XX"},
      {"[\\x{4e00}-\\x{4e2d}]+",
       "a\xe4\xb8\xad\xe4\xb8\xad"
       "b",
       "aXb"},
      {"[\\x61-\\x63]", "abcd", "XXXd"},
      {"[\\x{41}\\x{43}]", "ABC", "XBX"},
      {"\\xc3\\xa9", "\xc3\xa9", "X"},
      {"\\x6",
       "\x06"
       "a",
       "Xa"},
      {"\\x", "x", "X"},
      {"\\101{2}?", "AAAAA", "XXAX"},
      {"(a)\\1{2}?", "aaaaa", "XXX"},
      {"\\cA{2}?", "\x01\x01\x01", "X\x01X"},
      {"\\u0041{2}?", "AAAAA", "XXAX"},
  };
  for (const Replacement& c : cases)
    EXPECT_EQ(Pattern(c.pattern).replace_all(c.text, "X"), c.expected) << c.pattern << " in " << c.text;
}

TEST(Pattern, RefusesWhatCannotBeRead) {
  EXPECT_THROW(Pattern("[a"), Error);
  EXPECT_THROW(Pattern("(a"), Error);
  EXPECT_THROW(Pattern("\\p{Nonsense}"), Error);
  EXPECT_THROW(Pattern("["), Error);
  EXPECT_THROW(Pattern("\\"), Error);
  EXPECT_THROW(Pattern("\\xe9"), Error);
  EXPECT_THROW(Pattern("[\\xe9]"), Error);
  EXPECT_THROW(Pattern("\\x{zz}"), Error);
  EXPECT_THROW(Pattern(std::string(60000, '[')), Error);
  EXPECT_THROW(Pattern("[a&&" + std::string(60000, '[')), Error);
}

}  // namespace
}  // namespace luminal::io
