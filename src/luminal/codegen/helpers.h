#pragma once
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/codegen/dialect.h"
#include "luminal/op/dtype.h"

namespace luminal::codegen {

/// What generated text calls a dtype's type. Loops are called i0, i1 …, which must not hide i8, i16 and i32.
std::string type_name(DType dtype);

class Helpers;

/// A function of a program. Programs of other schedules have the same ones, so it can be compiled apart from
/// those that call it, and once.
struct Function {
  std::string head;  // as in its prototype
  std::string body;  // with its braces
  std::shared_ptr<const Helpers> calls;
};
/// One text of the function and all that it calls.
std::string program(const Function& entry, const Dialect& dialect);
/// The same as texts that are to be linked: one for each function, the entry's last.
std::vector<std::string> units(const Function& entry);

/// What a function calls. Asking for a helper gives its name and has it, and what it calls, printed in the
/// preamble.
class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}

  /// "f32", or with several lanes "f32x16": the type of register values.
  std::string type(DType dtype, int lanes);
  /// The function `base` on values of this type, such as "max_f32x16".
  std::string use(std::string_view base, DType dtype, int lanes);
  /// A function of no type, such as "luminal_philox".
  std::string use(std::string_view name);

  /// Calls a function of the program's own.
  void call(Function function);
  const std::vector<Function>& functions() const { return functions_; }

  /// The helpers that were asked for, callees first.
  std::string preamble() const;
  /// Asks for those that another one was asked for.
  void merge(const Helpers& other);

 private:
  const Dialect& dialect_;
  std::set<int> widths_;
  std::set<std::string> done_;
  std::vector<std::pair<std::string, std::string>> texts_;  // by name, callees first
  std::vector<Function> functions_;

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
