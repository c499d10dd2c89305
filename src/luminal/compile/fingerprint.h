#pragma once
#include <string_view>

namespace luminal {

/// Stands for the source text that this library was built from: what is cached by one build is foreign to
/// another.
std::string_view build_fingerprint();

}  // namespace luminal
