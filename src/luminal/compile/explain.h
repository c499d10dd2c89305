#pragma once
#include <string>

#include "luminal/compile/executable.h"

namespace luminal {

/// Why an executable is as it is: what each kernel computes, the rules that led there (`derivation`: what
/// `CompileOptions::inspect` gave under that name), its schedule, what the cost model said, and after a
/// search the candidates with their times, their share of the machine's limit, and which won.
std::string explain_text(const Executable& exe, const std::string& derivation);
/// The same as one page that needs nothing else.
std::string explain_html(const Executable& exe, const std::string& derivation, const std::string& title);

}  // namespace luminal
