#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/egraph/atoms.h"
#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// In a primitive's signature: any sort, the same at every place.
inline constexpr SortId any_sort{std::numeric_limits<std::uint32_t>::max() - 1};

class Database;

/// A function computed by C++ rather than stored in a table. It must depend on nothing but its arguments. No
/// result means: in a rule's body, no match; in an action, an error.
using PrimitiveBody = std::function<std::optional<Value>(Atoms& atoms, std::span<const Value> arguments)>;

/// As `PrimitiveBody`, but for actions only: it may read the tables and make terms.
using ActionBody = std::function<std::optional<Value>(Database& database, std::span<const Value> arguments)>;

/// As `PrimitiveBody`, for primitives that call functions: what those may do depends on the caller.
using CallBody =
    std::function<std::optional<Value>(Database& database, Access access, std::span<const Value> arguments)>;

struct Primitive {
  std::string name;
  std::vector<SortId> inputs;
  SortId output;
  PrimitiveBody body;
  /// If given, `body` is not: the primitive can be called in actions only.
  ActionBody action;
  /// If given, neither of the others is.
  CallBody call;
  /// The first argument is the name of a function or primitive, a literal, and the others are the first
  /// arguments of what it names. The body gets `Database::callee` in the name's place.
  bool names_function = false;
  /// So many of the last `inputs` may come any number of times together, also none.
  std::size_t repeated = 0;

  bool takes(std::size_t arguments) const {
    if (repeated == 0) return arguments == inputs.size();
    const std::size_t once = inputs.size() - repeated;
    return arguments >= once && (arguments - once) % repeated == 0;
  }
  SortId input(std::size_t i) const {
    if (i < inputs.size()) return inputs[i];
    const std::size_t once = inputs.size() - repeated;
    return inputs[once + (i - once) % repeated];
  }
};

}  // namespace luminal::egraph
