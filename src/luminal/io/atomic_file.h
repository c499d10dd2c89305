#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace luminal::io {

/// The file that `write_atomically` is writing.
class FileWriter {
 public:
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  void zeros(std::size_t count);
  std::uint64_t position() const { return position_; }

 private:
  friend void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& fill);
  FileWriter(int descriptor, const std::string& path) : descriptor_(descriptor), path_(path) {}
  int descriptor_;
  const std::string& path_;
  std::uint64_t position_ = 0;
};

/// Writes a whole file, or leaves what was there: a temporary file in the same folder, synced, renamed over
/// `path`, and the folder synced. Whenever the process or the machine stops, `path` holds all of the old or
/// all of the new. `fill` may throw; then nothing changes. A symbolic link is written through.
void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& fill);

/// The `Error` that `write_atomically` would end with for want of a folder or a permission, before there is
/// anything to write. Changes nothing.
void require_writable(const std::string& path);

}  // namespace luminal::io
