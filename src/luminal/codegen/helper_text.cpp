#include "luminal/codegen/helper_text.h"

#include <algorithm>
#include <span>

#include "luminal/codegen/helper_tables.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::codegen {
namespace {

const HelperText* find(std::span<const HelperText> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& h) { return h.name == name; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

const HelperText& helper_named(std::string_view name, DType dtype, int lanes) {
  const HelperText* found = dtype == DType::f32 ? find(f32_helpers(), name) : nullptr;
  if (found == nullptr && lanes > 1) found = find(vector_helpers(), name);
  if (found == nullptr && lanes == 1) found = find(scalar_helpers(), name);
  if (found == nullptr) found = find(common_helpers(), name);
  if (found == nullptr)
    throw InternalError(cat("helpers: there is no function named ", name, " of ", lanes, " lanes"));
  return *found;
}

}  // namespace luminal::codegen
