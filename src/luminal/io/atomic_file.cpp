#include "luminal/io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* step) {
  throw Error(
      cat("the file ", luminal::in_quotes(path), " cannot be written: ", step, ": ", std::strerror(errno)));
}

/// Removes the temporary file unless it was renamed.
struct Temporary {
  explicit Temporary(std::string name_) : name(std::move(name_)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor >= 0) ::close(descriptor);
    if (!renamed && created) ::unlink(name.c_str());
  }
  std::string name;
  int descriptor = -1;
  bool created = false;
  bool renamed = false;
};

void sync_folder(const std::string& folder, const std::string& path) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) refuse(path, "opening its folder");
  const int status = ::fsync(descriptor);
  ::close(descriptor);
  if (status != 0 && errno != EINVAL) refuse(path, "syncing its folder");  // EINVAL: a file system without it
}

/// The mode of the file that is replaced, or what a new file gets.
mode_t mode_for(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 07777U;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666U & ~mask;
}

std::string resolved(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : target.string();
}

std::string folder_of(const std::string& target) {
  const std::filesystem::path full(target);
  return full.has_parent_path() ? full.parent_path().string() : ".";
}

/// An empty one, in the folder of the file that it will be.
void open_temporary(Temporary& temporary, const std::string& path) {
  temporary.descriptor = ::mkostemp(temporary.name.data(), O_CLOEXEC);
  if (temporary.descriptor < 0) refuse(path, "making a temporary file in its folder");
  temporary.created = true;
}

std::string temporary_name(const std::string& target) {
  const std::string name = "." + std::filesystem::path(target).filename().string() + ".XXXXXX";
  return (std::filesystem::path(folder_of(target)) / name).string();
}

}  // namespace

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::write(descriptor_, bytes.data(), std::min<std::size_t>(bytes.size(), 1U << 30U));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path_, "writing");
    position_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void FileWriter::zeros(std::size_t count) {
  static constexpr std::array<std::byte, 256> block{};
  for (; count > 0; count -= std::min(count, block.size()))
    write(std::span(block).first(std::min(count, block.size())));
}

void write_atomically(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  const std::string target = resolved(path);
  Temporary temporary(temporary_name(target));
  open_temporary(temporary, path);
  FileWriter writer(temporary.descriptor, path);
  fill(writer);
  if (::fchmod(temporary.descriptor, mode_for(target)) != 0) refuse(path, "setting its mode");
  if (::fsync(temporary.descriptor) != 0) refuse(path, "syncing");
  const int closed = ::close(temporary.descriptor);
  temporary.descriptor = -1;
  if (closed != 0) refuse(path, "closing");
  if (::rename(temporary.name.c_str(), target.c_str()) != 0) refuse(path, "renaming the temporary file");
  temporary.renamed = true;
  sync_folder(folder_of(target), path);
}

void require_writable(const std::string& path) {
  const std::string target = resolved(path);
  struct stat status{};
  if (::stat(target.c_str(), &status) == 0) {
    errno = S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (errno != 0 || ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) refuse(path, "opening");
  }
  Temporary temporary(temporary_name(target));
  open_temporary(temporary, path);
}

}  // namespace luminal::io
