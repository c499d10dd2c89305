#include <algorithm>

#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

/// Rewrites a text character by character.
template <typename Rewrite>
std::string by_character(const std::string& text, const Rewrite& rewrite) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    rewrite(result, point.value);
    at += point.bytes;
  }
  return result;
}

std::string lowered(const std::string& text) {
  return by_character(text, [](std::string& out, char32_t c) { append_lower(out, c); });
}

std::string stripped(const std::string& text, bool left, bool right) {
  std::size_t begin = 0;
  while (left && begin < text.size()) {
    const CodePoint point = code_point_at(text, begin);
    if (!is_space(point.value)) break;
    begin += point.bytes;
  }
  std::size_t end = begin;
  for (std::size_t at = begin; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.bytes;
    if (!right || !is_space(point.value)) end = at;
  }
  return text.substr(begin, end - begin);
}

bool is_cjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// The clean-up of NMT models: some controls vanish, some characters become spaces.
void nmt(std::string& out, char32_t c) {
  const bool gone =
      (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                     (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                     c == 0xFEFF || c == 0xFFFD;
  if (!gone) append_utf8(out, space ? U' ' : c);
}

Normaliser form_of(NormalForm form) {
  return [form](const std::string& text) { return normalised(text, form); };
}

std::string byte_characters_of(const std::string& text) {
  std::string result;
  for (const char c : text) result += byte_character(static_cast<std::uint8_t>(c));
  return result;
}

}  // namespace

Normaliser prepend_text(std::string prefix) {
  return
      [prefix = std::move(prefix)](const std::string& text) { return text.empty() ? text : prefix + text; };
}

Normaliser bert_normaliser(bool clean, bool chinese, bool strip_accents, bool lower) {
  return [=](std::string text) {
    if (clean)
      text = by_character(text, [](std::string& out, char32_t c) {
        const bool line = c == '\t' || c == '\n' || c == '\r';
        if (c == 0 || c == 0xFFFD || (!line && is_other(c))) return;
        append_utf8(out, line || is_space(c) ? U' ' : c);
      });
    if (chinese)
      text = by_character(text, [](std::string& out, char32_t c) {
        if (is_cjk(c)) out += ' ';
        append_utf8(out, c);
        if (is_cjk(c)) out += ' ';
      });
    if (strip_accents)
      text = by_character(normalised(text, NormalForm::nfd), [](std::string& out, char32_t c) {
        if (!is_nonspacing_mark(c)) append_utf8(out, c);
      });
    return lower ? lowered(text) : text;
  };
}

Pattern pattern_of(const JsonObject& json, const char* key) {
  const JsonObject pattern = json.object(key);
  if (const auto text = pattern.optional_text("String")) return Pattern::literal(*text);
  if (const auto expression = pattern.optional_text("Regex")) {
    try {
      return Pattern(*expression);
    } catch (const Error& error) {
      pattern.refuse(error.problem());
    }
  }
  pattern.refuse("expected {\"String\": …} or {\"Regex\": …}");
}

void add_normalisers(const JsonObject& json, std::vector<Normaliser>& out) {
  const std::string type = json.text("type");
  if (type == "Sequence") {
    for (const Json& step : json.array("normalizers")) add_normalisers({step, json.where()}, out);
  } else if (type == "NFC") {
    out.push_back(form_of(NormalForm::nfc));
  } else if (type == "NFD") {
    out.push_back(form_of(NormalForm::nfd));
  } else if (type == "NFKC") {
    out.push_back(form_of(NormalForm::nfkc));
  } else if (type == "NFKD") {
    out.push_back(form_of(NormalForm::nfkd));
  } else if (type == "Lowercase") {
    out.emplace_back(lowered);
  } else if (type == "Strip") {
    const bool left = json.flag("strip_left", true), right = json.flag("strip_right", true);
    out.emplace_back([=](const std::string& text) { return stripped(text, left, right); });
  } else if (type == "StripAccents") {
    out.emplace_back([](const std::string& text) {
      return by_character(text, [](std::string& to, char32_t c) {
        if (!is_mark(c)) append_utf8(to, c);
      });
    });
  } else if (type == "Nmt") {
    out.emplace_back([](const std::string& text) { return by_character(text, nmt); });
  } else if (type == "Prepend") {
    out.push_back(prepend_text(json.text("prepend")));
  } else if (type == "Replace") {
    out.emplace_back([pattern = pattern_of(json, "pattern"), content = json.text("content")](
                         const std::string& text) { return pattern.replace_all(text, content); });
  } else if (type == "BertNormalizer") {
    const bool lower = json.flag("lowercase", true);
    out.push_back(bert_normaliser(json.flag("clean_text", true), json.flag("handle_chinese_chars", true),
                                  json.flag("strip_accents", lower), lower));
  } else if (type == "ByteLevel") {
    out.emplace_back(byte_characters_of);
  } else if (type == "Precompiled") {
    out.push_back(precompiled_normaliser(json.text("precompiled_charsmap"), json.where()));
  } else {
    json.refuse(cat("the normalizer ", luminal::in_quotes(type), " is not supported"));
  }
}

}  // namespace luminal::io
