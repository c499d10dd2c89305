#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::io {

using TokenId = std::int32_t;

struct TokenizerParts;

/// Text to token ids and back. Immutable and cheap to copy; safe to use from several threads at once.
class Tokenizer {
 public:
  explicit Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}

  /// The ids of a text. Special tokens that stand in the text are recognised; with `add_special` those that
  /// the model wants around a text (begin, end, class …) are added. Bytes that are not UTF-8 count as U+FFFD.
  std::vector<TokenId> encode(std::string_view text, bool add_special = false) const;
  /// The text of ids; ids that do not exist are left out, and so are special tokens unless `keep_special`.
  std::string decode(std::span<const TokenId> ids, bool keep_special = false) const;

  std::size_t size() const;
  std::optional<TokenId> find(std::string_view token) const;
  std::optional<std::string> token(TokenId id) const;

 private:
  friend class StreamDecoder;
  /// Whether `decode` leaves the id out.
  bool is_left_out(TokenId id, bool keep_special) const;

  std::shared_ptr<const TokenizerParts> parts_;
};

/// Opens a tokenizer by what it is: `tokenizer.json`, a GGUF file, a SentencePiece `.model`, a `.tiktoken`
/// rank file, or a folder with one of them. `Error` names the file, what is wrong and what was expected.
Tokenizer open_tokenizer(const std::string& path);

/// The parsers behind it; `file` names the source in errors.
Tokenizer read_tokenizer_json(std::string_view text, const std::string& file);
struct Gguf;
Tokenizer read_gguf_tokenizer(const Gguf& gguf);
/// `pattern` splits the text before ranks apply; the file does not hold it.
Tokenizer read_tiktoken(std::string_view text, const std::string& file, const std::string& pattern);
Tokenizer read_sentencepiece(std::string_view model, const std::string& file);

/// Decodes ids as they come, and never breaks a character: bytes of an incomplete one wait for the rest. What
/// is given out is, in the end, what `Tokenizer::decode` makes of all ids.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, bool keep_special = false)
      : tokenizer_(std::move(tokenizer)), keep_special_(keep_special) {}
  /// The text that this id completes; may be empty.
  std::string push(TokenId id);
  /// What is left at the end, with U+FFFD for characters that never became whole.
  std::string finish();

 private:
  Tokenizer tokenizer_;
  bool keep_special_;
  std::vector<TokenId> ids_;  // since a place where text and tokens end together
  std::size_t settled_ = 0;   // of them, those whose text was given out
  std::string given_;         // the text of the settled ones
};

}  // namespace luminal::io
