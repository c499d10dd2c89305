#include <array>

#include "luminal/egraph/database.h"
#include "luminal/support/text.h"

namespace luminal::egraph {

using Kind = Instruction::Kind;

void Database::execute(const Code& code, Value* registers) {
  for (const Instruction& instruction : code.instructions) run(code, instruction, registers);
}

void Database::execute_batch(const Code& code, Value* registers, std::size_t count) {
  for (const Instruction& instruction : code.instructions) {
    const bool makes = instruction.kind == Kind::make || instruction.kind == Kind::make_into;
    if (makes && !tracking_) {
      make_batch(code, instruction, registers, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) run(code, instruction, registers + i * code.registers);
    }
  }
}

void Database::make_batch(const Code& code, const Instruction& instruction, Value* registers,
                          std::size_t count) {
  Function& function = functions_[instruction.callee];
  const std::size_t width = instruction.argument_count;
  batch_keys_.resize(count * width + 1);
  batch_hashes_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Value* key = batch_keys_.data() + i * width;
    for (std::size_t j = 0; j < width; ++j) {
      key[j] = registers[i * code.registers + code.arguments[instruction.first_argument + j]];
    }
    batch_hashes_[i] = function.table.hash_of(key);
    function.table.prefetch(batch_hashes_[i]);
  }
  for (std::size_t i = 0; i < count; ++i) function.table.prefetch_row(batch_hashes_[i]);
  for (std::size_t i = 0; i < count; ++i) {
    const Value* key = batch_keys_.data() + i * width;
    Value* file = registers + i * code.registers;
    const bool into = instruction.kind == Kind::make_into;
    const Row row = function.table.find(key, batch_hashes_[i]);
    if (row == no_row) {
      file[instruction.target] =
          make_row(function, key, batch_hashes_[i], into ? file[instruction.other] : classes_.make());
      continue;
    }
    const Value found = function.table.output(row);
    if (into && found != file[instruction.other]) unite(function.output, file[instruction.other], found);
    file[instruction.target] = found;
  }
}

void Database::run(const Code& code, const Instruction& instruction, Value* registers) {
  // Merges run inside flushes that run inside this, so the argument buffer cannot be a member.
  constexpr std::size_t few = 24;
  std::array<Value, few> small;
  std::vector<Value> large;
  Value* arguments = small.data();
  if (instruction.argument_count > few) {
    large.resize(instruction.argument_count);
    arguments = large.data();
  }
  for (std::uint32_t i = 0; i < instruction.argument_count; ++i) {
    arguments[i] = registers[code.arguments[instruction.first_argument + i]];
  }
  const FunctionId function(instruction.callee);
  switch (instruction.kind) {
    case Kind::call: {
      const PrimitiveId primitive(instruction.callee);
      const auto result = call(primitive, code.access, {arguments, instruction.argument_count});
      if (!result)
        throw ProgramError(cat("call of primitive ", (*primitives_)[primitive.index()].name, " failed"),
                           instruction.span, Fault::failed);
      registers[instruction.target] = *result;
      break;
    }
    case Kind::make:
      registers[instruction.target] = make(function, arguments);
      break;
    case Kind::make_into:
      registers[instruction.target] = make_into(function, arguments, registers[instruction.other]);
      break;
    case Kind::lookup: {
      const Table& table = functions_[function.index()].table;
      const Row row = table.find(arguments);
      if (row == no_row) {
        throw ProgramError(cat("lookup of function ", functions_[function.index()].name, " failed"),
                           instruction.span, Fault::failed);
      }
      registers[instruction.target] = table.output(row);
      break;
    }
    case Kind::set:
      stage(function, arguments, &registers[instruction.other], writes_);
      break;
    case Kind::unite:
      unite(SortId(instruction.callee), registers[instruction.other], registers[instruction.target]);
      break;
    case Kind::remove:
      stage(function, arguments, nullptr, removals_);
      break;
    case Kind::subsume:
      make(function, arguments);
      stage(function, arguments, nullptr, writes_);
      break;
    case Kind::fail:
      throw ProgramError(instruction.message, instruction.span, Fault::failed);
  }
}

}  // namespace luminal::egraph
