#pragma once
#include <set>
#include <string>
#include <string_view>

#include "luminal/codegen/dialect.h"
#include "luminal/op/dtype.h"

namespace luminal::codegen {

/// What generated text calls a dtype's type. Loops are called i0, i1 …, which must not hide i8, i16 and i32.
std::string type_name(DType dtype);

/// The functions that a program calls. Asking for one gives its name and has it, and what it calls, printed
/// in the preamble.
class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}

  /// "f32", or with several lanes "f32x16": the type of register values.
  std::string type(DType dtype, int lanes);
  /// The function `base` on values of this type, such as "max_f32x16".
  std::string use(std::string_view base, DType dtype, int lanes);
  /// A function of no type, such as "luminal_philox".
  std::string use(std::string_view name);

  /// A function of the program's own, printed once.
  void define(const std::string& name, const std::string& text);

  /// Everything that was asked for, callees first.
  std::string preamble() const;

 private:
  const Dialect& dialect_;
  std::set<int> widths_;
  std::set<std::string> done_;
  std::string text_;

  void add(const std::string& name, std::string_view body, DType dtype, int lanes);
};

/// The dtype whose C type holds a value in registers: f32 for the smaller floats, u8 for bool.
DType register_dtype(DType dtype);
/// The same in memory: unsigned integers for the small floats.
DType storage_dtype(DType dtype);
/// Integers of the same size.
DType signed_of(DType dtype);
DType unsigned_of(DType dtype);

}  // namespace luminal::codegen
