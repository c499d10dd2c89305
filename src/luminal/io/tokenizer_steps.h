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
void add_decoders(const JsonObject& json, std::vector<DecodeStep>& out);

/// {"String": text} or {"Regex": text}.
Pattern pattern_of(const JsonObject& json, const char* key);
/// The character map of SentencePiece, compiled.
Normaliser precompiled_normaliser(const std::string& base64, const std::string& where);
std::string decode_base64(std::string_view text, const std::string& where);

}  // namespace luminal::io
