#pragma once
#include <string>
#include <string_view>

#include "luminal/codegen/schedule.h"

namespace luminal::codegen {

/// One line of words; equal for equal schedules. What records, caches and explanations show.
std::string text(const Schedule& schedule);
/// Reads what `text` wrote. `Error` for anything else.
Schedule parse_schedule(std::string_view text);

}  // namespace luminal::codegen
