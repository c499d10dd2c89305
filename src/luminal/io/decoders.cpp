#include <algorithm>
#include <utility>

#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

using Tokens = std::vector<std::string>;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The bytes that a byte-level token stands for; a token with any other character is its own text.
std::string bytes_of(const std::string& token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint point = code_point_at(token, at);
    const auto byte = byte_of_character(point.value);
    if (!byte) return token;
    bytes.push_back(static_cast<char>(*byte));
    at += point.bytes;
  }
  return bytes;
}

void clean_up(std::string& text) {
  static constexpr std::pair<std::string_view, std::string_view> rules[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : rules) replace_all(text, from, to);
}

void word_piece(Tokens& tokens, const std::string& prefix, bool cleanup) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      if (tokens[i].starts_with(prefix))
        tokens[i].erase(0, prefix.size());
      else
        tokens[i].insert(0, " ");
    }
    if (cleanup) clean_up(tokens[i]);
  }
}

void metaspace(Tokens& tokens, const std::string& mark, bool prefixed) {
  for (std::size_t i = 0; i < tokens.size(); ++i) replace_all(tokens[i], mark, i == 0 && prefixed ? "" : " ");
}

void word_suffix(Tokens& tokens, const std::string& suffix) {
  for (std::size_t i = 0; i < tokens.size(); ++i)
    replace_all(tokens[i], suffix, i + 1 == tokens.size() ? "" : " ");
}

/// Of speech models: a token that is repeated counts once, and blanks part repetitions.
void connectionist(Tokens& tokens, const std::string& blank, const std::string& delimiter, bool cleanup) {
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  Tokens result;
  for (std::string& token : tokens) {
    replace_all(token, blank, "");
    if (cleanup) {
      clean_up(token);
      replace_all(token, delimiter, " ");
    }
    if (!token.empty()) result.push_back(std::move(token));
  }
  tokens = std::move(result);
}

}  // namespace

DecodeStep decode_byte_level() {
  return [](Tokens& tokens) {
    std::string bytes;
    for (const std::string& token : tokens) bytes += bytes_of(token);
    tokens = {to_valid_utf8(bytes)};
  };
}

DecodeStep decode_byte_fallback() {
  return [](Tokens& tokens) {
    Tokens result;
    std::string bytes;
    const auto flush = [&] {
      if (bytes.empty()) return;
      if (is_utf8(bytes))
        result.push_back(bytes);
      else
        result.insert(result.end(), bytes.size(), "\xEF\xBF\xBD");
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of_token(token)) {
        bytes.push_back(static_cast<char>(*byte));
        continue;
      }
      flush();
      result.push_back(std::move(token));
    }
    flush();
    tokens = std::move(result);
  };
}

DecodeStep decode_replace(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](Tokens& tokens) {
    for (std::string& token : tokens) replace_all(token, from, to);
  };
}

DecodeStep decode_fuse() {
  return [](Tokens& tokens) { tokens = {join(tokens, "")}; };
}

DecodeStep decode_strip(const std::string& character, std::size_t start, std::size_t stop) {
  return [=](Tokens& tokens) {
    if (character.empty()) return;
    for (std::string& token : tokens) {
      for (std::size_t i = 0; i < start && token.starts_with(character); ++i)
        token.erase(0, character.size());
      for (std::size_t i = 0; i < stop && token.ends_with(character); ++i)
        token.erase(token.size() - character.size());
    }
  };
}

void add_decoders(const JsonObject& json, std::vector<DecodeStep>& out) {
  const std::string type = json.text("type");
  const auto count = [&](const char* key) {
    const std::int64_t number = json.integer(key);
    if (number < 0 || number > 1'000'000) json.refuse(cat(luminal::in_quotes(key), " is ", number));
    return static_cast<std::size_t>(number);
  };
  if (type == "Sequence") {
    for (const Json& step : json.array("decoders")) add_decoders({step, json.where()}, out);
  } else if (type == "ByteLevel") {
    out.push_back(decode_byte_level());
  } else if (type == "ByteFallback") {
    out.push_back(decode_byte_fallback());
  } else if (type == "Fuse") {
    out.push_back(decode_fuse());
  } else if (type == "Strip") {
    out.push_back(decode_strip(json.text("content"), count("start"), count("stop")));
  } else if (type == "Replace") {
    out.emplace_back([pattern = pattern_of(json, "pattern"), content = json.text("content")](Tokens& tokens) {
      for (std::string& token : tokens) token = pattern.replace_all(token, content);
    });
  } else if (type == "WordPiece") {
    out.emplace_back(
        [prefix = json.optional_text("prefix").value_or("##"),
         cleanup = json.flag("cleanup", true)](Tokens& tokens) { word_piece(tokens, prefix, cleanup); });
  } else if (type == "Metaspace") {
    const std::string mark = json.optional_text("replacement").value_or("\xE2\x96\x81");
    const bool prefixed = json.optional_text("prepend_scheme")
                              .value_or(json.flag("add_prefix_space", true) ? "always" : "never") != "never";
    out.emplace_back([=](Tokens& tokens) { metaspace(tokens, mark, prefixed); });
  } else if (type == "BPEDecoder") {
    out.emplace_back([suffix = json.optional_text("suffix").value_or("</w>")](Tokens& tokens) {
      word_suffix(tokens, suffix);
    });
  } else if (type == "CTC") {
    out.emplace_back([blank = json.optional_text("pad_token").value_or("<pad>"),
                      delimiter = json.optional_text("word_delimiter_token").value_or("|"),
                      cleanup = json.flag("cleanup", true)](Tokens& tokens) {
      connectionist(tokens, blank, delimiter, cleanup);
    });
  } else {
    json.refuse(cat("the decoder ", luminal::in_quotes(type), " is not supported"));
  }
}

}  // namespace luminal::io
