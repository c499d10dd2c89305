#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace luminal::io {

/// A regular file mapped for reading. Copies share the mapping, which lives as long as one of them or an
/// array that borrows from it. A file that another process shortens while it is mapped ends this process, as
/// with any mapping: replace files by rename, as `write_atomically` does.
class MappedFile {
 public:
  /// `Error` if the path is not a readable regular file.
  explicit MappedFile(const std::string& path);

  const std::string& path() const { return state_->path; }
  std::span<const std::byte> bytes() const { return {state_->data, state_->size}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(state_->data), state_->size}; }
  /// Keeps the mapping alive.
  std::shared_ptr<const void> owner() const { return state_; }

 private:
  struct State {
    std::string path;
    const std::byte* data = nullptr;
    std::size_t size = 0;
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State();
  };
  std::shared_ptr<const State> state_;
};

}  // namespace luminal::io
