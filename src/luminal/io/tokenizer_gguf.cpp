#include <array>
#include <limits>

#include "luminal/io/bpe.h"
#include "luminal/io/gguf.h"
#include "luminal/io/tokenizer_parts.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

constexpr const char* space_mark = "\xE2\x96\x81";  // ▁

enum class TokenType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte };

#define LUMINAL_CONTRACTIONS "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define LUMINAL_LINE_ENDS "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
constexpr const char* contractions_words =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)";
constexpr const char* three_digits = LUMINAL_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" LUMINAL_LINE_ENDS;
constexpr const char* one_digit = LUMINAL_CONTRACTIONS
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" LUMINAL_LINE_ENDS;
#define LUMINAL_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LUMINAL_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define LUMINAL_EDGE "[^\\r\\n\\p{L}\\p{N}]?"

/// Three digits at a time, counted from the end.
constexpr const char* thousands = "\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))";
/// Letters of scripts with cases.
constexpr const char* cased_words =
    "\\s?[A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}\\x{"
    "295}-"
    "\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}\\x{38C}\\x{"
    "38E}-"
    "\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}\\x{10A0}-\\x{10C5}\\x{13A0}"
    "-"
    "\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}"
    "\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}"
    "-"
    "\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}"
    "\\x{1FC2}-"
    "\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}"
    "\\x{1FF6}-"
    "\\x{1FFC}\\x{2102}\\x{2107}\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}"
    "\\x{212A}-"
    "\\x{212D}\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}"
    "\\x{2C00}-"
    "\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}\\x{A680}-\\x{A69B}"
    "\\x{A722}-"
    "\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}"
    "\\x{FF21}-"
    "\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-"
    "\\x{10CB2}"
    "\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}\\x{1E900}-\\x{1E943}]+";
#define LUMINAL_NOT_HAN(set) "(?:(?!\\p{Han})" set ")"
#define LUMINAL_SYMBOLS_WORDS                                                                           \
  "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| " \
  "?[\\p{P}\\p{S}]+[\\r\\n]*|" LUMINAL_LINE_ENDS
constexpr const char* bailing = "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|" LUMINAL_EDGE
                                "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|"
                                "\\s+(?!\\S)|\\s+";
constexpr const char* four_o = LUMINAL_EDGE LUMINAL_UPPER
    "*" LUMINAL_LOWER "+" LUMINAL_CONTRACTIONS "?|" LUMINAL_EDGE LUMINAL_UPPER "+" LUMINAL_LOWER
    "*" LUMINAL_CONTRACTIONS "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" LUMINAL_LINE_ENDS;
constexpr const char* kanji_kana = "[\\x{4e00}-\\x{9fa5}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}]+";

/// The splits of a GGUF file's "tokenizer.ggml.pre", applied one after the other.
struct PreSplit {
  std::string_view name;
  std::array<const char*, 6> patterns;
  bool ignore_merges = false;
  bool begins = false;  // with the begin token, if the file does not say
};

// clang-format off: one line a name
constexpr PreSplit pre_splits[] = {
    {"default", {"[\\p{P}\\$\\+<=>\\^~\\|]+", contractions_words, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {"gpt-2", {contractions_words}}, {"gpt2", {contractions_words}}, {"mpt", {contractions_words}},
    {"olmo", {contractions_words}}, {"jais", {contractions_words}}, {"phi-2", {contractions_words}},
    {"roberta-bpe", {contractions_words}}, {"gigachat", {contractions_words}}, {"jina-es", {contractions_words}},
    {"jina-de", {contractions_words}}, {"jina-v1-en", {contractions_words}}, {"jina-v2-es", {contractions_words}},
    {"jina-v2-de", {contractions_words}}, {"a.x-4.0", {contractions_words}}, {"mellum", {contractions_words}},
    {"trillion", {contractions_words}}, {"granite-docling", {contractions_words}},
    {"modern-bert", {contractions_words}}, {"jina-v2-code", {contractions_words}}, {"exaone4", {contractions_words}},
    {"llama3", {three_digits}, true, true}, {"llama-v3", {three_digits}, true, true}, {"llama-bpe", {three_digits}, true, true},
    {"falcon3", {three_digits}, true, true}, {"dbrx", {three_digits}}, {"smaug-bpe", {three_digits}},
    {"chatglm-bpe", {three_digits}}, {"glm4", {three_digits}}, {"pixtral", {three_digits}, true, true},
    {"falcon-h1", {three_digits}, true, true}, {"midm-2.0", {three_digits}, true, true}, {"lfm2", {three_digits}, true, true},
    {"jina-v5-nano", {three_digits}, true, true},
    {"qwen2", {one_digit}}, {"stablelm2", {one_digit}}, {"hunyuan", {one_digit}}, {"megrez", {one_digit}},
    {"deepseek-r1-qwen", {one_digit}}, {"kormo", {one_digit}}, {"f2llmv2", {one_digit}}, {"solar-open", {one_digit}}, {"grok-2", {one_digit}},
    {"starcoder", {"\\p{N}", contractions_words}}, {"refact", {"\\p{N}", contractions_words}},
    {"command-r", {"\\p{N}", contractions_words}}, {"smollm", {"\\p{N}", contractions_words}},
    {"codeshell", {"\\p{N}", contractions_words}}, {"exaone", {"\\p{N}", contractions_words}},
    {"minerva-7b", {"\\p{N}", contractions_words}},
    {"falcon", {"[\\p{P}\\$\\+<=>\\^~\\|`]+", contractions_words, "[0-9][0-9][0-9]"}},
    {"deepseek-coder", {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+", "\\p{N}"}},
    {"deepseek-v3", {"\\p{N}{1,3}", kanji_kana, LUMINAL_SYMBOLS_WORDS}},
    {"joyai-llm", {"\\p{N}{1,3}", kanji_kana, LUMINAL_SYMBOLS_WORDS}},
    {"hunyuan-dense", {"\\p{N}{1,3}", kanji_kana, LUMINAL_SYMBOLS_WORDS}},
    {"deepseek-llm", {"[\\r\\n]", cased_words, "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+",
      "\\s+$", "[\\x{4e00}-\\x{9fa5}\\x{800}-\\x{4e00}\\x{ac00}-\\x{d7ff}]+", "\\p{N}+"}},
    {"afmoe", {thousands, "[\\x{4e00}-\\x{9fff}\\x{3400}-\\x{4dbf}\\x{f900}-\\x{faff}\\x{3040}-\\x{309f}\\x{30a0}-\\x{30ff}\\x{ff65}-\\x{ff9f}"
      "\\x{2f00}-\\x{2fdf}\\x{e40}-\\x{e7f}\\x{e80}-\\x{eff}\\x{1780}-\\x{17ff}\\x{1000}-\\x{109f}\\x{aa60}-\\x{aa7f}\\x{a9e0}-\\x{a9ff}"
      "\\x{ac00}-\\x{d7af}\\x{1100}-\\x{11ff}]+", LUMINAL_SYMBOLS_WORDS}},
    {"superbpe", {"\\p{N}+", "(?=(\\d{3})+(?!\\d))"}},
    {"kimi-k2", {"\\p{Han}+|" LUMINAL_EDGE LUMINAL_NOT_HAN(LUMINAL_UPPER) "*" LUMINAL_NOT_HAN(LUMINAL_LOWER) "+" LUMINAL_CONTRACTIONS "?|"
      LUMINAL_EDGE LUMINAL_NOT_HAN(LUMINAL_UPPER) "+" LUMINAL_NOT_HAN(LUMINAL_LOWER) "*" LUMINAL_CONTRACTIONS
      "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" LUMINAL_LINE_ENDS}},
    {"bailingmoe", {bailing}}, {"bailingmoe2", {bailing}}, {"llada-moe", {bailing}},
    {"chameleon", {"<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", "([\\t\\n]|    |  )", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", contractions_words}, false, true},
    {"bloom", {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+"}},
    {"poro-chat", {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+"}},
    {"gpt3-finnish", {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+"}},
    {"viking", {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{ff0c}\\x{3001}\\x{964}\\x{6d4}\\x{60c})]+", "\\p{N}"}},
    {"tekken", {LUMINAL_EDGE LUMINAL_UPPER "*" LUMINAL_LOWER "+|" LUMINAL_EDGE LUMINAL_UPPER "+" LUMINAL_LOWER
      "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" LUMINAL_LINE_ENDS}, true, true},
    {"gpt-4o", {four_o}}, {"llama4", {four_o}}, {"minimax-m2", {four_o}}, {"kanana2", {four_o}}, {"talkie", {four_o}},
    {"qwen35", {LUMINAL_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" LUMINAL_LINE_ENDS}},
    {"seed-coder", {LUMINAL_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" LUMINAL_LINE_ENDS}},
};
// clang-format on

struct GgufVocabulary {
  std::vector<std::string_view> tokens;
  std::vector<std::int64_t> types;
  std::vector<double> scores;
};

GgufVocabulary read_vocabulary(const Gguf& gguf) {
  const GgufArray* tokens = gguf.array("tokenizer.ggml.tokens", GgufType::text);
  if (tokens == nullptr || tokens->count == 0)
    throw Error(cat(gguf.file, ": tokenizer.ggml.tokens is missing or empty"));
  GgufVocabulary result{tokens->texts(), {}, {}};
  if (const auto* types = gguf.array("tokenizer.ggml.token_type", GgufType::i32); types != nullptr)
    result.types = types->integers();
  if (const auto* scores = gguf.array("tokenizer.ggml.scores", GgufType::f32); scores != nullptr)
    result.scores = scores->reals();
  const auto check = [&](const char* key, std::size_t count) {
    if (count != 0 && count != result.tokens.size())
      throw Error(
          cat(gguf.file, ": ", key, " has ", count, " entries for ", result.tokens.size(), " tokens"));
  };
  check("tokenizer.ggml.token_type", result.types.size());
  check("tokenizer.ggml.scores", result.scores.size());
  result.types.resize(result.tokens.size(), static_cast<std::int64_t>(TokenType::normal));
  for (std::size_t id = 0; id < result.types.size(); ++id)
    if (result.types[id] < 0 || result.types[id] > 6)
      throw Error(cat(gguf.file, ": token ", id, " has the type ", result.types[id], ": expected 0 to 6"));
  return result;
}

std::optional<TokenId> id_of(const Gguf& gguf, const char* key, std::size_t count) {
  const auto id = gguf.integer(key);
  if (!id) return std::nullopt;
  if (*id == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;  // "none", as −1 in 32 bits
  if (*id < 0 || static_cast<std::size_t>(*id) >= count)
    throw Error(cat(gguf.file, ": ", key, " is ", *id, ": expected 0 to ", count - 1));
  return static_cast<TokenId>(*id);
}

void fill(const Gguf& gguf, const GgufVocabulary& source, TokenizerParts& parts) {
  parts.vocabulary->reserve(source.tokens.size());
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const auto type = static_cast<TokenType>(source.types[i]);
    // A text may stand twice (padding); the first keeps it.
    if (!parts.vocabulary->add(std::string(source.tokens[i]), id))
      parts.vocabulary->add(cat("[duplicate ", i, "]"), id);
    const bool special = type == TokenType::control || type == TokenType::unknown;
    if (special || type == TokenType::user_defined)
      parts.added.add({std::string(source.tokens[i]), id, special, false, false, false, false});
    if (type == TokenType::byte && !byte_of_token(source.tokens[i]))
      throw Error(cat(gguf.file, ": token ", i, " is ", luminal::in_quotes(source.tokens[i]),
                      ", which is not a byte: expected <0x00> to <0xFF>"));
  }
}

struct Surrounding {
  std::optional<TokenId> id;
  bool wanted;  // if the file does not say
};
void surround_text(const Gguf& gguf, TokenizerParts& parts, const Surrounding& begin,
                   const Surrounding& end) {
  std::vector<TokenId> before, after;
  if (gguf.boolean("tokenizer.ggml.add_bos_token").value_or(begin.wanted) && begin.id)
    before.push_back(*begin.id);
  if (gguf.boolean("tokenizer.ggml.add_eos_token").value_or(end.wanted) && end.id) after.push_back(*end.id);
  parts.post_processors.push_back(surround(std::move(before), std::move(after)));
}

void add_surroundings(const Gguf& gguf, TokenizerParts& parts, std::size_t count, bool begin, bool end) {
  const auto bos = id_of(gguf, "tokenizer.ggml.bos_token_id", count);
  const auto eos = id_of(gguf, "tokenizer.ggml.eos_token_id", count);
  surround_text(gguf, parts, {bos, begin}, {eos, end});
}

void make_llama(const Gguf& gguf, const GgufVocabulary& source, TokenizerParts& parts) {
  if (source.scores.empty())
    throw Error(cat(gguf.file, ": tokenizer.ggml.scores is missing, which a llama vocabulary needs"));
  ConcatenationOptions options;
  options.unknown = id_of(gguf, "tokenizer.ggml.unknown_token_id", source.tokens.size());
  options.byte_tokens.resize(256);
  for (unsigned byte = 0; byte < 256; ++byte)
    options.byte_tokens[byte] = parts.vocabulary->find(token_of_byte(static_cast<std::uint8_t>(byte)));
  std::vector<float> priority;
  for (const double score : source.scores) priority.push_back(static_cast<float>(-score));
  const bool prefix = gguf.boolean("tokenizer.ggml.add_space_prefix").value_or(true);
  if (prefix) parts.normalisers.push_back(prepend_text(" "));
  parts.normalisers.emplace_back([](const std::string& text) {
    std::string result;
    for (const char c : text) c == ' ' ? result += space_mark : result += c;
    return result;
  });
  parts.model = make_concatenation_bpe(parts.vocabulary, std::move(priority), options);
  parts.decoders = {decode_replace(space_mark, " "), decode_byte_fallback(), decode_fuse()};
  if (prefix) parts.decoders.push_back(decode_strip(" ", 1, 0));
  add_surroundings(gguf, parts, source.tokens.size(), true, false);
}

const PreSplit& pre_split_of(const Gguf& gguf) {
  const std::string_view wanted = gguf.text("tokenizer.ggml.pre").value_or("default");
  for (const PreSplit& split : pre_splits)
    if (split.name == wanted) return split;
  throw Error(cat(gguf.file, ": the pre-tokenizer ", luminal::in_quotes(wanted),
                  " (tokenizer.ggml.pre) is not supported"));
}

void make_gpt2(const Gguf& gguf, const GgufVocabulary& source, TokenizerParts& parts) {
  const GgufArray* list = gguf.array("tokenizer.ggml.merges", GgufType::text);
  if (list == nullptr)
    throw Error(cat(gguf.file, ": tokenizer.ggml.merges is missing, which a gpt2 vocabulary needs"));
  std::vector<std::pair<std::string, std::string>> merges;
  for (const std::string_view merge : list->texts()) {
    const std::size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 >= merge.size())
      throw Error(cat(gguf.file, ": the merge ", luminal::in_quotes(merge),
                      " is not two tokens with a space between them"));
    std::pair<std::string, std::string> pair(merge.substr(0, space), merge.substr(space + 1));
    // A merge that leads to no token never shows in a result.
    if (parts.vocabulary->find(pair.first) && parts.vocabulary->find(pair.second) &&
        parts.vocabulary->find(pair.first + pair.second))
      merges.push_back(std::move(pair));
  }
  const PreSplit& split = pre_split_of(gguf);
  for (const char* pattern : split.patterns)
    if (pattern != nullptr) parts.pre_tokenizers.push_back(split_by(pattern));
  parts.pre_tokenizers.push_back(byte_level(false, false));
  BpeOptions options;
  options.ignore_merges = split.ignore_merges;
  parts.model = make_bpe(parts.vocabulary, merges, options, gguf.file);
  parts.decoders = {decode_byte_level()};
  add_surroundings(gguf, parts, source.tokens.size(), split.begins, false);
}

void make_bert(const Gguf& gguf, const GgufVocabulary& source, TokenizerParts& parts) {
  const std::size_t count = source.tokens.size();
  parts.normalisers.push_back(bert_normaliser(true, true, true, true));
  parts.pre_tokenizers.push_back(bert_words());
  const auto unknown = id_of(gguf, "tokenizer.ggml.unknown_token_id", count);
  parts.model = make_word_piece(parts.vocabulary, {unknown ? unknown : parts.vocabulary->find("[UNK]"),
                                                   space_mark, "", std::numeric_limits<std::size_t>::max()});
  parts.decoders = {decode_replace(space_mark, " "), decode_fuse(), decode_strip(" ", 1, 0)};
  auto begin = id_of(gguf, "tokenizer.ggml.cls_token_id", count);
  if (!begin) begin = id_of(gguf, "tokenizer.ggml.bos_token_id", count);
  auto end = id_of(gguf, "tokenizer.ggml.seperator_token_id", count);  // spelled so in the format
  if (!end) end = id_of(gguf, "tokenizer.ggml.eos_token_id", count);
  surround_text(gguf, parts, {begin, true}, {end, true});
}

}  // namespace

Tokenizer read_gguf_tokenizer(const Gguf& gguf) {
  const auto model = gguf.text("tokenizer.ggml.model");
  if (!model) throw Error(cat(gguf.file, ": it holds no tokenizer: tokenizer.ggml.model is missing"));
  const GgufVocabulary source = read_vocabulary(gguf);
  const auto parts = std::make_shared<TokenizerParts>();
  fill(gguf, source, *parts);
  if (*model == "llama")
    make_llama(gguf, source, *parts);
  else if (*model == "gpt2")
    make_gpt2(gguf, source, *parts);
  else if (*model == "bert")
    make_bert(gguf, source, *parts);
  else
    throw Error(cat(gguf.file, ": the tokenizer model ", luminal::in_quotes(*model),
                    " is not supported: expected llama, gpt2 or bert"));
  return Tokenizer(parts);
}

}  // namespace luminal::io
