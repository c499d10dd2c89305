#include "fuzz.h"
#include "luminal/io/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto variables = luminal::io::TemplateValue::from_json(
      R"({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo", "tool_calls": []}],)"
      R"("tools": null, "bos_token": "<s>", "add_generation_prompt": true})");
  luminal::fuzz::refuse_or_accept(
      [&] { (void)luminal::io::ChatTemplate(luminal::fuzz::text(data, size)).render(variables, 1); });
  return 0;
}
