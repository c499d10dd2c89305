#pragma once
#include <vector>

#include "luminal/io/json_object.h"
#include "luminal/io/pattern.h"
#include "luminal/io/tokenizer_parts.h"

namespace luminal::io {

/// The steps that a tokenizer.json describes, appended in order. `Error` for a type or option that is
/// unknown.
void add_normalisers(const JsonObject& json, std::vector<Normaliser>& out);
void add_pre_tokenizers(const JsonObject& json, std::vector<PreTokenizer>& out);
void add_post_processors(const JsonObject& json, std::vector<PostProcessor>& out);
Truncation truncation_of(const JsonObject& json);
Padding padding_of(const JsonObject& json);
void add_decoders(const JsonObject& json, std::vector<DecodeStep>& out);

/// {"String": text} or {"Regex": text}.
Pattern pattern_of(const JsonObject& json, const char* key);
/// The character map of SentencePiece, compiled.
Normaliser precompiled_normaliser(const std::string& base64, const std::string& where);
/// `Error` if a reader of the compiled map that checks nothing could leave it.
void require_character_map(std::string_view blob, const std::string& where);
/// `Error` if a SentencePiece file would lead libsentencepiece outside its own data.
void require_sentencepiece(std::string_view model, const std::string& file);
std::string decode_base64(std::string_view text, const std::string& where);

}  // namespace luminal::io
