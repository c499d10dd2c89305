#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "luminal/support/error.h"
#include "luminal/support/id.h"

namespace luminal::egraph {

/// One cell of a table: the id of an e-class, or the number of an interned atom or container of the cell's
/// sort.
using Value = std::uint32_t;
/// A row's place in its table. Rows are only appended, so of two rows the later one has the greater number.
using Row = std::uint32_t;
inline constexpr Row no_row = std::numeric_limits<Row>::max();
/// Counts iterations: every row remembers the one that wrote it.
using Stamp = std::uint32_t;

using SortId = Id<struct SortTag>;
using FunctionId = Id<struct FunctionTag>;
using PrimitiveId = Id<struct PrimitiveTag>;
using RuleId = Id<struct RuleTag>;
using RulesetId = Id<struct RulesetTag>;

/// A place in a program's text, both counted from 1. Line 0 means "not from text".
struct Span {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// What may be done with the tables at a place in a program: nothing in the body of a rule, reading in a
/// check, writing in a rule's head, both in top-level actions. Rules that are `:naive` or `:unsafe-seminaive`
/// may also read.
enum class Access : std::uint8_t { none, read, write, full };
inline bool may_read(Access access) {
  return access == Access::read || access == Access::full;
}
inline bool may_write(Access access) {
  return access == Access::write || access == Access::full;
}

/// Whether a command was refused before it did anything, or failed while it ran (a failed check, a panic, an
/// illegal merge): only the latter is what `(fail …)` expects.
enum class Fault : std::uint8_t { refused, failed };

/// A program that is refused, or one that stops.
class ProgramError : public Error {
 public:
  ProgramError(const std::string& problem, Span span, Fault fault = Fault::refused);
  Span span() const { return span_; }
  Fault fault() const { return fault_; }

 private:
  Span span_;
  Fault fault_;
};

}  // namespace luminal::egraph
