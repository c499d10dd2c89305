#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/io/template_value.h"

namespace luminal::io {

/// Python's string functions, on UTF-8.
bool is_python_space(char32_t code);
/// Without the given characters (blanks by default) at its ends.
std::string strip_text(const std::string& text, const std::optional<std::string>& characters, bool left,
                       bool right);
std::string upper_text(const std::string& text);
std::string lower_text(const std::string& text);
std::string title_text(const std::string& text);
/// As Jinja's filter: words end at spaces and at - ( { [ < only.
std::string title_words(const std::string& text);
std::string capitalise_text(const std::string& text);
/// At most `limit` splits, all if it is negative.
TemplateValue split_text(const std::string& text, const std::string& separator, std::int64_t limit,
                         bool from_right);
TemplateValue split_words(const std::string& text, std::int64_t limit, bool from_right);
TemplateValue split_lines(const std::string& text, bool keep_ends);
std::string replace_text(const std::string& text, const std::string& from, const std::string& to,
                         std::int64_t count);
TemplateValue count_text(const std::string& text, const std::string& part);
/// Every line but the first (unless `first`) and empty ones (unless `blank`) indented; line ends become \n.
std::string indent_text(const std::string& text, const std::string& by, bool first, bool blank);
/// Filled up to `width` characters: before the text if `side` > 0, after it if < 0, on both sides if 0.
std::string padded_text(const std::string& text, std::size_t width, char32_t fill, int side);
/// `format % values`: flags, width and precision of %s %r %d %i %x %f %e %g.
std::string format_percent(const std::string& format, const TemplateValue& values);
/// `format.format(...)` with fields {}, {0} and {name}.
std::string format_braces(const std::string& format, const TemplateArguments& arguments);

}  // namespace luminal::io
