#include "docs.h"

#include <array>
#include <set>
#include <sstream>

namespace luminal::ops {
namespace {

constexpr std::array shown = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                              DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

constexpr const char* introduction =
    R"(# The tensor API, op by op

Made by `test_ops --docs` from the table of the op suite (`tests/ops/`) and its references; a test compares. A dot marks a
dtype in which the op is compared with PyTorch 2.13 by at least one case; f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool, by the
first tensor. `test_ops --count` prints the number of cases by op and dtype, `tools/make_op_references.py` makes them.

Ops take u16, u32, u64 and the 8-bit floats too, by the same rules ([dtypes.md](dtypes.md)); PyTorch has too few of these to
compare with.

## How results are compared

What is exact is compared exactly: integers, bools, movements, comparisons, rounding, single correctly rounded operations,
the places of NaN and the infinities everywhere. Other floats may be off by a stated number of units in the last place
(`out` lines of the references): 2 for single functions, 4 to 16 for composites and sums, relative to the largest
summand where terms cancel. `exp` and what is made of it is 2 to the power x·log2 e, in which the compiler sees the algebra of
softmax; its relative error is at most 1e-7·(1 + |x|) in f32 and 3e-16·(1 + |x|) in f64. Narrow floats compute in f32 and
round once. The reference of a float op is PyTorch's result in f64, rounded, where PyTorch's own f32 is less accurate.

## Where we differ from PyTorch everywhere

- An integer divided by 0 (`fmod`, `remainder`, `floor_divide`) gives 0; PyTorch raises or is undefined.
- Floats to integers saturate, NaN gives 0; see [dtypes.md](dtypes.md).
- A dim is 1 for broadcasting if it is known to be 1 when the graph is built. A symbolic dim is never taken for 1.
- Positions outside an axis are an `Error` when the graph runs. Only `index_put` counts negative positions from the end.
- `max`, `min`, `argmax`, `argmin` and `norm(inf)` refuse an axis that is known to be empty. One that turns out empty when a
  symbolic dim gets its value gives the lowest (highest) value, and position 0 or the axis' length.
- There is no `out=`, and nothing is changed in place.
)";

std::string marks(const std::vector<Case>& cases) {
  std::set<DType> seen;
  for (const auto& one : cases) seen.insert(one.dtype());
  std::string result;
  for (const DType dtype : shown) result += seen.contains(dtype) ? " • |" : "   |";
  return result;
}

}  // namespace

std::string docs_text(const std::map<std::string, std::vector<Case>>& cases) {
  std::ostringstream out;
  out << introduction;
  for (const auto& family : families()) {
    out << "\n## " << family.title << "\n\n| op | PyTorch |";
    for (const DType dtype : shown) out << ' ' << dtype << " |";
    out << "\n|---|---|";
    for (std::size_t i = 0; i < shown.size(); ++i) out << "---|";
    out << '\n';
    for (const auto& row : family.rows)
      out << "| `" << row.name << "` | `" << row.pytorch << "` |" << marks(cases.at(row.name)) << '\n';
    bool first = true;
    for (const auto& row : family.rows) {
      if (row.note.empty()) continue;
      out << (first ? "\n" : "") << "- `" << row.name << "`: " << row.note << '\n';
      first = false;
    }
  }
  return out.str();
}

}  // namespace luminal::ops
