#pragma once
#include <string_view>

#include "luminal/op/dtype.h"

namespace luminal::codegen {

/// The text of one helper function, a template over the type of its operands: $T that type (of one lane or
/// several), $E its element, $I and $U the integers of its size, $S the unsigned element, $D f64, $B bool, $X
/// the lanes' suffix, $L their number, $C a conversion, $R one x a lane, $W the suffix of C's functions, $Q
/// what comes before a helper.
struct HelperText {
  std::string_view name;
  /// The helpers that it calls, by name, on the same type; ".name" on one lane of it; "name:f32" on that
  /// dtype.
  std::string_view needs;
  std::string_view body;
};

/// The text for one lane, or for several. `InternalError` if there is none of that name.
const HelperText& helper_named(std::string_view name, DType dtype, int lanes);

}  // namespace luminal::codegen
