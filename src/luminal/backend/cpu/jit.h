#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/codegen/schedule.h"
#include "luminal/runtime/device.h"

namespace luminal::cpu {

/// A compiled kernel: see `codegen::print_kernel`.
using Function = void (*)(std::int64_t task, void* const* buffers, const std::int64_t* dims, void* scratch,
                          std::int64_t* status);

/// A kernel in memory: unloaded with the last copy of this.
class Loaded {
 public:
  Loaded() = default;
  Loaded(Function entry, std::shared_ptr<void> code) : function_(entry), code_(std::move(code)) {}
  Function function() const { return function_; }
  explicit operator bool() const { return function_ != nullptr; }

 private:
  Function function_ = nullptr;
  std::shared_ptr<void> code_;
};

/// Who turns C into machine code.
enum class Compiler : std::uint8_t {
  clang,   // Clang as a library, in this process
  system,  // the system's C compiler, as a program
};
/// What this build and machine have, the preferred one first. LUMINAL_CPU_COMPILER=clang|system leaves only
/// that.
std::vector<Compiler> compilers();

/// Compiles C for the machine it runs on. What it loaded may outlive it. Safe to use from several threads.
/// With LUMINAL_DUMP=dir in the environment each text is written there as NAME.c.
class Jit {
 public:
  /// With the given compiler, or the first of `compilers()`. `Error` if there is none.
  explicit Jit(std::optional<Compiler> compiler = std::nullopt);
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  Compiler compiler() const { return compiler_; }

  /// `Error` with the compiler's words if the text is refused. `units` are the text in pieces, if it has
  /// some: see `codegen::Source`.
  Loaded compile(const std::string& text, const std::string& entry, runtime::BinaryStore* store = nullptr,
                 std::span<const std::string> units = {});
  /// The compiler with its version, and the machine it compiles for.
  std::string description() const { return loader_->description(); }

  /// What each way of compiling implements: text to a binary, and a binary into memory.
  class Loader {
   public:
    virtual ~Loader() = default;
    virtual std::string description() const = 0;
    /// Of the text, or of its units if these are compiled sooner.
    virtual std::string binary(const std::string& text, std::span<const std::string> units,
                               const std::string& entry) = 0;
    virtual Loaded load(const std::string& binary, const std::string& entry) = 0;
  };

 private:
  Compiler compiler_;
  std::unique_ptr<Loader> loader_;
};

/// What schedules need to know of this machine.
codegen::Machine machine();

}  // namespace luminal::cpu
