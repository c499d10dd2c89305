#pragma once
#include <string>
#include <string_view>

namespace luminal {

/// SHA-256 (FIPS 180-4) of the bytes, as 64 hexadecimal digits: names and checksums of what is kept on disk.
std::string sha256(std::string_view bytes);

}  // namespace luminal
