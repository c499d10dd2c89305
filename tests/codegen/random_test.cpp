// Random kernels: nested and shared reductions, loops used anew, guards, places from data, several stores;
// compiled, against the kernel interpreter.
#include "tests/random.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace luminal::test
