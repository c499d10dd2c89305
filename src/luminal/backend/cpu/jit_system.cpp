// Kernels compiled by the system's C compiler: a shared library in a directory of our own, loaded and then
// removed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "luminal/backend/cpu/blas.h"
#include "luminal/backend/cpu/loaders.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

namespace fs = std::filesystem;

/// A directory that only we can enter, removed at the end.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    std::string pattern = (fs::temp_directory_path() / "luminal-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw Error(cat("cpu: cannot make a temporary directory ", pattern));
    path_ = pattern;
  }
  ~PrivateDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Runs a program without a shell, its words into `log`; gives its exit status.
int run(const std::vector<std::string>& arguments, const fs::path& log) {
  std::vector<char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw Error("cpu: cannot start the C compiler");
  if (child == 0) {
    const int file = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    if (file >= 0) {
      dup2(file, 1);
      dup2(file, 2);
    }
    std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for us, and reaches all that run at the terminal
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What one thread unloads, another may load to the same place and write to: all loaders take turns.
std::mutex& loading() {
  static std::mutex mutex;
  return mutex;
}

/// Closed with its last owner.
std::shared_ptr<void> open_library(const fs::path& path, const std::string& entry) {
  const std::lock_guard lock(loading());
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw Error(cat("cpu: kernel ", entry, " cannot be loaded: ", dlerror()));
  return {handle, [](void* closed) {
            const std::lock_guard closing(loading());
            dlclose(closed);
          }};
}

class SystemLoader final : public Jit::Loader {
 public:
  explicit SystemLoader(std::string program) : program_(std::move(program)) {
    // Macros name the compiler's version and all that -march=native found.
    const PrivateDirectory directory;
    const fs::path source = directory.path() / "empty.c";
    std::ofstream(source) << "";
    const fs::path log = directory.path() / "log";
    run({program_, "-march=native", "-dM", "-E", source.string()}, log);
    description_ = cat(program_, "\n", contents(log));
  }

  std::string description() const override { return description_; }

  std::string binary(const std::string& text, std::span<const std::string> /*units*/,
                     const std::string& entry) override {
    const PrivateDirectory directory;
    const fs::path source = directory.path() / "kernel.c";
    const fs::path library = directory.path() / "kernel.so";
    const fs::path log = directory.path() / "log";
    std::ofstream(source) << text;
    const int status = run({program_, "-O2", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-w",
                            "-shared", "-fPIC", "-o", library.string(), source.string(), "-lm"},
                           log);
    if (status != 0)
      throw Error(cat("cpu: ", program_, " cannot compile kernel ", entry, ": ", contents(log)));
    return contents(library);
  }

  Loaded load(const std::string& binary, const std::string& entry) override {
    const PrivateDirectory directory;
    const fs::path library = directory.path() / "kernel.so";
    std::ofstream file(library, std::ios::binary);
    file << binary;
    file.close();
    if (!file) throw Error(cat("cpu: cannot write kernel ", entry, " to a temporary directory"));
    const std::shared_ptr<void> handle = open_library(library, entry);
    const std::lock_guard lock(loading());
    void* symbol = dlsym(handle.get(), entry.c_str());
    if (symbol == nullptr) throw Error(cat("cpu: the program has no function ", entry));
    connect_blas(entry, [&](const char* name) { return dlsym(handle.get(), name); });
    return {reinterpret_cast<Function>(symbol), handle};
  }

 private:
  std::string program_;
  std::string description_;
};

}  // namespace

std::optional<std::string> system_compiler() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return std::nullopt;
  for (const auto* program : {"cc", "gcc", "clang"}) {
    std::istringstream directories(path);
    for (std::string directory; std::getline(directories, directory, ':');)
      if (access((fs::path(directory) / program).c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

std::unique_ptr<Jit::Loader> make_system_loader(const std::string& program) {
  return std::make_unique<SystemLoader>(program);
}

}  // namespace luminal::cpu
