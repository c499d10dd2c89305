#include "luminal/io/unicode.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

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

namespace {

/// The characters that a case folding turns one into.
std::u32string folded(char32_t code) {
  std::array<utf8proc_int32_t, 8> parts{};
  int boundary = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                             static_cast<utf8proc_ssize_t>(parts.size()),
                                             static_cast<utf8proc_option_t>(UTF8PROC_CASEFOLD), &boundary);
  std::u32string result;
  for (utf8proc_ssize_t i = 0; i < count && i < static_cast<utf8proc_ssize_t>(parts.size()); ++i)
    result += static_cast<char32_t>(parts[static_cast<std::size_t>(i)]);
  return result;
}

char32_t simple_upper(char32_t code) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

}  // namespace

// What folds to several characters is, in upper case, their upper cases.
void append_upper(std::string& out, char32_t code) {
  const std::u32string parts = code < 0x80 || category(code) == UTF8PROC_CATEGORY_LU ? U"" : folded(code);
  if (parts.size() < 2) return append_utf8(out, simple_upper(code));
  for (const char32_t part : parts) append_utf8(out, simple_upper(part));
}

void append_title(std::string& out, char32_t code) {
  const auto title = static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code)));
  const std::u32string parts = code < 0x80 || category(code) != UTF8PROC_CATEGORY_LL ? U"" : folded(code);
  if (parts.size() < 2 || category(title) == UTF8PROC_CATEGORY_LT) return append_utf8(out, title);
  append_utf8(out, simple_upper(parts[0]));
  for (const char32_t part : parts.substr(1)) append_utf8(out, part);
}

bool is_letter(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(char32_t code) {
  static constexpr std::pair<char32_t, char32_t> others[] = {
      {0xB2, 0xB3},     {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},   {0x2070, 0x2070},
      {0x2074, 0x2079}, {0x2080, 0x2089},   {0x2460, 0x2468},   {0x2474, 0x247C},   {0x2488, 0x2490},
      {0x24EA, 0x24EA}, {0x24F5, 0x24FD},   {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},
      {0x278A, 0x2792}, {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}};
  return category(code) == UTF8PROC_CATEGORY_ND ||
         std::any_of(std::begin(others), std::end(others),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}
bool is_cased(char32_t code) {
  const auto kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LT;
}
bool is_case_ignorable(char32_t code) {
  static constexpr std::u32string_view inside_words =
      U"'.:^`\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  const auto kind = category(code);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_LM || kind == UTF8PROC_CATEGORY_SK ||
         inside_words.find(code) != std::u32string_view::npos;
}
bool is_printable(char32_t code) {
  const auto kind = category(code);
  return code == ' ' || (kind != UTF8PROC_CATEGORY_CN && kind < UTF8PROC_CATEGORY_ZS);
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
void append_title(std::string&, char32_t) {
  missing();
}
bool is_letter(char32_t) {
  missing();
}
bool is_digit(char32_t) {
  missing();
}
bool is_cased(char32_t) {
  missing();
}
bool is_case_ignorable(char32_t) {
  missing();
}
bool is_printable(char32_t) {
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
