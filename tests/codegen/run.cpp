#include "tests/codegen/run.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "luminal/backend/cpu/jit.h"
#include "luminal/codegen/footprint.h"
#include "luminal/codegen/schedule_text.h"
#include "luminal/op/scalar.h"
#include "luminal/support/error.h"
#include "tests/random.h"

namespace luminal::test {
namespace {

constexpr std::size_t margin = 256;
constexpr std::byte poison{0xA5};

struct Unmap {
  std::size_t bytes = 0;
  void operator()(std::byte* base) const { munmap(base, bytes); }
};

/// Which end of the memory lies beside a page that cannot be touched.
enum class Edge : std::uint8_t { begin, end };

/// Memory between two such pages, beside one of them; bytes on its other side show whether they were written.
class Guarded {
 public:
  Guarded(std::size_t size, Edge edge, const Bytes* from = nullptr) : size_(size) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t aligned = (size + 63) / 64 * 64;
    const std::size_t usable = (margin + aligned + page - 1) / page * page;
    void* const base = mmap(nullptr, usable + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    pages_ = {static_cast<std::byte*>(base), Unmap{usable + 2 * page}};
    begin_ = pages_.get() + page;
    end_ = begin_ + usable;
    if (mprotect(begin_, usable, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    start_ = edge == Edge::begin ? begin_ : end_ - aligned;
    std::fill(begin_, end_, poison);
    if (from != nullptr && size > 0) std::memcpy(start_, from->data(), size);
  }
  std::byte* data() { return start_; }
  Bytes contents() const { return Bytes(start_, start_ + size_); }
  bool intact() const {
    const auto poisoned = [](std::byte b) { return b == poison; };
    return std::all_of(begin_, start_, poisoned) && std::all_of(start_ + size_, end_, poisoned);
  }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte, Unmap> pages_;
  std::byte* begin_ = nullptr;
  std::byte* start_ = nullptr;
  std::byte* end_ = nullptr;
};

cpu::Jit& jit(bool system_compiler) {
  static cpu::Jit preferred;
  static cpu::Jit system(cpu::Compiler::system);
  return system_compiler ? system : preferred;
}

std::size_t bytes_in(const kernel::ArrayType& type, const DimMap& dims) {
  return static_cast<std::size_t>(type.shape.element_count().eval(dims)) * byte_size(type.dtype);
}

/// Runs tasks alone: with other values outside of what they say they read, they do the same, and outside of
/// what they say they write, they leave everything.
void expect_footprints(const kernel::Kernel& kernel, const codegen::Schedule& schedule,
                       const codegen::Source& source, cpu::Function function,
                       const std::vector<Bytes>& inputs, const std::vector<Bytes>& before,
                       const DimMap& dims) {
  std::vector<std::int64_t> values;
  for (const auto& dim : source.dims) values.push_back(dims.at(dim));
  Bytes scratch(static_cast<std::size_t>(source.scratch_bytes.eval(dims)) + 64);
  const auto aligned =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
  const auto run = [&](std::int64_t task, const std::vector<Bytes>& read, Edge edge) {
    std::vector<Guarded> buffers;
    std::vector<void*> pointers;
    for (const auto* list : {&read, &before})
      for (const auto& bytes : *list) buffers.emplace_back(bytes.size(), edge, &bytes);
    for (auto& buffer : buffers) pointers.push_back(buffer.data());
    std::vector<std::int64_t> status(4);
    function(task, pointers.data(), values.data(), aligned, status.data());
    std::vector<Bytes> written;
    for (std::size_t k = read.size(); k < buffers.size(); ++k) written.push_back(buffers[k].contents());
    return written;
  };
  const std::string task_name = std::string(Expr::coordinate(codegen::task_axis, Expr(1)).name());
  std::int64_t start = 0;
  for (const auto& group : codegen::footprint(kernel, schedule)) {
    const std::int64_t tasks = group.tasks.eval(dims);
    for (std::int64_t task = 0; task < tasks; task += std::max<std::int64_t>(1, tasks / 4)) {
      DimMap at = dims;
      at[task_name] = task;
      std::vector<Bytes> other = inputs;
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        const auto& range = group.buffers[k];
        const std::size_t size = byte_size(kernel.inputs()[k].dtype);
        for (std::size_t e = 0; e < inputs[k].size() / size; ++e)
          if (!range || static_cast<std::int64_t>(e) < range->first.eval(at) ||
              static_cast<std::int64_t>(e) > range->last.eval(at))
            std::memset(other[k].data() + e * size, is_floating(kernel.inputs()[k].dtype) ? 0x7F : 0, size);
      }
      const auto expected = run(start + task, inputs, Edge::begin);
      ASSERT_EQ(expected, run(start + task, other, Edge::end)) << "task " << task << " reads elsewhere\n"
                                                               << kernel::print(kernel) << source.text;
      for (std::size_t k = 0; k < before.size(); ++k) {
        const auto& range = group.buffers[inputs.size() + k];
        const std::size_t size = byte_size(kernel.outputs()[k].dtype);
        for (std::size_t b = 0; b < before[k].size(); ++b)
          if (expected[k][b] != before[k][b]) {
            const auto e = static_cast<std::int64_t>(b / size);
            ASSERT_TRUE(range && e >= range->first.eval(at) && e <= range->last.eval(at))
                << "task " << task << " writes element " << e << " of output " << k << "\n"
                << kernel::print(kernel);
          }
      }
    }
    start += tasks;
  }
  ASSERT_EQ(start, source.tasks.eval(dims));
}

/// Runs all tasks, the last one first.
Outcome run_beside(Edge edge, const kernel::Kernel& kernel, const codegen::Source& source,
                   cpu::Function function, const std::vector<Bytes>& inputs, const std::vector<Bytes>& before,
                   const DimMap& dims) {
  std::vector<Guarded> buffers;
  std::vector<void*> pointers;
  for (const auto* list : {&inputs, &before})
    for (const auto& bytes : *list) buffers.emplace_back(bytes.size(), edge, &bytes);
  for (auto& buffer : buffers) pointers.push_back(buffer.data());
  std::vector<std::int64_t> values;
  for (const auto& dim : source.dims) values.push_back(dims.at(dim));
  Guarded scratch(static_cast<std::size_t>(source.scratch_bytes.eval(dims)), edge);
  Outcome run;
  const std::int64_t tasks = source.tasks.eval(dims);
  for (std::int64_t task = tasks; task-- > 0;)
    function(task, pointers.data(), values.data(), scratch.data(), run.status.data());
  for (std::size_t k = 0; k < buffers.size(); ++k)
    EXPECT_TRUE(buffers[k].intact()) << "a write outside of buffer " << k << "\n"
                                     << kernel::print(kernel) << source.text;
  EXPECT_TRUE(scratch.intact()) << "a write outside of scratch\n" << kernel::print(kernel) << source.text;
  for (std::size_t k = inputs.size(); k < buffers.size(); ++k) run.outputs.push_back(buffers[k].contents());
  return run;
}

}  // namespace

Outcome run_compiled(const kernel::Kernel& kernel, const std::vector<Bytes>& inputs, const DimMap& dims,
                     const codegen::Machine& machine, bool system_compiler, std::vector<Bytes> before,
                     const std::optional<DimMap>& hints) {
  return run_scheduled(kernel, inputs, dims, codegen::default_schedule(kernel, machine, hints.value_or(dims)),
                       system_compiler, std::move(before));
}

Outcome run_scheduled(const kernel::Kernel& kernel, const std::vector<Bytes>& inputs, const DimMap& dims,
                      const codegen::Schedule& schedule, bool system_compiler, std::vector<Bytes> before) {
  const codegen::Source source = codegen::print_kernel(kernel, codegen::c_dialect(), schedule);
  static std::map<std::pair<bool, std::string>, cpu::Loaded> compiled;  // many schedules print one text
  cpu::Loaded& loaded = compiled[{system_compiler, source.text}];
  try {
    const bool whole = source.text.size() % 2 == 0;  // every other program, the rest in pieces
    const auto units = source.units.of(whole ? std::string_view() : std::string_view(source.text));
    if (!loaded) loaded = jit(system_compiler).compile(source.text, source.entry, nullptr, units);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what() << "\n" << kernel::print(kernel) << source.text;
    return {};
  }
  for (std::size_t k = before.size(); k < kernel.outputs().size(); ++k)
    before.emplace_back(bytes_in(kernel.outputs()[k], dims));
  expect_footprints(kernel, schedule, source, loaded.function(), inputs, before, dims);
  const Outcome first = run_beside(Edge::begin, kernel, source, loaded.function(), inputs, before, dims);
  Outcome run = run_beside(Edge::end, kernel, source, loaded.function(), inputs, before, dims);
  EXPECT_EQ(first.outputs, run.outputs) << "they depend on where buffers lie\n" << source.text;
  EXPECT_EQ(first.status, run.status);
  return run;
}

std::vector<Bytes> random_inputs(const kernel::Kernel& kernel, const DimMap& dims, std::uint64_t seed,
                                 const std::vector<std::pair<std::uint32_t, std::int64_t>>& places) {
  Random random(seed);
  std::vector<Bytes> inputs;
  for (std::uint32_t k = 0; k < kernel.inputs().size(); ++k) {
    const kernel::ArrayType& type = kernel.inputs()[k];
    Bytes bytes(bytes_in(type, dims));
    std::int64_t length = 0;
    for (const auto& [input, below] : places)
      if (input == k) length = below;
    for (std::size_t at = 0; at < bytes.size(); at += byte_size(type.dtype)) {
      Scalar element;
      if (length > 0) {
        element = make_scalar(type.dtype, random.between(0, length - 1));
      } else if (is_floating(type.dtype)) {
        element = make_scalar(type.dtype, random.unit() * 4 - 2);
      } else if (is_boolean(type.dtype)) {
        element = make_scalar(type.dtype, random.chance(0.5));
      } else {
        element = make_scalar(type.dtype, random.between(-100, 100));
      }
      store(element, bytes.data() + at);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

namespace {

void compare(const kernel::Kernel& kernel, const std::vector<Bytes>& expected, const std::vector<Bytes>& got,
             double tolerance, const std::string& how) {
  ASSERT_EQ(expected.size(), got.size());
  int shown = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const DType dtype = kernel.outputs()[k].dtype;
    ASSERT_EQ(expected[k].size(), got[k].size());
    for (std::size_t at = 0; at < expected[k].size(); at += byte_size(dtype)) {
      const Scalar want = load(dtype, expected[k].data() + at);
      const Scalar have = load(dtype, got[k].data() + at);
      if (want == have) continue;
      const double a = to_double(want);
      const double b = to_double(have);
      if (std::isnan(a) && std::isnan(b)) continue;
      if (a == b && is_floating(dtype)) continue;
      if (is_floating(dtype) && std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a))) continue;
      ADD_FAILURE() << how << ": output " << k << ", element " << at / byte_size(dtype) << ": expected " << a
                    << ", got " << b << (shown == 0 ? "\n" + kernel::print(kernel) : "");
      if (++shown == 3) return;
    }
  }
}

}  // namespace

void expect_as_interpreted(const kernel::Kernel& kernel, const Check& check) {
  kernel::verify(kernel);
  const std::vector<Bytes> inputs =
      check.inputs.empty() ? random_inputs(kernel, check.dims, check.seed, check.places) : check.inputs;
  std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
  const std::vector<Bytes> expected = kernel::interpret(kernel, spans, check.dims, check.before);
  const auto expect_right = [&](const Outcome& run, const std::string& how) {
    EXPECT_EQ(run.status[0], 0) << how;
    compare(kernel, expected, run.outputs, check.tolerance, how);
  };
  if (check.schedule) {
    const std::string how = codegen::text(*check.schedule);
    return expect_right(
        run_scheduled(kernel, inputs, check.dims, *check.schedule, check.system_compiler, check.before), how);
  }
  for (const int vector_bytes : check.vector_bytes) {
    for (const int workers : check.workers) {
      const codegen::Machine machine{.vector_bytes = vector_bytes, .workers = workers};
      const Outcome run =
          run_compiled(kernel, inputs, check.dims, machine, check.system_compiler, check.before, check.hints);
      const std::string how =
          std::to_string(vector_bytes) + " bytes, " + std::to_string(workers) + " workers";
      expect_right(run, how);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace luminal::test
