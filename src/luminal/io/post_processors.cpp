#include <algorithm>
#include <limits>

#include "luminal/io/tokenizer_steps.h"

namespace luminal::io {
namespace {

constexpr std::int64_t most_padding = 1 << 24;

TokenId token_id(const Json& number, const JsonObject& owner, const char* key) {
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::numeric_limits<TokenId>::max())
    owner.refuse(cat(luminal::in_quotes(key), ": an id is not a whole number from 0 to 2^31 - 1"));
  return number.get<TokenId>();
}

TokenId pair_id(const JsonObject& processor, const char* key) {
  const Json& pair = processor.array(key);
  if (pair.size() != 2) processor.refuse(cat(luminal::in_quotes(key), " is not [token, id]"));
  return token_id(pair[1], processor, key);
}

std::size_t count_of(const JsonObject& json, const char* key, std::int64_t most) {
  const std::int64_t number = json.integer(key);
  if (number < 0 || number > most)
    json.refuse(cat(luminal::in_quotes(key), " is ", number, ": expected 0 to ", most));
  return static_cast<std::size_t>(number);
}

/// Whether "direction" is left.
bool is_left(const JsonObject& json, const std::string& direction) {
  if (direction != "Left" && direction != "Right")
    json.refuse(cat("\"direction\" is ", luminal::in_quotes(direction), ": expected Left or Right"));
  return direction == "Left";
}

/// A part of a template: special tokens, or one of the texts.
struct TemplatePart {
  std::vector<TokenId> ids;
  std::optional<std::size_t> text;
};

std::vector<TemplatePart> template_parts(const JsonObject& processor, const char* key, std::size_t texts) {
  std::vector<TemplatePart> result;
  for (const Json& piece : processor.array(key)) {
    const JsonObject item(piece, cat(processor.where(), ": ", key));
    if (item.find("Sequence") != nullptr) {
      const std::string which = item.object("Sequence").text("id");
      if (which != "A" && (which != "B" || texts < 2))
        item.refuse(cat("the sequence ", luminal::in_quotes(which), " was not expected"));
      result.push_back({{}, which == "A" ? 0 : 1});
      continue;
    }
    const std::string name = item.object("SpecialToken").text("id");
    const JsonObject tokens = processor.object("special_tokens");
    const JsonObject token(tokens.at(name.c_str()), cat(tokens.where(), ": ", name));
    TemplatePart part;
    for (const Json& id : token.array("ids")) part.ids.push_back(token_id(id, token, "ids"));
    result.push_back(std::move(part));
  }
  return result;
}

IdParts filled(const std::vector<TemplatePart>& parts, const IdParts& texts, bool add_special) {
  IdParts result;
  for (const TemplatePart& part : parts) {
    if (part.text)
      result.push_back(texts[*part.text]);
    else if (add_special)
      result.push_back(part.ids);
  }
  return result;
}

PostProcessor template_processor(const JsonObject& json) {
  PostProcessor result;
  const auto single = template_parts(json, "single", 1);
  const auto pair = json.find("pair") != nullptr ? template_parts(json, "pair", 2) : single;
  for (const TemplatePart& part : single) result.added += part.ids.size();
  result.run = [single, pair, where = json.where()](const IdParts& texts, bool add_special) {
    // After another template, its parts are what this one puts together.
    if (texts.empty() || texts.size() > 2)
      throw Error(cat(where, ": a template after one that makes ", texts.size(), " parts is not supported"));
    return filled(texts.size() == 1 ? single : pair, texts, add_special);
  };
  return result;
}

/// cls, the first text, sep; the others between seps, of which BERT leaves out the first.
PostProcessor classifier(TokenId cls, TokenId sep, bool separates_twice) {
  return {2, [=](IdParts parts, bool add_special) {
            if (!add_special) return parts;
            for (std::size_t i = 0; i < parts.size(); ++i) {
              if (i == 0 || separates_twice) parts[i].insert(parts[i].begin(), i == 0 ? cls : sep);
              parts[i].push_back(sep);
            }
            return parts;
          }};
}

void truncate(const Truncation& how, std::size_t added, std::vector<TokenId>& ids) {
  if (how.longest < added)
    throw Error(cat("truncation: \"max_length\" is ", how.longest, ", less than the ", added,
                    " special tokens that are added"));
  const std::size_t longest = how.longest - added;
  if (ids.size() <= longest) return;
  if (how.only_second && longest > 0)
    throw Error("truncation: the strategy OnlySecond cannot cut a single text");
  if (longest > 0 && how.stride >= longest)
    throw Error(
        cat("truncation: the stride ", how.stride, " is not less than the ", longest, " ids that are kept"));
  const auto kept = static_cast<std::ptrdiff_t>(longest);
  if (how.from_left)
    ids.erase(ids.begin(), ids.end() - kept);
  else
    ids.resize(longest);
}

}  // namespace

PostProcessor surround(std::vector<TokenId> before, std::vector<TokenId> after) {
  const std::size_t added = before.size() + after.size();
  return {added, [before = std::move(before), after = std::move(after)](IdParts parts, bool add_special) {
            if (!add_special) return parts;
            parts.insert(parts.begin(), before);
            parts.push_back(after);
            return parts;
          }};
}

void add_post_processors(const JsonObject& json, std::vector<PostProcessor>& out) {
  const std::string type = json.text("type");
  if (type == "Sequence") {
    for (const Json& step : json.array("processors")) add_post_processors({step, json.where()}, out);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    out.push_back(classifier(pair_id(json, "cls"), pair_id(json, "sep"), type == "RobertaProcessing"));
  } else if (type == "TemplateProcessing") {
    out.push_back(template_processor(json));
  } else if (type != "ByteLevel") {
    json.refuse(cat("the post-processor ", luminal::in_quotes(type), " is not supported"));
  }
}

Truncation truncation_of(const JsonObject& json) {
  const std::string strategy = json.text("strategy");
  if (strategy != "LongestFirst" && strategy != "OnlyFirst" && strategy != "OnlySecond")
    json.refuse(cat("the strategy ", luminal::in_quotes(strategy),
                    " is not supported: expected LongestFirst, OnlyFirst or OnlySecond"));
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  return {count_of(json, "max_length", any), count_of(json, "stride", any),
          is_left(json, json.optional_text("direction").value_or("Right")), strategy == "OnlySecond"};
}

Padding padding_of(const JsonObject& json) {
  Padding result;
  const Json& strategy = json.at("strategy");
  if (strategy.is_object())
    result.least = count_of(json.object("strategy"), "Fixed", most_padding);
  else if (strategy != "BatchLongest")
    json.refuse("the strategy is not supported: expected \"BatchLongest\" or {\"Fixed\": length}");
  if (json.find("pad_to_multiple_of") != nullptr)
    result.multiple = std::max<std::size_t>(count_of(json, "pad_to_multiple_of", most_padding), 1);
  result.id = token_id(json.at("pad_id"), json, "pad_id");
  result.on_left = is_left(json, json.text("direction"));
  return result;
}

std::vector<TokenId> finished_ids(const TokenizerParts& parts, std::vector<TokenId> ids, bool add_special) {
  if (parts.truncation) {
    std::size_t added = 0;
    for (const PostProcessor& step : parts.post_processors) added += add_special ? step.added : 0;
    truncate(*parts.truncation, added, ids);
  }
  if (!parts.post_processors.empty()) {
    IdParts together = {std::move(ids)};
    for (const PostProcessor& step : parts.post_processors)
      together = step.run(std::move(together), add_special);
    ids.clear();
    for (const auto& part : together) ids.insert(ids.end(), part.begin(), part.end());
  }
  if (parts.padding) {
    const Padding& padding = *parts.padding;
    const std::size_t wanted = std::max(ids.size(), padding.least);
    const std::size_t total = (wanted + padding.multiple - 1) / padding.multiple * padding.multiple;
    ids.insert(padding.on_left ? ids.begin() : ids.end(), total - ids.size(), padding.id);
  }
  return ids;
}

}  // namespace luminal::io
