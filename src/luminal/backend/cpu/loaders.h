#pragma once
#include "luminal/backend/cpu/jit.h"

namespace luminal::cpu {

/// Null where this build has no Clang library.
std::unique_ptr<Jit::Loader> make_clang_loader();
bool has_clang();

/// The system's C compiler: its program's name, found on PATH; nullopt if there is none.
std::optional<std::string> system_compiler();
std::unique_ptr<Jit::Loader> make_system_loader(const std::string& program);

}  // namespace luminal::cpu
