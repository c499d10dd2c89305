#include <algorithm>

#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/unicode.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

MatchFinder matches_of(Pattern pattern) {
  return [pattern = std::move(pattern)](std::string_view text,
                                        const std::function<void(std::size_t, std::size_t)>& on_match) {
    pattern.each_match(text, on_match);
  };
}

PreTokenizer cutter(MatchFinder matches, SplitBehaviour behaviour, bool invert = false) {
  return [matches = std::move(matches), behaviour, invert](Pieces& pieces) {
    split_pieces(pieces, matches, behaviour, invert);
  };
}

/// Rewrites every piece; `rewrite(out, piece, first)` appends the new text.
template <typename Rewrite>
void rewrite_pieces(Pieces& pieces, const Rewrite& rewrite) {
  std::string text;
  text.reserve(pieces.text.size() * 3 / 2);
  for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
    const std::size_t begin = text.size();
    rewrite(text, pieces.view(pieces.spans[i]), pieces.at_start && i == 0 && pieces.spans[i].begin == 0);
    pieces.spans[i] = {begin, text.size()};
  }
  pieces.text = std::move(text);
}

bool is_bert_punctuation(char32_t c) {
  const bool ascii =
      (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126);
  return ascii || is_punctuation(c);
}

SplitBehaviour behaviour_of(const JsonObject& json, const char* otherwise) {
  const std::string name = json.optional_text("behavior").value_or(otherwise);
  if (name == "Removed") return SplitBehaviour::removed;
  if (name == "Isolated") return SplitBehaviour::isolated;
  if (name == "MergedWithPrevious") return SplitBehaviour::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehaviour::merged_with_next;
  if (name == "Contiguous") return SplitBehaviour::contiguous;
  json.refuse(cat("the behavior ", luminal::in_quotes(name), " is unknown"));
}

/// Runs of so many characters; the last may be shorter.
MatchFinder runs_of(std::size_t length) {
  return [length](std::string_view text, const std::function<void(std::size_t, std::size_t)>& on_match) {
    std::size_t begin = 0;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < text.size();) {
      at += code_point_at(text, at).bytes;
      if (++characters % length != 0 && at < text.size()) continue;
      on_match(begin, at);
      begin = at;
    }
  };
}

PreTokenizer metaspace(const JsonObject& json) {
  const std::string mark = json.optional_text("replacement").value_or("\xE2\x96\x81");
  std::string scheme = json.flag("add_prefix_space", true) ? "always" : "never";
  scheme = json.optional_text("prepend_scheme").value_or(scheme);
  if (scheme != "always" && scheme != "never" && scheme != "first")
    json.refuse(cat("the prepend_scheme ", luminal::in_quotes(scheme), " is unknown"));
  const bool split = json.flag("split", true);
  const MatchFinder marks = matches_of(Pattern::literal(mark));
  return [=](Pieces& pieces) {
    rewrite_pieces(pieces, [&](std::string& out, std::string_view piece, bool first) {
      const bool wanted = scheme == "always" || (scheme == "first" && first);
      if (wanted && !piece.starts_with(' ') && !piece.starts_with(mark)) out += mark;
      for (const char c : piece) {
        if (c == ' ')
          out += mark;
        else
          out += c;
      }
    });
    if (split) split_pieces(pieces, marks, SplitBehaviour::merged_with_next);
  };
}

}  // namespace

PreTokenizer split_by(const std::string& pattern) {
  return cutter(matches_of(Pattern(pattern)), SplitBehaviour::isolated);
}

PreTokenizer byte_level(bool add_prefix_space, bool split) {
  const auto words = split ? split_by(gpt2_pattern) : PreTokenizer();
  return [=](Pieces& pieces) {
    if (add_prefix_space)
      rewrite_pieces(pieces, [](std::string& out, std::string_view piece, bool) {
        if (!piece.starts_with(' ')) out += ' ';
        out += piece;
      });
    if (words) words(pieces);
    rewrite_pieces(pieces, [](std::string& out, std::string_view piece, bool) {
      for (const char c : piece) out += byte_character(static_cast<std::uint8_t>(c));
    });
  };
}

PreTokenizer bert_words() {
  return [](Pieces& pieces) {
    split_pieces(pieces, each_character(is_space), SplitBehaviour::removed);
    split_pieces(pieces, each_character(is_bert_punctuation), SplitBehaviour::isolated);
  };
}

void add_pre_tokenizers(const JsonObject& json, std::vector<PreTokenizer>& out) {
  const std::string type = json.text("type");
  if (type == "Sequence") {
    for (const Json& step : json.array("pretokenizers")) add_pre_tokenizers({step, json.where()}, out);
  } else if (type == "ByteLevel") {
    out.push_back(byte_level(json.flag("add_prefix_space", true), json.flag("use_regex", true)));
  } else if (type == "Metaspace") {
    out.push_back(metaspace(json));
  } else if (type == "BertPreTokenizer") {
    out.push_back(bert_words());
  } else if (type == "Whitespace") {
    out.push_back(
        cutter(matches_of(Pattern(R"(\w+|[^\w\s]+)", PatternDialect::rust)), SplitBehaviour::removed, true));
  } else if (type == "WhitespaceSplit") {
    out.push_back(cutter(each_character(is_space), SplitBehaviour::removed));
  } else if (type == "Punctuation") {
    out.push_back(cutter(each_character(is_bert_punctuation), behaviour_of(json, "Isolated")));
  } else if (type == "Digits") {
    out.push_back(cutter(each_character(is_number), json.flag("individual_digits", false)
                                                        ? SplitBehaviour::isolated
                                                        : SplitBehaviour::contiguous));
  } else if (type == "Split") {
    out.push_back(cutter(matches_of(pattern_of(json, "pattern")), behaviour_of(json, "Isolated"),
                         json.flag("invert", false)));
  } else if (type == "CharDelimiterSplit") {
    out.push_back(cutter(matches_of(Pattern::literal(json.text("delimiter"))), SplitBehaviour::removed));
  } else if (type == "FixedLength") {
    const std::int64_t length = json.find("length") == nullptr ? 5 : json.integer("length");
    if (length < 1) json.refuse(cat("\"length\" is ", length, ": expected 1 or more"));
    out.push_back(cutter(runs_of(static_cast<std::size_t>(length)), SplitBehaviour::isolated));
  } else {
    json.refuse(cat("the pre-tokenizer ", luminal::in_quotes(type), " is not supported"));
  }
}

}  // namespace luminal::io
