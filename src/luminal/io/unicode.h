#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::io {

/// Unicode's normalisation forms.
enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// `Error` if this build has no utf8proc. All of these take valid UTF-8.
std::string normalised(std::string_view text, NormalForm form);
/// One character in lower, upper or title case, by its full mapping where that is more than one (İ, ß, ﬁ).
void append_lower(std::string& out, char32_t code);
void append_upper(std::string& out, char32_t code);
void append_title(std::string& out, char32_t code);

bool is_space(char32_t code);  // White_Space
/// General categories.
bool is_punctuation(char32_t code);      // P
bool is_mark(char32_t code);             // M
bool is_nonspacing_mark(char32_t code);  // Mn
bool is_number(char32_t code);           // N
bool is_letter(char32_t code);           // L
bool is_digit(char32_t code);            // Nd, and what else Python's isdigit takes, as ²
/// Letters with a case, and what a word's case does not look at, as an apostrophe.
bool is_cased(char32_t code);
bool is_case_ignorable(char32_t code);
/// What Python's repr does not escape.
bool is_printable(char32_t code);
bool is_other(char32_t code);  // C, but assigned
/// What \w matches: letters, marks, decimal digits, connectors, and other alphabetic characters.
bool is_word(char32_t code);
/// Whether a grapheme may end between the two characters; `state` starts as 0 and goes from call to call.
bool grapheme_break(char32_t before, char32_t after, std::int32_t& state);

}  // namespace luminal::io
