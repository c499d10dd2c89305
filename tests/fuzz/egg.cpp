// A libFuzzer target for the language: any bytes are read, and what can be read is checked and declared. Only
// commands whose cost the input cannot choose are run.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "luminal/egraph/program.h"

namespace {
using namespace luminal::egraph;

bool cheap(const Command& command) {
  return std::holds_alternative<SortCommand>(command.what) ||
         std::holds_alternative<DatatypeCommand>(command.what) ||
         std::holds_alternative<FunctionCommand>(command.what) ||
         std::holds_alternative<RelationCommand>(command.what) ||
         std::holds_alternative<RulesetCommand>(command.what) ||
         std::holds_alternative<RuleCommand>(command.what) ||
         std::holds_alternative<ActionCommand>(command.what) ||
         std::holds_alternative<CheckCommand>(command.what) ||
         std::holds_alternative<PrintSizeCommand>(command.what);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    Program program;
    for (const Command& command : parse_program({reinterpret_cast<const char*>(data), size})) {
      if (cheap(command)) program.run(command);
    }
  } catch (const ProgramError&) {
    // Refused, as most inputs should be.
  }
  return 0;
}
