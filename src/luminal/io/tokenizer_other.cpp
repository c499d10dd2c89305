#include <algorithm>
#include <charconv>

#include "luminal/io/bpe.h"
#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/utf8.h"

#ifdef LUMINAL_HAS_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

namespace luminal::io {
namespace {

constexpr std::int64_t most_ranks = 1 << 24;

}  // namespace

Tokenizer read_tiktoken(std::string_view text, const std::string& file, const std::string& pattern) {
  const auto parts = std::make_shared<TokenizerParts>();
  std::size_t number = 0;
  TokenId highest = -1;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::string where = cat(file, ": line ", ++number);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos)
      throw Error(cat(where, ": expected a token in base64, a space and its rank"));
    const std::string_view digits = line.substr(space + 1);
    std::int64_t rank = -1;
    const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    if (failure != std::errc() || rest != digits.data() + digits.size() || rank < 0 || rank >= most_ranks)
      throw Error(
          cat(where, ": the rank ", luminal::in_quotes(digits), " is not a whole number from 0 to 2^24 - 1"));
    std::string token = decode_base64(line.substr(0, space), where);
    if (token.empty()) throw Error(cat(where, ": the token is empty"));
    if (!parts->vocabulary->add(std::move(token), static_cast<TokenId>(rank)))
      throw Error(cat(where, ": the token or its rank stands twice"));
    highest = std::max(highest, static_cast<TokenId>(rank));
  }
  if (highest < 0) throw Error(cat(file, ": it holds no token"));
  if (static_cast<std::size_t>(highest) > 8 * parts->vocabulary->size() + 1024)
    throw Error(
        cat(file, ": the rank ", highest, " is far beyond its ", parts->vocabulary->size(), " tokens"));
  std::vector<float> priority(static_cast<std::size_t>(highest) + 1);
  for (std::size_t i = 0; i < priority.size(); ++i) priority[i] = static_cast<float>(i);
  ConcatenationOptions options;
  options.from_bytes = true;
  parts->pre_tokenizers.push_back(split_by(pattern));
  parts->model = make_concatenation_bpe(parts->vocabulary, std::move(priority), options);
  parts->decoders = {[](std::vector<std::string>& tokens) { tokens = {to_valid_utf8(join(tokens, ""))}; }};
  return Tokenizer(parts);
}

#ifdef LUMINAL_HAS_SENTENCEPIECE

namespace {

/// The library throws what it was not written to expect.
template <typename Run>
auto by_library(const std::string& file, const Run& run) {
  try {
    return run();
  } catch (const std::exception& failure) {
    throw Error(cat(file, ": libsentencepiece fails on this model: ", failure.what()));
  }
}

}  // namespace

Tokenizer read_sentencepiece(std::string_view model, const std::string& file) {
  require_sentencepiece(model, file);
  const auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  const auto status =
      by_library(file, [&] { return processor->LoadFromSerializedProto({model.data(), model.size()}); });
  if (!status.ok()) throw Error(cat(file, ": it is not a SentencePiece model: ", status.message()));
  const auto parts = std::make_shared<TokenizerParts>();
  for (int id = 0; id < processor->GetPieceSize(); ++id)
    if (!parts->vocabulary->add(processor->IdToPiece(id), id))
      throw Error(cat(file, ": piece ", id, " stands twice"));
  parts->encode_whole = [processor, file](std::string_view text, bool add_special) {
    std::vector<int> ids;
    const auto encoded =
        by_library(file, [&] { return processor->Encode({text.data(), text.size()}, &ids); });
    if (!encoded.ok()) throw Error(cat(file, ": the text cannot be encoded: ", encoded.message()));
    std::vector<TokenId> result(ids.begin(), ids.end());
    if (add_special && processor->bos_id() >= 0) result.insert(result.begin(), processor->bos_id());
    return result;
  };
  parts->decode_whole = [processor, file](const std::vector<TokenId>& ids, bool keep_special) {
    std::vector<int> known;
    for (const TokenId id : ids)
      if (id >= 0 && id < processor->GetPieceSize() && (keep_special || !processor->IsControl(id)))
        known.push_back(id);
    std::string text;
    const auto decoded = by_library(file, [&] { return processor->Decode(known, &text); });
    if (!decoded.ok()) throw Error(cat(file, ": the ids cannot be decoded: ", decoded.message()));
    return text;
  };
  return Tokenizer(parts);
}

#else

Tokenizer read_sentencepiece(std::string_view, const std::string& file) {
  throw Error(
      cat(file,
          ": this build has no libsentencepiece, which .model files need: install libsentencepiece-dev and "
          "build again"));
}

#endif

}  // namespace luminal::io
