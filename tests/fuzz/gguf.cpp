#include "luminal/io/gguf.h"

#include "fuzz.h"
#include "luminal/io/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  luminal::fuzz::refuse_or_accept([&] {
    const auto gguf = luminal::io::read_gguf(luminal::fuzz::bytes(data, size), "input");
    for (const auto& tensor : gguf.tensors) (void)tensor.array().contiguous();
    const auto tokenizer = luminal::io::read_gguf_tokenizer(gguf);
    (void)tokenizer.decode(tokenizer.encode("Hello, wörld! 123", true), true);
  });
  return 0;
}
