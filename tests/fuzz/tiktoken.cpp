#include "fuzz.h"
#include "luminal/io/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  luminal::fuzz::refuse_or_accept([&] {
    const auto tokenizer = luminal::io::read_tiktoken(luminal::fuzz::text(data, size), "input", "\\S+|\\s+");
    (void)tokenizer.decode(tokenizer.encode("Hello, wörld! 123"));
  });
  return 0;
}
