#include "luminal/backend/cpu/jit.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "luminal/backend/cpu/loaders.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

void dump(const std::string& directory, const std::string& text, const std::string& entry) {
  static std::atomic<unsigned> number{0};
  const auto path = std::filesystem::path(directory) / cat(entry, "_", number++, ".c");
  std::error_code ignored;
  std::filesystem::create_directories(directory, ignored);
  std::ofstream file(path);
  file << text;
  if (!file) throw Error(cat("LUMINAL_DUMP: cannot write ", path.string()));
}

Compiler chosen(const std::optional<Compiler>& wanted) {
  const std::vector<Compiler> there = compilers();
  if (wanted) {
    for (const auto compiler : there)
      if (compiler == *wanted) return compiler;
    throw Error(*wanted == Compiler::clang ? "cpu: this build has no Clang library to compile kernels"
                                           : "cpu: no C compiler (cc, gcc or clang) is on the PATH");
  }
  if (there.empty())
    throw Error(
        "cpu: there is nothing to compile kernels with: neither a Clang library in this build, nor a C "
        "compiler (cc, gcc or clang) on the PATH");
  return there.front();
}

}  // namespace

std::vector<Compiler> compilers() {
  const char* setting = std::getenv("LUMINAL_CPU_COMPILER");
  const std::string_view only = setting == nullptr ? "" : setting;
  if (!only.empty() && only != "clang" && only != "system")
    throw Error(cat("LUMINAL_CPU_COMPILER is clang or system, got '", only, "'"));
  std::vector<Compiler> found;
  if (has_clang() && only != "system") found.push_back(Compiler::clang);
  if (only != "clang" && system_compiler()) found.push_back(Compiler::system);
  return found;
}

Jit::Jit(std::optional<Compiler> compiler) : compiler_(chosen(compiler)) {
  loader_ = compiler_ == Compiler::clang ? make_clang_loader() : make_system_loader(*system_compiler());
}

Jit::~Jit() = default;

Loaded Jit::compile(const std::string& text, const std::string& entry, runtime::BinaryStore* store,
                    std::span<const std::string> units) {
  if (const char* directory = std::getenv("LUMINAL_DUMP"); directory != nullptr && *directory != '\0')
    dump(directory, text, entry);
  const std::string key = store == nullptr ? "" : cat(description(), "\n", entry, "\n", text);
  if (store != nullptr)
    if (const auto known = store->get(key)) try {
        return loader_->load(*known, entry);
      } catch (const Error&) {
        // What is kept is not what was put there: it is made again.
      }
  const std::string binary = loader_->binary(text, units, entry);
  if (store != nullptr) store->put(key, binary);
  return loader_->load(binary, entry);
}

namespace {

/// As Linux tells of the first processor; nothing where it does not.
std::optional<std::int64_t> shared_cache_bytes() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");
  std::int64_t size = 0;
  char unit = 0;
  if (!(file >> size >> unit) || size <= 0) return std::nullopt;
  if (unit != 'K' && unit != 'M') return std::nullopt;
  return size << (unit == 'K' ? 10 : 20);
}

}  // namespace

codegen::Machine machine() {
  static const auto shared_cache = shared_cache_bytes();
  codegen::Machine machine{.vector_bytes = 0, .vector_registers = 16};
#if defined(__x86_64__) || defined(__i386__)
  machine.vector_bytes = 16;
  if (__builtin_cpu_supports("avx2")) machine.vector_bytes = 32;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    machine.vector_bytes = 64;
    machine.vector_registers = 32;
  }
#elif defined(__aarch64__)
  machine.vector_bytes = 16;
  machine.vector_registers = 32;
#endif
  machine.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  machine.l3_bytes = shared_cache.value_or(machine.l3_bytes);
  return machine;
}

}  // namespace luminal::cpu
