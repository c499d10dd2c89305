#pragma once
#include <functional>
#include <string>

#include "luminal/io/pattern.h"

namespace luminal::io {

/// The pattern in PCRE2's words. Where the two engines differ, the engine it was written for is followed:
/// classes inside classes and their intersections, what a space, a word character or a named property is,
/// `(?m)`, `{,n}`, and `{n,m}+`, which repeats. `is_script` tells whether a property's name is a script's.
/// What cannot be read is passed on for PCRE2 to refuse.
std::string translate_pattern(const std::string& expression, PatternDialect dialect,
                              const std::function<bool(const std::string&)>& is_script);

}  // namespace luminal::io
