#include "fuzz.h"
#include "luminal/io/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  luminal::fuzz::refuse_or_accept([&] {
    const auto tokenizer = luminal::io::read_sentencepiece(luminal::fuzz::text(data, size), "input");
    (void)tokenizer.decode(tokenizer.encode("Hello, wörld! <s> 123", true), true);
  });
  return 0;
}
