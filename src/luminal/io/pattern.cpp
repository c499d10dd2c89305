#include "luminal/io/pattern.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "luminal/io/pattern_translate.h"
#include "luminal/io/utf8.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

#ifdef LUMINAL_HAS_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

namespace luminal::io {
namespace {

void each_literal(std::string_view needle, std::string_view text,
                  const std::function<void(std::size_t, std::size_t)>& on_match) {
  if (needle.empty()) return;
  for (std::size_t at = text.find(needle); at != std::string_view::npos;
       at = text.find(needle, at + needle.size()))
    on_match(at, at + needle.size());
}

}  // namespace

Pattern Pattern::literal(const std::string& text) {
  Pattern result;
  result.literal_ = text;
  return result;
}

std::string Pattern::replace_all(std::string_view text, std::string_view by) const {
  std::string result;
  std::size_t done = 0;
  each_match(text, [&](std::size_t begin, std::size_t end) {
    result.append(text.substr(done, begin - done)).append(by);
    require_growth(text.size(), result.size());
    done = end;
  });
  return result.append(text.substr(done));
}

#ifdef LUMINAL_HAS_PCRE2

namespace {

constexpr std::uint32_t most_steps = 10'000'000;

bool is_script(const std::string& name) {
  const std::string pattern = "\\p{sc:" + name + "}";
  int status = 0;
  PCRE2_SIZE where = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF,
                                   &status, &where, nullptr);
  pcre2_code_free(code);
  return code != nullptr;
}

struct Code {
  explicit Code(pcre2_code* code_) : code(code_) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { pcre2_code_free(code); }
  pcre2_code* code;
};

std::string message_of(int status) {
  std::string text(200, '\0');
  const int length =
      pcre2_get_error_message(status, reinterpret_cast<PCRE2_UCHAR*>(text.data()), text.size());
  text.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return text;
}

}  // namespace

Pattern::Pattern(const std::string& expression, PatternDialect dialect) {
  if (expression.size() > 65536) throw Error(cat("a pattern of ", expression.size(), " bytes is refused"));
  const std::string ours = translate_pattern(expression, dialect, is_script);
  int status = 0;
  PCRE2_SIZE where = 0;
  // In Oniguruma, '^' and '$' stand at every line.
  const std::uint32_t lines = dialect == PatternDialect::oniguruma ? PCRE2_MULTILINE : 0;
  const std::unique_ptr<pcre2_compile_context, decltype(&pcre2_compile_context_free)> context(
      pcre2_compile_context_create(nullptr), &pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(ours.data()), ours.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C | lines, &status, &where, context.get());
  if (code == nullptr)
    throw Error(cat("the pattern ", luminal::in_quotes(expression), " does not compile: ", message_of(status),
                    " near ", luminal::in_quotes(ours.substr(std::min(where, ours.size()), 20))));
  code_ = std::make_shared<const Code>(code);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // where it cannot, matching is slower and the same
}

void Pattern::each_match(std::string_view text,
                         const std::function<void(std::size_t, std::size_t)>& on_match) const {
  if (!code_) return each_literal(literal_, text, on_match);
  const auto* code = static_cast<const Code*>(code_.get())->code;
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> data(
      pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free);
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), &pcre2_match_context_free);
  const std::unique_ptr<pcre2_jit_stack, decltype(&pcre2_jit_stack_free)> stack(
      pcre2_jit_stack_create(32768, 1U << 24U, nullptr), &pcre2_jit_stack_free);
  pcre2_set_match_limit(context.get(), most_steps);
  pcre2_set_heap_limit(context.get(), 1U << 16U);  // in KiB
  pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  std::size_t at = 0;
  std::optional<std::size_t> last_end;
  while (at <= text.size()) {
    const int status = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                   PCRE2_NO_UTF_CHECK, data.get(), context.get());
    if (status == PCRE2_ERROR_NOMATCH) return;
    if (status < 0) throw Error(cat("a pattern cannot be matched: ", message_of(status)));
    const PCRE2_SIZE* found = pcre2_get_ovector_pointer(data.get());
    const std::size_t begin = found[0], end = found[1];
    if (begin < end || begin != last_end) on_match(begin, end);
    last_end = end;
    at = end;
    if (begin == end) {  // the next search starts a character further on
      ++at;
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++at;
    }
  }
}

#else

Pattern::Pattern(const std::string& expression, PatternDialect) {
  throw Error(cat("this build has no PCRE2, which the pattern ", luminal::in_quotes(expression),
                  " needs: install libpcre2-dev and build again"));
}

void Pattern::each_match(std::string_view text,
                         const std::function<void(std::size_t, std::size_t)>& on_match) const {
  each_literal(literal_, text, on_match);
}

#endif

}  // namespace luminal::io
