// Matrix products as calls of OpenBLAS: right in every layout, and refused where BLAS has no such call.
#include "luminal/codegen/library.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <functional>

#include "luminal/backend/cpu/blas.h"
#include "luminal/backend/cpu/jit.h"
#include "luminal/codegen/schedule_text.h"
#include "luminal/codegen/variants.h"
#include "luminal/kernel/merge_loops.h"
#include "luminal/support/error.h"
#include "tests/codegen/build.h"
#include "tests/codegen/run.h"

namespace luminal::codegen {
namespace {

using test::Build;
using test::Bytes;
using test::LoopId;
using test::ValueId;

#define NEEDS_BLAS() \
  if (cpu::blas() == nullptr) GTEST_SKIP() << "this machine has no libopenblas that kernels can call"

std::vector<Schedule> library_schedules(const kernel::Kernel& kernel, int workers, const DimMap& hints = {}) {
  std::vector<Schedule> found;
  for (auto& schedule : schedule_variants(kernel, {.workers = workers, .blas = true}, hints)) {
    const auto& tiles = schedule.nests.front().tiles;
    if (tiles && tiles->library) found.push_back(std::move(schedule));
  }
  return found;
}

bool is_call(const kernel::Kernel& given) {
  kernel::verify(given);
  const kernel::Kernel kernel = kernel::merge_loops(given);
  const auto nests = nests_of(kernel);
  const bool legal = library_call(kernel, nests.front()).has_value();
  EXPECT_EQ(legal, !library_schedules(given, 2).empty());
  return legal;
}

/// Every library schedule gives what the interpreter does, whatever the output held before: here NaNs.
void expect_right(const kernel::Kernel& kernel, test::Check check = {}) {
  const auto schedules = library_schedules(kernel, 3, check.dims);
  ASSERT_FALSE(schedules.empty()) << kernel::print(kernel);
  for (const auto& output : kernel.outputs())
    check.before.emplace_back(
        static_cast<std::size_t>(output.shape.element_count().eval(check.dims)) * byte_size(output.dtype),
        std::byte{0xFF});
  for (const auto& schedule : schedules) {
    check.schedule = schedule;
    test::expect_as_interpreted(kernel, check);
  }
}

struct Layout {
  bool left_turned = false;
  bool right_turned = false;
  bool result_turned = false;
  DType dtype = DType::f32;
};

/// result[batch, m, n] = Σ left[batch, m, k]·right[batch, k, n], each of the last two axes turned or not.
Build product(const Expr& m, const Expr& n, const Expr& k, const Layout& layout,
              const std::vector<Expr>& batch = {}) {
  Build b;
  std::vector<LoopId> outer;
  for (const auto& extent : batch) outer.push_back(b.loop(extent));
  const auto r = b.loop(m), c = b.loop(n), t = b.loop(k);
  const auto read = [&](bool turned, LoopId first, LoopId second) {
    std::vector<LoopId> axes = outer;
    axes.push_back(turned ? second : first);
    axes.push_back(turned ? first : second);
    std::vector<Expr> dims;
    std::vector<Expr> index;
    for (const auto axis : axes) {
      dims.push_back(b.kernel.loop(axis).extent);
      index.push_back(b.at(axis));
    }
    return b.read(Shape(dims), index, layout.dtype);
  };
  const auto left = read(layout.left_turned, r, t);
  const auto right = read(layout.right_turned, t, c);
  std::vector<LoopId> domain = outer;
  domain.push_back(layout.result_turned ? c : r);
  domain.push_back(layout.result_turned ? r : c);
  b.store(domain, b.sum({t}, b.mul(left, right)));
  return b;
}

TEST(Library, EveryLayout) {
  NEEDS_BLAS();
  for (int bits = 0; bits < 16; ++bits) {
    const Layout layout{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0,
                        (bits & 8) != 0 ? DType::f64 : DType::f32};
    SCOPED_TRACE(bits);
    expect_right(product(37, 29, 45, layout).kernel, {.tolerance = 1e-4});
    if (layout.dtype == DType::f64) continue;
    expect_right(product(21, 18, 20, layout, {2, 3}).kernel, {.tolerance = 1e-4});
    expect_right(product(40, 3, 17, layout).kernel, {.tolerance = 1e-4});  // few columns: the roles change
  }
}

TEST(Library, TheSystemsCompilerToo) {
  NEEDS_BLAS();
  for (const auto dtype : {DType::f32, DType::f64})
    expect_right(product(19, 23, 31, {.right_turned = true, .dtype = dtype}).kernel,
                 {.tolerance = 1e-4, .system_compiler = true});
}

TEST(Library, PartsOfArraysAndHeads) {
  NEEDS_BLAS();
  Build part;
  {
    const auto r = part.loop(7), c = part.loop(18), t = part.loop(6);
    const auto left = part.read({20, 11}, {Expr(2) * part.at(r) + Expr(3), part.at(t) + Expr(4)});
    const auto right = part.read({9, 40}, {part.at(t) + Expr(1), part.at(c) + Expr(5)});
    part.store({r, c}, part.sum({t}, part.mul(left, right)));
  }
  expect_right(part.kernel);
  Build heads;  // result[r, h, c] of left[r, h, t] and right[c, h, t]
  {
    const auto h = heads.loop(4), r = heads.loop(9), c = heads.loop(17), t = heads.loop(8);
    const auto left = heads.read({9, 4, 8}, {heads.at(r), heads.at(h), heads.at(t)});
    const auto right = heads.read({17, 4, 8}, {heads.at(c), heads.at(h), heads.at(t)});
    heads.store({r, h, c}, heads.sum({t}, heads.mul(left, right)));
  }
  expect_right(heads.kernel);
  Build vector;  // a vector, of every second element, times a matrix
  {
    const auto c = vector.loop(33), t = vector.loop(12);
    const auto left = vector.read({12, 2}, {vector.at(t), Expr(1)});
    const auto right = vector.read({12, 33}, {vector.at(t), vector.at(c)});
    vector.store({c}, vector.sum({t}, vector.mul(left, right)));
  }
  expect_right(vector.kernel);
}

TEST(Library, DimsOfAnySize) {
  NEEDS_BLAS();
  for (int bits = 0; bits < 8; ++bits) {
    const Layout layout{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, DType::f32};
    const Build b = product("m", "n", "k", layout, {Expr("batch")});
    for (const auto& [m, n, k, batch] : std::vector<std::array<std::int64_t, 4>>{{5, 7, 0, 2},
                                                                                 {0, 7, 3, 2},
                                                                                 {5, 0, 3, 2},
                                                                                 {5, 7, 3, 0},
                                                                                 {1, 1, 1, 1},
                                                                                 {1, 9, 4, 2},
                                                                                 {33, 1, 65, 1}})
      expect_right(b.kernel, {.dims = {{"m", m}, {"n", n}, {"k", k}, {"batch", batch}}});
  }
  // Scheduled for sizes that are not those it runs with.
  const Build b = product("m", "n", "k", {});
  for (const auto& schedule : library_schedules(b.kernel, 4, {{"m", 8}, {"n", 8}, {"k", 8}}))
    test::expect_as_interpreted(b.kernel, {.dims = {{"m", 21}, {"n", 19}, {"k", 5}}, .schedule = schedule});
}

/// Steps that ints cannot count: two rows, 2^31 elements and more apart.
TEST(Library, StepsBeyondInts) {
  NEEDS_BLAS();
  Build b;
  const auto r = b.loop(2), c = b.loop(16), t = b.loop(4);
  const auto left = b.read({Expr(2), Expr("far") + Expr(4)}, {b.at(r), b.at(t)});
  const auto right = b.read({4, 16}, {b.at(t), b.at(c)});
  b.store({r, c}, b.sum({t}, b.mul(left, right)));
  const auto schedules = library_schedules(b.kernel, 1);
  ASSERT_FALSE(schedules.empty());
  const Source source = print_kernel(b.kernel, c_dialect(), schedules.front());
  cpu::Jit jit;
  const cpu::Loaded loaded = jit.compile(source.text, source.entry);
  const std::int64_t far = std::int64_t{1} << 31;
  const std::size_t bytes = static_cast<std::size_t>(2 * (far + 4)) * sizeof(float);
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "the machine gives no 16 GiB of addresses";
  auto* values = static_cast<float*>(memory);
  for (int k = 0; k < 4; ++k) {
    values[k] = static_cast<float>(k + 1);
    values[far + 4 + k] = static_cast<float>(10 * (k + 1));
  }
  std::vector<float> ones(64, 1.0F);
  std::vector<float> result(32, -1.0F);
  void* buffers[] = {memory, ones.data(), result.data()};
  std::int64_t status[4] = {};
  ASSERT_EQ(source.dims, std::vector<std::string>{"far"});
  loaded.function()(0, buffers, &far, nullptr, status);
  munmap(memory, bytes);
  for (std::size_t k = 0; k < 16; ++k) {
    EXPECT_EQ(result[k], 10.0F);
    EXPECT_EQ(result[16 + k], 100.0F);
  }
}

TEST(Library, OnlyPlainProducts) {
  const Expr m = 20, n = 24, k = 16;
  struct Parts {
    Build b;
    LoopId r, c, t;
    ValueId left, right;
  };
  const auto parts = [&](DType dtype = DType::f32) {
    Parts p;
    p.r = p.b.loop(m), p.c = p.b.loop(n), p.t = p.b.loop(k);
    p.left = p.b.read({m, k}, {p.b.at(p.r), p.b.at(p.t)}, dtype);
    p.right = p.b.read({k, n}, {p.b.at(p.t), p.b.at(p.c)}, dtype);
    return p;
  };
  const auto stored = [](Parts p, const std::function<ValueId(Parts&, ValueId)>& after = {}) {
    ValueId sum = p.b.sum({p.t}, p.b.mul(p.left, p.right));
    if (after) sum = after(p, sum);
    p.b.store({p.r, p.c}, sum);
    return is_call(p.b.kernel);
  };
  EXPECT_TRUE(stored(parts()));
  EXPECT_TRUE(stored(parts(DType::f64)));
  for (const auto dtype : {DType::i32, DType::f16, DType::bf16}) EXPECT_FALSE(stored(parts(dtype)));
  EXPECT_FALSE(stored(parts(), [](Parts& p, ValueId sum) { return p.b.add(sum, p.b.constant(1)); }));
  EXPECT_FALSE(stored(parts(), [](Parts& p, ValueId sum) { return p.b.map(Op::sqrt, {sum}); }));

  Parts before = parts();
  before.left = before.b.map(Op::exp2, {before.left});
  EXPECT_FALSE(stored(before));
  Parts guarded = parts();
  guarded.right = guarded.b.guard(Expr::less(guarded.b.at(guarded.t), Expr(9)), guarded.right);
  EXPECT_FALSE(stored(guarded));

  // A second result of the same sum, and one more sum.
  Parts twice = parts();
  const ValueId sum = twice.b.sum({twice.t}, twice.b.mul(twice.left, twice.right));
  twice.b.store({twice.r, twice.c}, sum);
  twice.b.store({twice.r, twice.c}, twice.b.add(sum, sum));
  EXPECT_FALSE(is_call(twice.b.kernel));

  // Windows that overlap, rows read backwards, a step along both axes, one row for all.
  const auto with_left = [&](const Shape& shape, const std::function<std::vector<Expr>(Expr, Expr)>& index) {
    Parts p = parts();
    p.left = p.b.read(shape, index(p.b.at(p.r), p.b.at(p.t)));
    return stored(std::move(p));
  };
  EXPECT_FALSE(with_left({40}, [](const Expr& r, const Expr& t) { return std::vector{r + t}; }));
  EXPECT_FALSE(with_left({60}, [](const Expr& r, const Expr& t) { return std::vector{Expr(2) * r + t}; }));
  EXPECT_FALSE(
      with_left({20, 16}, [](const Expr& r, const Expr& t) { return std::vector{Expr(19) - r, t}; }));
  EXPECT_FALSE(with_left({20, 32}, [](const Expr& r, const Expr& t) { return std::vector{r, Expr(2) * t}; }));
  EXPECT_FALSE(
      with_left({20, 16}, [](const Expr& r, const Expr& t) { return std::vector{r, Expr(15) - t}; }));

  // Steps that ints cannot count.
  EXPECT_FALSE(with_left({Expr(20), Expr(std::int64_t{1} << 32)},
                         [](const Expr& r, const Expr& t) { return std::vector{r, t}; }));
}

TEST(Library, AScheduleThatDoesNotFitIsRefused) {
  Build b = product(20, 24, 16, {});
  Schedule schedule = library_schedules(b.kernel, 2).front();
  Build other;
  const auto r = other.loop(20), c = other.loop(24), t = other.loop(16);
  const auto left = other.read({20, 16}, {other.at(r), other.at(t)});
  const auto right = other.read({16, 24}, {other.at(t), other.at(c)});
  other.store({r, c}, other.map(Op::sqrt, {other.sum({t}, other.mul(left, right))}));
  EXPECT_THROW(print_kernel(other.kernel, c_dialect(), schedule), InternalError);
  schedule.nests.front().tiles->library = false;
  EXPECT_NO_THROW(print_kernel(other.kernel, c_dialect(), schedule));
}

TEST(Library, ChoicesAndTheirText) {
  const Build b = product(200, 240, 160, {});
  for (const int workers : {1, 4}) {
    const Machine without{.workers = workers};
    const Machine with{.workers = workers, .blas = true};
    EXPECT_EQ(text(default_schedule(b.kernel, with)), text(default_schedule(b.kernel, without)));
    for (const auto& schedule : schedule_variants(b.kernel, without, {}))
      EXPECT_EQ(text(schedule).find("library"), std::string::npos);
    const auto offered = library_schedules(b.kernel, workers);
    EXPECT_EQ(offered.size(), workers == 1 ? 1U : 3U);
    for (const auto& schedule : offered) {
      EXPECT_NE(text(schedule).find(" library=1"), std::string::npos);
      EXPECT_EQ(text(parse_schedule(text(schedule))), text(schedule));
      EXPECT_TRUE(parse_schedule(text(schedule)).nests.front().tiles->library);
      for (const auto& next : schedule_neighbours(b.kernel, schedule, with, {}))
        EXPECT_TRUE(next.nests.front().tiles->library) << text(next);
    }
  }
  EXPECT_THROW(parse_schedule("library=x"), Error);
}

}  // namespace
}  // namespace luminal::codegen
