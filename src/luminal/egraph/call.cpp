#include <vector>

#include "luminal/egraph/database.h"
#include "luminal/support/text.h"

namespace luminal::egraph {
namespace {
bool is_primitive(Value callee) {
  return callee % 2 != 0;
}
}  // namespace

const std::string& Database::callee_name(Value callee) const {
  if (is_primitive(callee)) return primitive(PrimitiveId(callee / 2)).name;
  return function(FunctionId(callee / 2)).name;
}

SortId Database::element_sort(const Sort& sort, const Elements& elements, std::size_t i) const {
  if (sort.kind != SortKind::function) return sort.elements[i % sort.elements.size()];
  if (i == 0) return SortId();
  const Value callee = elements[0];
  if (is_primitive(callee)) return primitive(PrimitiveId(callee / 2)).input(i - 1);
  return function(FunctionId(callee / 2)).inputs[i - 1];
}

std::optional<Value> Database::call(PrimitiveId id, Access access, std::span<const Value> arguments) {
  const Primitive& called = primitive(id);
  if (called.body) return called.body(*atoms_, arguments);
  if (called.call) return called.call(*this, access, arguments);
  if (may_write(access)) return called.action(*this, arguments);
  throw ProgramError(cat("primitive ", called.name, " can be called in actions only"), Span{}, Fault::failed);
}

std::optional<Value> Database::call(Value callee, Access access, std::span<const Value> arguments) {
  if (is_primitive(callee)) return call(PrimitiveId(callee / 2), access, arguments);
  const FunctionId id(callee / 2);
  const Function& called = function(id);
  if (called.constructs()) {
    if (may_write(access)) return make(id, arguments.data());
    throw ProgramError(cat("constructor ", called.name, " can be called in actions only"), Span{},
                       Fault::failed);
  }
  if (!may_read(access)) {
    throw ProgramError(cat("function ", called.name, " can be read in a rule only if it is :naive"), Span{},
                       Fault::failed);
  }
  const Row row = called.table.find(arguments.data());
  if (row == no_row) return std::nullopt;
  return called.table.output(row);
}

}  // namespace luminal::egraph
