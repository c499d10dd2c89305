#include "luminal/io/unicode.h"

#include <cstdlib>
#include <memory>

#include "luminal/io/utf8.h"
#include "luminal/support/error.h"

#ifdef LUMINAL_HAS_UTF8PROC
#include <utf8proc.h>
#endif

namespace luminal::io {

bool is_space(char32_t code) {
  return (code >= 9 && code <= 13) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

#ifdef LUMINAL_HAS_UTF8PROC

namespace {

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

}  // namespace

std::string normalised(std::string_view text, NormalForm form) {
  unsigned options = UTF8PROC_STABLE;
  options |= form == NormalForm::nfc || form == NormalForm::nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (form == NormalForm::nfkc || form == NormalForm::nfkd) options |= UTF8PROC_COMPAT;
  utf8proc_uint8_t* result = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &result,
                                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  if (length < 0) throw Error(std::string("normalising text: ") + utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(length)};
}

void append_lower(std::string& out, char32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code >= 'A' && code <= 'Z' ? code + 32 : code));
  } else if (code == 0x130) {  // the one character whose lower case is two
    out += "i\xCC\x87";
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
}

void append_upper(std::string& out, char32_t code) {
  if (code == 0xDF)
    out += "SS";
  else
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))));
}

bool is_punctuation(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}
bool is_mark(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME;
}
bool is_nonspacing_mark(char32_t code) {
  return category(code) == UTF8PROC_CATEGORY_MN;
}
bool is_number(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}
bool is_other(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_CC && kind <= UTF8PROC_CATEGORY_CO;
}
bool is_word(char32_t code) {
  const auto kind = category(code);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_NL) || kind == UTF8PROC_CATEGORY_PC ||
         (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
         (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189) || code == 0x200C ||
         code == 0x200D;
}
bool grapheme_break(char32_t before, char32_t after, std::int32_t& state) {
  return utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                          static_cast<utf8proc_int32_t>(after), &state);
}

#else

namespace {

[[noreturn]] void missing() {
  throw Error(
      "this build has no utf8proc, which this tokenizer needs: install libutf8proc-dev and build again");
}

}  // namespace

std::string normalised(std::string_view, NormalForm) {
  missing();
}
void append_lower(std::string&, char32_t) {
  missing();
}
void append_upper(std::string&, char32_t) {
  missing();
}
bool is_punctuation(char32_t) {
  missing();
}
bool is_mark(char32_t) {
  missing();
}
bool is_nonspacing_mark(char32_t) {
  missing();
}
bool is_number(char32_t) {
  missing();
}
bool is_other(char32_t) {
  missing();
}
bool is_word(char32_t) {
  missing();
}
bool grapheme_break(char32_t, char32_t, std::int32_t&) {
  missing();
}

#endif

}  // namespace luminal::io
