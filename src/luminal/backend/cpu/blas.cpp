#include "luminal/backend/cpu/blas.h"

#include <dlfcn.h>

#include <optional>
#include <string_view>
#include <utility>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cpu {
namespace {

template <typename F>
F function(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

std::optional<Blas> opened(const char* name) {
  void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  const auto config = function<const char* (*)()>(library, "openblas_get_config");
  const auto parallel = function<int (*)()>(library, "openblas_get_parallel");
  const auto set_threads = function<void (*)(int)>(library, "openblas_set_num_threads");
  Blas found{{}, dlsym(library, "cblas_sgemm"), dlsym(library, "cblas_dgemm")};
  const bool whole = config != nullptr && parallel != nullptr && set_threads != nullptr &&
                     found.sgemm != nullptr && found.dgemm != nullptr;
  constexpr int by_openmp = 2;
  if (!whole || parallel() == by_openmp ||
      std::string_view(config()).find("USE64BITINT") != std::string_view::npos) {
    dlclose(library);
    return std::nullopt;
  }
  set_threads(1);
  found.description = config();
  return found;
}

std::optional<Blas> first_opened() {
  for (const auto* name : {"libopenblas.so.0", "libopenblas.so", "libopenblas.dylib"})
    if (auto found = opened(name)) return found;
  return std::nullopt;
}

}  // namespace

const Blas* blas() {
  static const std::optional<Blas> found = first_opened();
  return found ? &*found : nullptr;
}

void connect_blas(const std::string& entry, const std::function<void*(const char* name)>& variable) {
  constexpr std::pair<const char*, void * Blas::*> imports[] = {{"luminal_blas_f32", &Blas::sgemm},
                                                                {"luminal_blas_f64", &Blas::dgemm}};
  for (const auto& [name, member] : imports) {
    void* const place = variable(name);
    if (place == nullptr) continue;
    if (blas() == nullptr)
      throw Error(cat("cpu: kernel ", entry, " calls OpenBLAS, which this machine does not have"));
    *static_cast<void**>(place) = blas()->*member;
  }
}

}  // namespace luminal::cpu
