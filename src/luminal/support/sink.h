#pragma once
#include <functional>
#include <string_view>

namespace luminal {

/// Where the library writes what it has to say: one call a line, without the newline. Empty: nothing is
/// written.
using Sink = std::function<void(std::string_view line)>;

}  // namespace luminal
