#pragma once
#include <span>

#include "luminal/codegen/helper_text.h"

namespace luminal::codegen {

/// Functions on one lane, on several, and those whose text is the same for both.
std::span<const HelperText> scalar_helpers();
std::span<const HelperText> vector_helpers();
std::span<const HelperText> common_helpers();
/// Those on f32 alone, of one lane or several.
std::span<const HelperText> f32_helpers();

}  // namespace luminal::codegen
