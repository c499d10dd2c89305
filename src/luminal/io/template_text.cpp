#include "luminal/io/template_text.h"

#include <algorithm>

#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

/// Every character in upper case where `rule(the one before is a letter, it is the first)`, else in lower
/// case.
template <typename Rule>
std::string cased(const std::string& text, const Rule& rule) {
  std::string result;
  bool after_letter = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const char32_t c = point.value;
    if (c < 0x80) {
      const bool is_upper = c >= 'A' && c <= 'Z', is_lower = c >= 'a' && c <= 'z';
      const bool upper = rule(after_letter, result.empty());
      result.push_back(static_cast<char>(is_lower && upper ? c - 32 : is_upper && !upper ? c + 32 : c));
      after_letter = is_upper || is_lower;
    } else {
      if (rule(after_letter, result.empty()))
        append_upper(result, c);
      else
        append_lower(result, c);
      after_letter = is_word(c);
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
  return cased(text, [](bool, bool) { return true; });
}
std::string lower_text(const std::string& text) {
  return cased(text, [](bool, bool) { return false; });
}
std::string title_text(const std::string& text) {
  return cased(text, [](bool after_letter, bool) { return !after_letter; });
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
  return cased(text, [](bool, bool first) { return first; });
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

TemplateValue split_lines(const std::string& text) {
  TemplateValue::List lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\r\v\f", start), text.size());
    lines.emplace_back(text.substr(start, end - start));
    start = end + (text.compare(end, 2, "\r\n") == 0 ? 2 : 1);
  }
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
  std::string result;
  std::size_t start = 0;
  for (bool is_first = true;; is_first = false) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    if ((!is_first || first) && (blank || !line.empty())) result += by;
    result += line;
    if (end == text.size()) return result;
    result += '\n';
    start = end + 1;
  }
}

}  // namespace luminal::io
