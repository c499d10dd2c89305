#include "luminal/compile/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "luminal/compile/fingerprint.h"
#include "luminal/support/sha256.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "luminal cache 1\n";
/// Entries are removed, the oldest first, when there is more than this; to half of it.
constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 31;
constexpr std::size_t hash_digits = 64;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return descriptor_ >= 0; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
  }

  std::optional<std::string> read_all() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (static_cast<std::uintmax_t>(status.st_size) > most_bytes) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t done = ::read(descriptor_, bytes.data() + at, bytes.size() - at);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return std::nullopt;
      at += static_cast<std::size_t>(done);
    }
    return bytes;
  }

  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

std::string number_text(std::size_t value) {
  return cat(value, "\n");
}

/// The file of an entry: what it is, whose, the key, the content, and the hash of all that.
std::string packed(const std::string& key, const std::string& content) {
  std::string bytes =
      cat(magic, build_fingerprint(), "\n", number_text(key.size()), number_text(content.size()));
  bytes += key;
  bytes += content;
  return bytes + sha256(bytes);
}

std::optional<std::string> unpacked(std::string_view bytes, const std::string& key) {
  if (bytes.size() < hash_digits) return std::nullopt;
  const std::string_view body = bytes.substr(0, bytes.size() - hash_digits);
  const std::string before = cat(magic, build_fingerprint(), "\n", number_text(key.size()));
  if (!body.starts_with(before)) return std::nullopt;
  std::string_view rest = body.substr(before.size());
  const auto line = rest.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::string_view size = rest.substr(0, line);
  rest.remove_prefix(line + 1);
  if (rest.size() < key.size() || rest.substr(0, key.size()) != key) return std::nullopt;
  rest.remove_prefix(key.size());
  if (size != std::to_string(rest.size())) return std::nullopt;
  if (sha256(body) != bytes.substr(bytes.size() - hash_digits)) return std::nullopt;
  return std::string(rest);
}

bool is_entry_name(const std::string& name) {
  return name.size() == hash_digits && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

bool is_unfinished(const std::string& name) {
  return name.starts_with("new-");
}

/// Makes the directory, or checks that nobody else can write to the one that is there, whose mode is its
/// owner's affair; says what is wrong.
std::string prepared(const fs::path& directory) {
  if (directory.empty()) return "there is no place for it: set HOME or XDG_CACHE_HOME to an absolute path";
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  if (::mkdir(directory.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return cat(directory.string(), " cannot be made: ", std::strerror(errno));
  struct stat status{};
  if (::lstat(directory.c_str(), &status) != 0)
    return cat(directory.string(), " cannot be read: ", std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) return cat(directory.string(), " is no directory");
  if (status.st_uid != ::geteuid()) return cat(directory.string(), " belongs to another user");
  if ((status.st_mode & 0022) != 0)
    return cat(directory.string(), " can be written to by others; 'chmod go-w' helps");
  return {};
}

}  // namespace

fs::path Cache::default_directory() {
  if (const char* base = std::getenv("XDG_CACHE_HOME"); base != nullptr && *base == '/')
    return fs::path(base) / "luminal";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "luminal";
  return {};
}

Cache::Cache(fs::path directory) : directory_(std::move(directory)), problem_(prepared(directory_)) {}

fs::path Cache::path_of(const std::string& key) const {
  return directory_ / sha256(key);
}

std::optional<std::string> Cache::get(const std::string& key) {
  if (!problem_.empty()) return std::nullopt;
  const File file(::open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return std::nullopt;
  const auto bytes = file.read_all();
  return bytes ? unpacked(*bytes, key) : std::nullopt;
}

void Cache::put(const std::string& key, const std::string& content) {
  if (!problem_.empty()) return;
  static std::atomic<std::uint64_t> number{0};
  const std::uint64_t mine = number++;
  const fs::path target = path_of(key);
  const fs::path fresh = directory_ / cat("new-", ::getpid(), "-", mine);
  File file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return;
  const bool written = file.write(packed(key, content)) && file.close();
  if (!written || ::rename(fresh.c_str(), target.c_str()) != 0) ::unlink(fresh.c_str());
  if (mine % 256 == 0) trim();
}

std::vector<Cache::Entry> Cache::entries() const {
  std::vector<Entry> result;
  std::error_code error;
  if (!problem_.empty()) return result;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const auto bytes = it->file_size(gone);
    if (!gone && is_entry_name(it->path().filename().string()))
      result.push_back({it->path().filename().string(), bytes});
  }
  std::sort(result.begin(), result.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return result;
}

Cache::Cleared Cache::clear() {
  Cleared result;
  std::error_code error;
  if (!problem_.empty()) return result;
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!is_entry_name(name) && !is_unfinished(name)) continue;
    if (::unlink(it->path().c_str()) == 0) {
      result.removed += is_entry_name(name) ? 1 : 0;
    } else if (errno != ENOENT) {  // which another process removed
      ++result.kept;
      result.problem = std::strerror(errno);
    }
  }
  return result;
}

void Cache::trim() const {
  std::uintmax_t all = 0;
  std::vector<std::pair<fs::file_time_type, Entry>> by_age;
  for (const auto& entry : entries()) {
    std::error_code gone;
    const auto time = fs::last_write_time(directory_ / entry.name, gone);
    if (gone) continue;
    all += entry.bytes;
    by_age.emplace_back(time, entry);
  }
  // What processes left behind that were killed while writing.
  std::error_code error;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (is_unfinished(it->path().filename().string()) && it->last_write_time(gone) < long_ago && !gone)
      fs::remove(it->path(), gone);
  }
  if (all <= most_bytes) return;
  std::sort(by_age.begin(), by_age.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [time, entry] : by_age) {
    if (all <= most_bytes / 2) return;
    if (::unlink((directory_ / entry.name).c_str()) == 0) all -= entry.bytes;
  }
}

}  // namespace luminal
