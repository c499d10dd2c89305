#pragma once
#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal::test {

/// Runs a program that must be refused with exactly this sentence, naming a line of this file.
template <typename Program>
void expect_refusal(const char* sentence, const char* file, int first_line, Program&& program) {
  try {
    program();
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), sentence);
    EXPECT_STREQ(error.where().file, file) << "the error names no line of the program";
    EXPECT_GE(static_cast<int>(error.where().line), first_line);
    return;
  }
  ADD_FAILURE() << "nothing was refused; expected: " << sentence;
}

}  // namespace luminal::test

/// One program: REFUSED(name, "exact sentence") { statements using `g` }.
#define REFUSED(name, sentence)                                                              \
  static void refused_##name(luminal::Graph& g);                                             \
  TEST(Refused, name) {                                                                      \
    luminal::Graph g;                                                                        \
    luminal::test::expect_refusal(sentence, __FILE__, __LINE__, [&] { refused_##name(g); }); \
  }                                                                                          \
  static void refused_##name([[maybe_unused]] luminal::Graph& g)
