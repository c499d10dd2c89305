#include <gtest/gtest.h>

#include "luminal/support/error.h"
#include "luminal/support/text.h"
#include "tests/shape/naive_array.h"
#include "tests/shape/random_chain.h"

namespace luminal {
namespace {

using test::NaiveArray;
using test::Random;
using test::RandomChain;

std::string text_of(const RandomChain& chain) {
  std::string text = chain.source.text();
  for (const auto& movement : chain.movements) text += " " + movement_text(movement);
  return text;
}

/// The same movement with values for symbols.
Movement at_values(const Movement& movement, const DimMap& values) {
  auto fixed = movement;
  std::visit(
      [&](auto& m) {
        using M = std::decay_t<decltype(m)>;
        const auto fix = [&](Expr& e) { e = e.eval(values); };
        if constexpr (std::is_same_v<M, movement::Expand>) fix(m.size);
        if constexpr (std::is_same_v<M, movement::Slice>) fix(m.start), fix(m.size), fix(m.step);
        if constexpr (std::is_same_v<M, movement::Pad>) fix(m.before), fix(m.after);
        if constexpr (std::is_same_v<M, movement::Unfold> || std::is_same_v<M, movement::Fold> ||
                      std::is_same_v<M, movement::Shear>)
          fix(m.size), fix(m.stride), fix(m.dilation);
        if constexpr (std::is_same_v<M, movement::Reshape>) m.shape = Shape(m.shape.eval(values));
      },
      fixed);
  return fixed;
}

/// Every step materialised; nullopt where a step is illegal at these values.
std::optional<NaiveArray> materialise(const RandomChain& chain, const DimMap& values) {
  std::optional<NaiveArray> array = test::counting_array(chain.source.eval(values));
  for (const auto& movement : chain.movements) {
    try {
      array = move(*array, at_values(movement, values));
    } catch (const Error&) {
      return std::nullopt;  // a dim came out negative
    }
    if (!array) return std::nullopt;
  }
  return array;
}

View applied(const RandomChain& chain) {
  View view(chain.source);
  for (const auto& movement : chain.movements) view = view.then(movement);
  return view;
}

void expect_reads(const View& view, const RandomChain& chain, const DimMap& values) {
  const auto expected = materialise(chain, values);
  std::optional<View> fixed;
  std::string refusal;
  try {
    fixed = view.substitute(values);
  } catch (const Error& error) {
    refusal = error.what();
  }
  ASSERT_EQ(fixed.has_value(), expected.has_value()) << text_of(chain) << " " << refusal;
  if (!expected) return;
  const auto source = test::counting_array(chain.source.eval(values));
  ASSERT_EQ(test::read_through(*fixed, source), *expected) << text_of(chain) << "\n" << fixed->map().text();
  ASSERT_TRUE(fixed->checks().empty()) << text_of(chain);
  View again(fixed->source());
  for (const auto& movement : view.movements()) again = again.then(at_values(movement, values));
  ASSERT_EQ(test::read_through(again, source), *expected) << "kept movements: " << view.text();
}

/// The map itself with values put in, rather than the movements replayed.
void expect_map_reads(const View& view, const RandomChain& chain, const DimMap& values) {
  const auto expected = materialise(chain, values);
  if (!expected) return;
  const auto source = test::counting_array(chain.source.eval(values));
  const auto offset = view.offset();
  std::size_t element = 0;
  for (const auto& at : test::all_coordinates(expected->dims)) {
    auto all = values;
    for (std::size_t axis = 0; axis < at.size(); ++axis) all["i" + std::to_string(axis)] = at[axis];
    const auto wanted = expected->data[element++];
    bool filled = false;
    for (const auto& guard : view.map().guards) {
      if (guard.valid.eval(all) != 0) continue;
      ASSERT_EQ(guard.fill.integer(), wanted) << text_of(chain) << "\n" << view.map().text();
      filled = true;
      break;
    }
    if (filled) continue;
    ASSERT_EQ(1000 + offset.eval(all), wanted) << text_of(chain) << "\n" << view.map().text();
  }
}

TEST(ViewRandom, ConcreteChainsReadWhatCopiesHold) {
  Random random(1);
  for (int i = 0; i < test::trials(1500, 20000); ++i) {
    const auto chain = test::random_chain(random, false);
    try {
      expect_reads(applied(chain), chain, {});
    } catch (const Error& error) {
      FAIL() << error.what() << " refused " << text_of(chain);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(ViewRandom, SymbolicChainsReadWhatCopiesHold) {
  Random random(2);
  for (int i = 0; i < test::trials(1000, 20000); ++i) {
    const auto chain = test::random_chain(random, true);
    try {
      const auto view = applied(chain);
      expect_reads(view, chain, chain.at);
      expect_map_reads(view, chain, chain.at);
      for (int other = 0; other < 3 && !HasFatalFailure(); ++other) {
        auto values = chain.at;
        for (auto& [name, value] : values) {
          if (random.chance(0.5)) value = name == "k" ? random.between(1, 3) : random.between(0, 5);
        }
        expect_reads(view, chain, values);
        expect_map_reads(view, chain, values);
      }
    } catch (const Error& error) {
      FAIL() << error.what() << " refused " << text_of(chain);
    }
    if (HasFatalFailure()) return;
  }
}

TEST(ViewRandom, PrefixesComposeToTheWhole) {
  Random random(3);
  for (int i = 0; i < test::trials(500, 5000); ++i) {
    const auto chain = test::random_chain(random, i % 2 == 1);
    const auto cut =
        static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(chain.movements.size())));
    View first(chain.source);
    for (std::size_t k = 0; k < cut; ++k) first = first.then(chain.movements[k]);
    View second(first.shape());
    for (std::size_t k = cut; k < chain.movements.size(); ++k) second = second.then(chain.movements[k]);
    expect_reads(first.then(second), chain, chain.at);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace luminal
