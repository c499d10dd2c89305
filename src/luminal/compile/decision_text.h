#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "luminal/compile/planner.h"

namespace luminal {

/// Decisions as the cache keeps them.
std::string text(const Decisions& decisions);
/// Reads what `text` wrote; nothing if it is anything else.
std::optional<Decisions> parse_decisions(std::string_view text);

}  // namespace luminal
