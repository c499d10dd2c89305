#include "luminal/op/op.h"

#include <algorithm>

#include "luminal/op/op_table.h"

namespace luminal {

const OpRow& row(Op op) {
  return op_table[static_cast<std::size_t>(op)];
}

std::optional<Op> op_named(std::string_view name) {
  const auto* found =
      std::find_if(op_table.begin(), op_table.end(), [&](const OpRow& r) { return r.name == name; });
  if (found == op_table.end()) return std::nullopt;
  return found->op;
}

std::ostream& operator<<(std::ostream& out, Op op) {
  return out << name(op);
}

bool accepts(Op op, DType dtype) {
  return contains(row(op).domain, row(dtype).kind);
}

std::string_view describe(Domain domain) {
  switch (domain) {
    case Domain::any:
      return "any";
    case Domain::floating:
      return "floating-point";
    case Domain::number:
      return "floating-point or integer";
    case Domain::integer:
      return "integer";
    case Domain::integer_or_bool:
      return "integer or bool";
  }
  return "";
}

}  // namespace luminal
