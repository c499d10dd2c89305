#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {

/// Little-endian numbers and texts from bytes, never beyond their end: `Error` with file and byte instead.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(cat(file_, ": at byte ", position_, ": ", why));
  }
  std::span<const std::byte> bytes(std::uint64_t count, const char* what) {
    if (count > left())
      refuse(cat("the file ends in ", what, ": ", count, " bytes are needed, ", left(), " are left"));
    const auto result = bytes_.subspan(position_, count);
    position_ += count;
    return result;
  }
  std::string_view text(std::uint64_t count, const char* what) {
    const auto result = bytes(count, what);
    return {reinterpret_cast<const char*>(result.data()), result.size()};
  }
  template <typename T>
  T number(const char* what) {
    T result{};
    std::memcpy(&result, bytes(sizeof(T), what).data(), sizeof(T));
    return result;
  }
  /// What was read since that position.
  std::span<const std::byte> since(std::size_t start) const {
    return bytes_.subspan(start, position_ - start);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  std::string file_;
};

struct GgufArray;
/// Reads and checks a GGUF array: its type, its length, its elements.
GgufArray read_gguf_array(ByteReader& in);

}  // namespace luminal::io
