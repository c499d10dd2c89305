#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// What a rule's head, a merge expression or a top-level action does, over numbered registers. The inputs (a
/// match's variables, or `old` and `new`) come first, then the constants, then the intermediate results.
struct Instruction {
  enum class Kind : std::uint8_t {
    call,       // target = primitive(arguments); no result is an error
    make,       // target = constructor(arguments), created if absent
    make_into,  // as `make`, but a created row takes the class in `other`, and a found one is united with it
    lookup,     // target = function(arguments); absence is an error
    set,        // function(arguments) = other
    unite,      // join the classes in `other` and `target`
    remove,
    subsume,
    fail,  // stop the program with `message`
  };
  Kind kind = Kind::call;
  std::uint32_t callee = 0;  // a PrimitiveId or FunctionId
  std::uint32_t first_argument = 0;
  std::uint32_t argument_count = 0;
  std::uint32_t target = 0;
  std::uint32_t other = 0;
  Span span;
  std::string message;
};

struct Code {
  std::vector<Instruction> instructions;
  /// The argument registers of all instructions, one after the other.
  std::vector<std::uint32_t> arguments;
  std::uint32_t inputs = 0;
  std::vector<Value> constants;
  std::uint32_t registers = 0;
  Access access = Access::full;
  /// Of a merge expression: where its value is.
  std::uint32_t result = 0;
};

/// How two values of a function become one.
struct MergeCode {
  Code code;
  /// Where both are the same value already: tables are not asked for it, only primitives are computed.
  Code same;
};

/// Turns "create a term, then unite it with a class that is known already" into one instruction that needs
/// neither a fresh class nor a repair afterwards.
void fuse_unions(Code& code);

}  // namespace luminal::egraph
