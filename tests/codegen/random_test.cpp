// Random kernels: nested and shared reductions, loops used anew, guards, places from data, several stores;
// compiled, against the kernel interpreter.
#include "tests/random.h"

#include <gtest/gtest.h>

#include <cmath>

#include "luminal/backend/cpu/jit.h"
#include "tests/codegen/build.h"
#include "tests/codegen/run.h"

namespace luminal::test {
namespace {

using kernel::LoopSet;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  /// Fills `b`, `dims` and `places`.
  void make() {
    const auto loops = random_.between(2, 5);
    for (std::int64_t k = 0; k < loops; ++k) {
      constexpr int sizes[] = {1, 2, 3, 5, 8, 16, 17, 21};
      const int size = sizes[random_.between(0, 7)];
      if (random_.chance(0.25)) {
        const std::string name(1, static_cast<char>('a' + k));
        dims[name] = random_.chance(0.1) ? 0 : size;
        loops_.push_back(b.loop(Expr::variable(name)));
      } else {
        loops_.push_back(b.loop(size));
      }
    }
    const auto stores = random_.between(1, 3);
    for (std::int64_t k = 0; k < stores; ++k) {
      std::vector<LoopId> domain;
      for (const auto loop : loops_)
        if (random_.chance(0.5)) domain.push_back(loop);
      if (k > 0 && random_.chance(0.5)) domain = b.kernel.stores().front().domain;
      LoopSet available;
      for (const auto loop : domain) available.set(loop.index());
      b.store(domain, value(available, 5));
    }
  }

  Build b;
  DimMap dims;
  std::vector<std::pair<std::uint32_t, std::int64_t>> places;

 private:
  Random random_;
  static constexpr DType dtype_ = DType::f64;  // in f32, sines of long sums would differ by rounding alone
  std::vector<LoopId> loops_;
  std::vector<ValueId> made_;

  LoopId any(const std::vector<LoopId>& loops) {
    return loops[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(loops.size()) - 1))];
  }
  std::vector<LoopId> subset(const LoopSet& available, double probability) {
    std::vector<LoopId> chosen;
    for (const auto loop : loops_)
      if (available.test(loop.index()) && random_.chance(probability)) chosen.push_back(loop);
    return chosen;
  }

  /// A load along some loops in any order, each direct, reversed, strided, or shifted under a guard.
  ValueId load(const LoopSet& available, DType dtype) {
    std::vector<LoopId> along = subset(available, 0.6);
    if (along.size() > 1 && random_.chance(0.4)) std::swap(along.front(), along.back());
    std::vector<Expr> dims_of;
    std::vector<Expr> index;
    Expr valid(1);
    for (const auto loop : along) {
      const Expr extent = b.kernel.loop(loop).extent;
      const Expr i = b.at(loop);
      const auto kind = random_.between(0, 9);
      if (kind == 0) {
        dims_of.push_back(extent);
        index.push_back(extent - Expr(1) - i);
      } else if (kind == 1) {
        dims_of.push_back(extent * Expr(2) + Expr(1));
        index.push_back(i * Expr(2) + Expr(1));
      } else if (kind == 2) {
        const Expr place = i - Expr(1);
        dims_of.push_back(extent);
        index.push_back(place);
        valid = Expr::logical_and(valid, Expr::less_equal(Expr(0), place));
      } else {
        dims_of.push_back(extent);
        index.push_back(i);
      }
    }
    const ValueId element = b.read(Shape(dims_of), index, dtype);
    return valid == Expr(1) ? element : b.guard(valid, element, 0.5);
  }

  ValueId gathered(const LoopSet& available) {
    const std::uint32_t before = static_cast<std::uint32_t>(b.kernel.inputs().size());
    const std::vector<LoopId> along = subset(available, 0.5);
    std::vector<Expr> shape;
    std::vector<Expr> index;
    for (const auto loop : along) {
      shape.push_back(b.kernel.loop(loop).extent);
      index.push_back(b.at(loop));
    }
    const ValueId place = b.position(b.read(Shape(shape), index, DType::i32), 7);
    places.emplace_back(before, 7);
    return b.read({7}, {b.at(place)}, dtype_);
  }

  ValueId reduction(const LoopSet& available, int depth) {
    std::vector<LoopId> over;
    for (const auto loop : loops_)
      if (random_.chance(0.35)) over.push_back(loop);
    LoopSet inner = available;
    for (const auto loop : over) inner.set(loop.index());
    const auto kind = random_.between(0, 9);
    if (kind == 0) return b.reduce(Monoid::max, over, {value(inner, depth - 1)});
    if (kind == 1) return b.reduce(Monoid::m2, over, {value(inner, depth - 1)});
    if (kind <= 3) {
      const ValueId x = b.map(Op::sin, {value(inner, depth - 1)});
      return b.reduce(Monoid::soft_sum, over, {x, value(inner, depth - 1)});
    }
    if (kind <= 6) return b.sum(over, b.mul(value(inner, depth - 1), value(inner, depth - 1)));
    return b.sum(over, value(inner, depth - 1));
  }

  /// A sum of products, one of whose factors is read one step beside a loop's place, under a guard.
  ValueId shifted_product(const LoopSet& available, int depth) {
    const auto loops = subset(available, 1);
    if (loops.empty()) return load(available, dtype_);
    const LoopId moved = any(loops);
    std::vector<LoopId> over;
    LoopSet inner = available;
    for (const auto loop : loops_)
      if (loop != moved && random_.chance(0.35)) {
        over.push_back(loop);
        inner.set(loop.index());
      }
    const Expr extent = b.kernel.loop(moved).extent;
    const Expr place = b.at(moved) + Expr(random_.chance(0.5) ? 1 : -1);
    std::vector<Expr> shape = {extent};
    std::vector<Expr> index = {place};
    for (const auto loop : subset(inner, 0.6)) {
      if (loop == moved) continue;
      shape.push_back(b.kernel.loop(loop).extent);
      index.push_back(b.at(loop));
    }
    const ValueId factor = b.read(Shape(shape), index, dtype_);
    const ValueId sum = b.sum(over, b.mul(factor, value(inner, depth - 1)));
    return b.guard(Expr::logical_and(Expr::less_equal(Expr(0), place), Expr::less(place, extent)), sum, 0.75);
  }

  ValueId value(const LoopSet& available, int depth) {
    const ValueId made = make_value(available, depth);
    made_.push_back(made);
    return made;
  }

  ValueId make_value(const LoopSet& available, int depth) {
    if (random_.chance(0.3))
      for (int tries = 0; tries < 4 && !made_.empty(); ++tries) {
        const ValueId old =
            made_[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(made_.size()) - 1))];
        if ((b.kernel.value(old).free & ~available).none()) return old;
      }
    if (depth <= 0) return load(available, dtype_);
    switch (random_.between(0, 12)) {
      case 0:
        return load(available, dtype_);
      case 1: {
        Expr place(0);
        for (const auto loop : subset(available, 0.5)) place = place * Expr(3) + b.at(loop);
        return b.map(Op::sin, {b.index(place, dtype_)});
      }
      case 2:
        return gathered(available);
      case 3: {
        const ValueId c = b.map(Op::less, {b.convert(Op::cast, load(available, DType::i8), DType::i32),
                                           b.constant(10, DType::i32)});
        return b.map(Op::select, {c, value(available, depth - 1), value(available, depth - 1)});
      }
      case 4:
        return b.map(Op::sin, {value(available, depth - 1)});
      case 5:
        return b.map(Op::max, {value(available, depth - 1), value(available, depth - 1)});
      case 6: {
        const auto loops = subset(available, 1);
        if (loops.empty()) return load(available, dtype_);
        const Expr valid = Expr::less(b.at(any(loops)), Expr(random_.between(0, 9)));
        return b.guard(valid, value(available, depth - 1), -0.25);
      }
      case 7:
        return b.map(Op::sin, {shifted_product(available, depth)});
      case 8:
      case 9:
        return b.add(value(available, depth - 1), value(available, depth - 1));
      default:
        return b.map(Op::sin, {reduction(available, depth)});
    }
  }
};

TEST(RandomKernels, AgreeWithTheInterpreterRandom) {
  const int count = trials(150, 4000);
  for (int seed = 1; seed <= count; ++seed) {
    Generator generator(static_cast<std::uint64_t>(seed));
    generator.make();
    Random choice(static_cast<std::uint64_t>(seed) + 1000);
    constexpr int widths[] = {64, 32, 16, 0};
    constexpr int crews[] = {1, 4, 64};
    Check check{.dims = generator.dims,
                .seed = static_cast<std::uint64_t>(seed),
                .tolerance = 1e-6,
                .places = generator.places};
    check.vector_bytes = {widths[choice.between(0, 3)]};
    check.workers = {crews[choice.between(0, 2)]};
    expect_as_interpreted(generator.b.kernel, check);
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ", " << check.vector_bytes[0] << " bytes, " << check.workers[0]
                    << " workers";
      return;
    }
  }
}

/// Attention in f32 with whatever may stand around its scores: guards of several kinds, places read beside
/// their own, biases, caps; sizes known and not.
class Attention {
 public:
  explicit Attention(std::uint64_t seed) : random_(seed) {
    const auto heads = b.loop(size("h", {1, 2, 3}));
    const auto queries = b.loop(size("q", {1, 5, 16, 20, 33}));
    const auto keys = b.loop(size("k", {1, 7, 16, 37, 64}));
    const auto width = b.loop(size("w", {1, 8, 16, 24}));
    const auto columns = b.loop(size("c", {3, 16, 32}));
    const Expr i = b.at(queries), j = b.at(keys);
    const auto query = read(heads, queries, width);
    const auto key = read(heads, keys, width);
    ValueId score = b.sum({width}, random_.chance(0.5) ? b.mul(query, key) : b.mul(key, query));
    if (random_.chance(0.5)) score = b.mul(score, b.constant(0.25));
    if (random_.chance(0.3)) score = b.add(score, read(heads, queries, keys));
    if (random_.chance(0.2)) score = b.map(Op::sin, {score});
    const auto extent = [&](LoopId loop) { return b.kernel.loop(loop).extent; };
    if (random_.chance(0.3))
      score = b.guard(Expr::less_equal(j, i + Expr(random_.between(-1, 3))), score, low());
    if (random_.chance(0.2)) score = b.guard(Expr::less(i, j + Expr(random_.between(1, 9))), score, low());
    if (random_.chance(0.2))
      score = b.guard(Expr::less(j + Expr(random_.between(0, 3)), extent(keys)), score, low());
    ValueId value = read(heads, keys, columns);
    if (random_.chance(0.2)) value = b.mul(value, b.index(j));
    const auto mixed = b.reduce(Monoid::soft_sum, {keys}, {score, value});
    const auto total = b.reduce(Monoid::soft_sum, {keys}, {score, b.constant(1)});
    const auto whole = [&](ValueId x, ValueId y) {
      return b.mul(x, b.map(Op::recip, {b.add(y, b.constant(1))}));
    };
    if (random_.chance(0.7))
      b.store({heads, queries, columns}, whole(mixed, total));
    else
      b.store({queries, heads, columns}, whole(mixed, total));
    if (random_.chance(0.1)) b.store({heads, queries}, b.reduce(Monoid::max, {keys}, {score}));
  }

  Build b;
  DimMap dims;

 private:
  Random random_;

  Expr size(const char* name, const std::vector<int>& sizes) {
    const int chosen = sizes[static_cast<std::size_t>(random_.between(0, std::ssize(sizes) - 1))];
    if (!random_.chance(0.25)) return Expr(chosen);
    dims[name] = random_.chance(0.1) ? 0 : chosen;
    return Expr::variable(name);
  }
  double low() { return random_.chance(0.3) ? -2 : random_.chance(0.5) ? -1e30 : -HUGE_VAL; }

  /// An array over three loops in any order; one of its places may lie a step beside, under a guard.
  ValueId read(LoopId first, LoopId second, LoopId third) {
    std::vector<LoopId> order = {first, second, third};
    if (random_.chance(0.3)) std::swap(order[0], order[1]);
    if (random_.chance(0.3)) std::swap(order[1], order[2]);
    const std::int64_t moved = random_.chance(0.12) ? random_.between(0, 2) : 3;
    std::vector<Expr> shape;
    std::vector<Expr> index;
    Expr valid(1);
    for (std::int64_t k = 0; k < 3; ++k) {
      const LoopId loop = order[static_cast<std::size_t>(k)];
      const Expr extent = b.kernel.loop(loop).extent;
      const Expr place = k == moved ? b.at(loop) + Expr(random_.chance(0.5) ? 1 : -1) : b.at(loop);
      if (k == moved) valid = Expr::logical_and(Expr::less_equal(Expr(0), place), Expr::less(place, extent));
      shape.push_back(extent);
      index.push_back(place);
    }
    const ValueId element = b.read(Shape(shape), index);
    return moved == 3 ? element : b.guard(valid, element, random_.chance(0.5) ? 0 : 0.5);
  }
};

TEST(RandomKernels, AttentionAgreesWithTheInterpreterRandom) {
  const int count = trials(60, 2000);
  int tiled = 0;
  for (int seed = 1; seed <= count; ++seed) {
    Attention attention(static_cast<std::uint64_t>(seed));
    Random choice(static_cast<std::uint64_t>(seed) + 5000);
    Check check{.dims = attention.dims, .seed = static_cast<std::uint64_t>(seed), .tolerance = 2e-4};
    check.vector_bytes = {choice.chance(0.5) ? 64 : choice.chance(0.5) ? 32 : 16};
    check.workers = {choice.chance(0.5) ? 1 : 64};
    expect_as_interpreted(attention.b.kernel, check);
    codegen::Machine machine = cpu::machine();
    machine.vector_bytes = check.vector_bytes[0];
    tiled += codegen::default_schedule(attention.b.kernel, machine, attention.dims)
                 .nests.front()
                 .tiles.has_value();
    if (HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ", " << check.vector_bytes[0] << " bytes, " << check.workers[0]
                    << " workers";
      return;
    }
  }
  EXPECT_GT(tiled, count / 4) << "the template should run many of them";
}

}  // namespace
}  // namespace luminal::test
