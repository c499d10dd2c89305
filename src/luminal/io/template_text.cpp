#include "luminal/io/template_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

enum class Case : std::uint8_t { lower, upper, title };

/// Whether the sigma at `at` ends a word: a letter before it and none after it.
bool is_final(const std::string& text, std::size_t at) {
  bool before = false;
  for (std::size_t i = at; i > 0 && !before;) {
    for (--i; i > 0 && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;) --i;
    const char32_t c = code_point_at(text, i).value;
    before = is_cased(c);
    if (!before && !is_case_ignorable(c)) return false;
  }
  if (!before) return false;
  for (std::size_t i = at + code_point_at(text, at).bytes; i < text.size();) {
    const CodePoint point = code_point_at(text, i);
    if (is_cased(point.value)) return false;
    if (!is_case_ignorable(point.value)) return true;
    i += point.bytes;
  }
  return true;
}

/// Every character in the case that `rule(the one before is a letter, it is the first)` gives.
template <typename Rule>
std::string cased(const std::string& text, const Rule& rule) {
  static constexpr char32_t sigma = 0x3A3;
  std::string result;
  bool after_letter = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    const Case wanted = rule(after_letter, at == 0);
    if (c < 0x80) {
      const bool is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z';
      const bool upper = wanted != Case::lower;
      result.push_back(static_cast<char>(is_lower && upper ? c - 32 : is_upper && !upper ? c + 32 : c));
      after_letter = is_upper || is_lower;
    } else {
      if (wanted == Case::upper)
        append_upper(result, c);
      else if (wanted == Case::title)
        append_title(result, c);
      else if (c == sigma && is_final(text, at))
        result += "\xCF\x82";
      else
        append_lower(result, c);
      after_letter = is_cased(c);
    }
    at += point.bytes;
  }
  return result;
}

}  // namespace

bool is_python_space(char32_t code) {
  return is_space(code) || (code >= 0x1C && code <= 0x1F);
}

std::string strip_text(const std::string& text, const std::optional<std::string>& characters, bool left,
                       bool right) {
  const std::u32string set = characters ? to_utf32(*characters) : std::u32string();
  const auto goes = [&](char32_t c) {
    return characters ? set.find(c) != std::u32string::npos : is_python_space(c);
  };
  std::size_t begin = 0;
  while (left && begin < text.size() && goes(code_point_at(text, begin).value))
    begin += code_point_at(text, begin).bytes;
  std::size_t end = begin;
  for (std::size_t at = begin; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.bytes;
    if (!right || !goes(point.value)) end = at;
  }
  return text.substr(begin, end - begin);
}

std::string upper_text(const std::string& text) {
  return cased(text, [](bool, bool) { return Case::upper; });
}
std::string lower_text(const std::string& text) {
  return cased(text, [](bool, bool) { return Case::lower; });
}
std::string title_text(const std::string& text) {
  return cased(text, [](bool after_letter, bool) { return after_letter ? Case::lower : Case::title; });
}
std::string title_words(const std::string& text) {
  std::string result;
  std::string word;
  const auto finish = [&] {
    const std::size_t first = word.empty() ? 0 : code_point_at(word, 0).bytes;
    result += upper_text(word.substr(0, first)) + lower_text(word.substr(first));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::string character = text.substr(at, point.bytes);
    at += point.bytes;
    if (is_python_space(point.value) || std::string_view("-({[<").find(character) != std::string_view::npos) {
      finish();
      result += character;
    } else {
      word += character;
    }
  }
  finish();
  return result;
}
std::string capitalise_text(const std::string& text) {
  return cased(text, [](bool, bool first) { return first ? Case::title : Case::lower; });
}

TemplateValue split_text(const std::string& text, const std::string& separator, std::int64_t limit,
                         bool from_right) {
  TemplateValue::List parts;
  if (from_right) {
    std::size_t end = text.size();
    for (std::int64_t i = 0; limit < 0 || i < limit; ++i) {
      const std::size_t at =
          end < separator.size() ? std::string::npos : text.rfind(separator, end - separator.size());
      if (at == std::string::npos) break;
      parts.emplace_back(text.substr(at + separator.size(), end - at - separator.size()));
      end = at;
    }
    parts.emplace_back(text.substr(0, end));
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  std::size_t start = 0;
  for (std::int64_t i = 0; limit < 0 || i < limit; ++i) {
    const std::size_t at = text.find(separator, start);
    if (at == std::string::npos) break;
    parts.emplace_back(text.substr(start, at - start));
    start = at + separator.size();
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

TemplateValue split_words(const std::string& text, std::int64_t limit, bool from_right) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!is_python_space(point.value)) {
      if (words.empty() || words.back().second != at) words.emplace_back(at, at);
      words.back().second = at + point.bytes;
    }
    at += point.bytes;
  }
  if (limit >= 0 && words.size() > static_cast<std::size_t>(limit) + 1) {
    const auto kept = static_cast<std::ptrdiff_t>(limit);
    if (from_right) {
      const std::size_t end = words[words.size() - static_cast<std::size_t>(limit) - 1].second;
      words.erase(words.begin(), words.end() - kept);
      words.insert(words.begin(), {0, end});
      words.front().first = text.size() - strip_text(text, std::nullopt, true, false).size();
    } else {
      const std::size_t begin = words[static_cast<std::size_t>(limit)].first;
      words.resize(static_cast<std::size_t>(limit));
      words.emplace_back(begin, strip_text(text, std::nullopt, false, true).size());
    }
  }
  TemplateValue::List parts;
  for (const auto& [begin, end] : words) parts.emplace_back(text.substr(begin, end - begin));
  return parts;
}

TemplateValue split_lines(const std::string& text, bool keep_ends) {
  static constexpr std::u32string_view ends = U"\n\r\v\f\u001C\u001D\u001E\u0085\u2028\u2029";
  TemplateValue::List lines;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const std::size_t end = at;
    at += point.bytes;
    if (ends.find(point.value) == std::u32string_view::npos) continue;
    if (text.compare(end, 2, "\r\n") == 0) ++at;
    lines.emplace_back(text.substr(start, (keep_ends ? at : end) - start));
    start = at;
  }
  if (start < text.size()) lines.emplace_back(text.substr(start));
  return lines;
}

std::string replace_text(const std::string& text, const std::string& from, const std::string& to,
                         std::int64_t count) {
  std::string result;
  std::size_t start = 0;
  if (from.empty()) {  // between all characters
    for (std::size_t at = 0; at <= text.size();) {
      if (count != 0) result += to;
      if (count > 0) --count;
      if (at == text.size()) return result;
      const std::size_t size = code_point_at(text, at).bytes;
      result += text.substr(at, size);
      at += size;
    }
  }
  for (std::size_t at = text.find(from); at != std::string::npos && count != 0;
       at = text.find(from, start), --count) {
    result.append(text, start, at - start).append(to);
    start = at + from.size();
  }
  return result.append(text, start);
}

TemplateValue count_text(const std::string& text, const std::string& part) {
  if (part.empty()) return static_cast<std::int64_t>(to_utf32(text).size() + 1);
  std::int64_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

std::string indent_text(const std::string& text, const std::string& by, bool first, bool blank) {
  std::string result = first ? by : "";
  bool is_first = true;
  const TemplateValue lines = split_lines(text + "\n", false);
  for (const TemplateValue& line : lines.list()) {
    if (!is_first) result += "\n" + (blank || !line.string().empty() ? by : "");
    is_first = false;
    result += line.string();
  }
  return result;
}

}  // namespace luminal::io
