#include "luminal/io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

struct Descriptor {
  explicit Descriptor(int fd_) : fd(fd_) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

}  // namespace

MappedFile::State::~State() {
  if (data != nullptr) ::munmap(const_cast<std::byte*>(data), size);
}

MappedFile::MappedFile(const std::string& path) {
  const auto refuse = [&](const std::string& why) -> void {
    throw Error(cat("the file ", luminal::in_quotes(path), " cannot be read: ", why));
  };
  // O_NONBLOCK: opening a pipe must not wait for its writer before it is refused.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) refuse(std::strerror(errno));
  struct stat status{};
  if (::fstat(file.fd, &status) != 0) refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  const auto state = std::make_shared<State>();
  state->path = path;
  state->size = static_cast<std::size_t>(status.st_size);
  if (state->size > 0) {
    void* address = ::mmap(nullptr, state->size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (address == MAP_FAILED) refuse(std::strerror(errno));
    state->data = static_cast<const std::byte*>(address);
  }
  state_ = state;
}

}  // namespace luminal::io
