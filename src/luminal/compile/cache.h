#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "luminal/runtime/device.h"

namespace luminal {

/// What compiling keeps between processes: binaries, plans, times. A directory that only we can write to, a
/// file an entry, named by its key's hash, with the key, a checksum and the version of this library inside.
/// Entries are written under another name and renamed, so processes may share it, also while one clears it. A
/// damaged or foreign entry is a miss, and so is everything if the directory is not ours or cannot be made;
/// writing never fails, it just does not keep.
class Cache : public runtime::BinaryStore {
 public:
  /// $XDG_CACHE_HOME/luminal, or ~/.cache/luminal; empty if neither variable names an absolute path.
  static std::filesystem::path default_directory();

  explicit Cache(std::filesystem::path directory);

  std::optional<std::string> get(const std::string& key) override;
  void put(const std::string& key, const std::string& content) override;

  struct Entry {
    std::string name;
    std::uintmax_t bytes = 0;
  };
  /// The entries there are, by name.
  std::vector<Entry> entries() const;
  struct Cleared {
    std::size_t removed = 0;  // entries
    std::size_t kept = 0;     // files that could not be removed, and why the last one was not
    std::string problem;
  };
  /// Removes all entries, and what processes left that were killed while writing one.
  Cleared clear();
  const std::filesystem::path& directory() const { return directory_; }
  /// Why nothing is kept; empty if all is well.
  const std::string& problem() const { return problem_; }

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void trim() const;

  std::filesystem::path directory_;
  std::string problem_;
};

}  // namespace luminal
