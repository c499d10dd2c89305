#include "luminal/egraph/code.h"

#include <algorithm>

namespace luminal::egraph {
namespace {
using Kind = Instruction::Kind;

bool defines(const Instruction& instruction, std::uint32_t reg) {
  const bool writes = instruction.kind == Kind::call || instruction.kind == Kind::make ||
                      instruction.kind == Kind::make_into || instruction.kind == Kind::lookup;
  return writes && instruction.target == reg;
}

// The instruction before `end` that defines `reg`, or `end` if it is an input or constant.
std::size_t definition(const Code& code, std::uint32_t reg, std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) {
    if (defines(code.instructions[i], reg)) return i;
  }
  return end;
}
}  // namespace

void fuse_unions(Code& code) {
  for (std::size_t i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].kind != Kind::unite) continue;
    std::uint32_t known = code.instructions[i].other;
    std::uint32_t made = code.instructions[i].target;
    for (int attempt = 0; attempt < 2; ++attempt, std::swap(known, made)) {
      const std::size_t maker = definition(code, made, i);
      const std::size_t source = definition(code, known, i);
      if (maker == i || code.instructions[maker].kind != Kind::make) continue;
      if (source != i && source >= maker) continue;
      code.instructions[maker].kind = Kind::make_into;
      code.instructions[maker].other = known;
      code.instructions.erase(code.instructions.begin() + static_cast<std::ptrdiff_t>(i));
      --i;
      break;
    }
  }
}

}  // namespace luminal::egraph
