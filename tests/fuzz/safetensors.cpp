#include "luminal/io/safetensors.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  luminal::fuzz::refuse_or_accept([&] {
    const auto model = luminal::io::read_safetensors(luminal::fuzz::bytes(data, size), "input");
    for (const auto& tensor : model.tensors) (void)tensor.array().contiguous();
  });
  return 0;
}
