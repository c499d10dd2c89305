#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "luminal/support/error.h"

namespace luminal::fuzz {

inline std::span<const std::byte> bytes(const std::uint8_t* data, std::size_t size) {
  return std::as_bytes(std::span(data, size));
}
inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Any input is accepted or refused with `Error`; everything else that is thrown ends the run.
template <typename Try>
void refuse_or_accept(const Try& attempt) {
  try {
    attempt();
  } catch (const Error&) {
  }
}

}  // namespace luminal::fuzz
