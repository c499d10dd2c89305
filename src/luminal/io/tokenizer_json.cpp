#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "luminal/io/bpe.h"
#include "luminal/io/tokenizer_steps.h"
#include "luminal/io/utf8.h"

namespace luminal::io {
namespace {

constexpr std::size_t most_tokens = 1U << 24U;

/// The bulk of a tokenizer.json, kept out of the JSON tree: tokens with ids (or scores), and merges.
struct Bulk {
  bool has_vocabulary = false;
  bool has_merges = false;
  bool vocabulary_is_list = false;
  std::vector<std::pair<std::string, std::int64_t>> ids;
  std::vector<std::pair<std::string, double>> scores;
  std::vector<std::pair<std::string, std::string>> merges;
};

/// Of "-12" or "+5"; huge ones are cut off where every number has become 0 or infinite.
int exponent_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range) value = text.starts_with('-') ? -10000 : 10000;
  return std::clamp(value, -10000, 10000);
}

/// A number as the `tokenizers` package reads it: digits as an integer, scaled by a power of ten, so its last
/// bit is not always the nearest. Equally good divisions of a text differ by just that bit.
double as_the_package_reads(std::string_view text) {
  std::uint64_t digits = 0;
  int exponent = 0;
  bool in_fraction = false;
  bool is_full = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.') in_fraction = true;
    if (c == 'e' || c == 'E') {
      exponent += exponent_of(text.substr(at + 1));
      break;
    }
    if (c < '0' || c > '9') continue;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    is_full = is_full || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (is_full) {
      exponent += in_fraction ? 0 : 1;
    } else {
      digits = digits * 10 + digit;
      exponent -= in_fraction ? 1 : 0;
    }
  }
  auto value = static_cast<double>(digits);
  for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
  const double power = std::strtod(("1e" + std::to_string(std::abs(exponent))).c_str(), nullptr);
  value = value == 0 ? 0 : exponent < 0 ? value / power : value * power;
  return text.starts_with('-') ? -value : value;
}

/// Builds the tree of everything but "model.vocab" and "model.merges", which go to `Bulk`.
class TokenizerJson : public JsonHandler {
 public:
  explicit TokenizerJson(const std::string& file_name)
      : JsonHandler(file_name, {.depth = 64, .values = std::numeric_limits<std::size_t>::max()}),
        builder_(tree, false) {}

  Json tree;
  Bulk bulk;

  bool start_object(std::size_t size) override {
    if (in_bulk()) return refuse_bulk("an object");
    enter();
    if (enters_bulk()) {
      bulk_depth_ = depth();
      return builder_.null();
    }
    keys_.emplace_back();
    return small() && builder_.start_object(size);
  }
  bool end_object() override {
    leave();
    if (leaves_bulk()) return true;
    keys_.pop_back();
    return builder_.end_object();
  }
  bool start_array(std::size_t size) override {
    enter();
    if (in_bulk()) {
      if (depth() > bulk_depth_ + 1) return refuse_bulk("a list");
      row_.clear();
      return true;
    }
    if (enters_bulk()) {
      bulk_depth_ = depth();
      if (key_ == "vocab") bulk.vocabulary_is_list = true;
      return builder_.null();
    }
    keys_.emplace_back();
    return small() && builder_.start_array(size);
  }
  bool end_array() override {
    leave();
    if (in_bulk() && depth() >= bulk_depth_) return finish_row();
    if (leaves_bulk()) return true;
    keys_.pop_back();
    return builder_.end_array();
  }
  bool key(string_t& name) override {
    if (in_bulk()) {
      token_ = name;
      return true;
    }
    key_ = name;
    if (!keys_.back().insert(name).second)
      throw Error(cat(file(), ": the key ", luminal::in_quotes(name), " stands twice"));
    if (depth() == 1) section_ = name;
    return builder_.key(name);
  }
  bool string(string_t& text) override {
    if (!in_bulk()) return small() && builder_.string(text);
    if (depth() > bulk_depth_) {
      row_.push_back(text);
    } else if (bulk_is_merges_) {
      const std::size_t space = text.find(' ');
      if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
        throw Error(cat(file(), ": the merge ", luminal::in_quotes(text),
                        " is not two tokens with a space between them"));
      bulk.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    } else {
      return refuse_bulk("a text");
    }
    return limited();
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (!in_bulk()) return small() && builder_.number_unsigned(number);
    if (depth() > bulk_depth_) return score(static_cast<double>(number));
    if (bulk_is_merges_ || bulk.vocabulary_is_list) return refuse_bulk("a number");
    if (number > static_cast<number_unsigned_t>(std::numeric_limits<TokenId>::max()))
      throw Error(cat(file(), ": the token ", luminal::in_quotes(token_), " has the id ", number,
                      ": expected less than 2^31"));
    bulk.ids.emplace_back(token_, static_cast<std::int64_t>(number));
    return limited();
  }
  bool number_integer(number_integer_t number) override {
    if (!in_bulk()) return small() && builder_.number_integer(number);
    if (depth() > bulk_depth_) return score(static_cast<double>(number));
    throw Error(cat(file(), ": the token ", luminal::in_quotes(token_), " has the id ", number,
                    ": expected 0 or more"));
  }
  bool number_float(number_float_t number, const string_t& text) override {
    if (!in_bulk()) return small() && builder_.number_float(number, text);
    if (depth() > bulk_depth_) return score(as_the_package_reads(text));
    return refuse_bulk("a real number");
  }
  bool null() override { return in_bulk() ? refuse_bulk("null") : small() && builder_.null(); }
  bool boolean(bool value) override {
    return in_bulk() ? refuse_bulk("a bool") : small() && builder_.boolean(value);
  }

 private:
  bool in_bulk() const { return bulk_depth_ > 0; }
  bool enters_bulk() {
    if (depth() != 3 || section_ != "model" || (key_ != "vocab" && key_ != "merges")) return false;
    bulk_is_merges_ = key_ == "merges";
    (bulk_is_merges_ ? bulk.has_merges : bulk.has_vocabulary) = true;
    return true;
  }
  bool leaves_bulk() {
    if (!in_bulk() || depth() >= bulk_depth_) return false;
    bulk_depth_ = 0;
    return true;
  }
  bool refuse_bulk(const char* what) const {
    throw Error(cat(file(), ": model: ", bulk_is_merges_ ? "merges" : "vocab", ": ", what,
                    " was not expected", token_.empty() ? "" : cat(" at ", luminal::in_quotes(token_))));
  }
  bool small() { return count_small(); }
  bool count_small() {
    if (++values_ > (1U << 20U))
      throw Error(cat(file(), ": more than 2^20 JSON values beside the vocabulary are refused"));
    return true;
  }
  bool limited() const {
    if (bulk.ids.size() > most_tokens || bulk.scores.size() > most_tokens || bulk.merges.size() > most_tokens)
      throw Error(cat(file(), ": more than 2^24 tokens or merges are refused"));
    return true;
  }
  bool score(double number) {
    if (bulk_is_merges_ || !bulk.vocabulary_is_list || row_.size() != 1) return refuse_bulk("a number");
    bulk.scores.emplace_back(row_.front(), number);
    row_.emplace_back();  // the row is complete
    return limited();
  }
  bool finish_row() {
    if (row_.size() != 2) return refuse_bulk("a row without two elements");
    if (bulk_is_merges_) bulk.merges.emplace_back(row_[0], row_[1]);
    return limited();
  }

  nlohmann::detail::json_sax_dom_parser<Json> builder_;
  std::vector<std::set<std::string>> keys_;
  std::string section_, key_, token_;
  std::vector<std::string> row_;
  std::size_t bulk_depth_ = 0;
  std::size_t values_ = 0;
  bool bulk_is_merges_ = false;
};

void fill_vocabulary(Vocabulary& vocabulary, Bulk& bulk, const std::string& file) {
  vocabulary.reserve(std::max(bulk.ids.size(), bulk.scores.size()));
  for (auto& [text, id] : bulk.ids)
    if (!vocabulary.add(text, static_cast<TokenId>(id)))
      throw Error(cat(file, ": the token ", luminal::in_quotes(text), " or its id ", id,
                      " stands twice in the vocabulary"));
  for (std::size_t i = 0; i < bulk.scores.size(); ++i)
    if (!vocabulary.add(bulk.scores[i].first, static_cast<TokenId>(i)))
      throw Error(cat(file, ": the token ", luminal::in_quotes(bulk.scores[i].first),
                      " stands twice in the vocabulary"));
}

/// With byte fallback, a token that looks like a byte must be one.
void require_byte_tokens(const Bulk& bulk, const std::string& file) {
  const auto check = [&](const std::string& text) {
    if (text.size() == 6 && text.starts_with("<0x") && text.back() == '>' && !byte_of_token(text))
      throw Error(
          cat(file, ": the token ", luminal::in_quotes(text), " is not a byte: expected <0x00> to <0xFF>"));
  };
  for (const auto& entry : bulk.ids) check(entry.first);
  for (const auto& entry : bulk.scores) check(entry.first);
}

std::optional<TokenId> unknown_of(const JsonObject& model, const Vocabulary& vocabulary) {
  const auto text = model.optional_text("unk_token");
  return text ? vocabulary.find(*text) : std::nullopt;
}

std::unique_ptr<TokenModel> unigram_of(const JsonObject& model, Bulk& bulk,
                                       const std::shared_ptr<Vocabulary>& vocabulary) {
  if (!bulk.vocabulary_is_list || bulk.scores.empty())
    model.refuse("\"vocab\" of a Unigram is a list of [token, score]");
  std::vector<double> scores;
  for (const auto& entry : bulk.scores) scores.push_back(entry.second);
  std::optional<TokenId> unknown;
  if (model.find("unk_id") != nullptr) {
    const std::int64_t id = model.integer("unk_id");
    if (id < 0 || id >= static_cast<std::int64_t>(scores.size()))
      model.refuse(cat("\"unk_id\" is ", id, ": expected 0 to ", scores.size() - 1));
    unknown = static_cast<TokenId>(id);
  }
  return make_unigram(vocabulary, std::move(scores), unknown, model.flag("byte_fallback", false));
}

/// Old files leave "type" out.
std::string model_type(const JsonObject& model, const Bulk& bulk) {
  if (const auto type = model.optional_text("type")) return *type;
  if (bulk.vocabulary_is_list) return "Unigram";
  return !bulk.merges.empty()                                ? "BPE"
         : model.find("max_input_chars_per_word") != nullptr ? "WordPiece"
                                                             : "WordLevel";
}

std::unique_ptr<TokenModel> model_of_json(const JsonObject& model, Bulk& bulk,
                                          const std::shared_ptr<Vocabulary>& vocabulary,
                                          const std::string& file) {
  const std::string type = model_type(model, bulk);
  if (type == "Unigram") return unigram_of(model, bulk, vocabulary);
  if (bulk.vocabulary_is_list) model.refuse(cat("\"vocab\" of a ", type, " is an object from tokens to ids"));
  if (type == "BPE") {
    if (!bulk.has_vocabulary || !bulk.has_merges) model.refuse("\"vocab\" or \"merges\" of a BPE is missing");
    const BpeOptions options{
        .unknown = model.optional_text("unk_token"),
        .continuing_prefix = model.optional_text("continuing_subword_prefix").value_or(""),
        .word_suffix = model.optional_text("end_of_word_suffix").value_or(""),
        .fuse_unknown = model.flag("fuse_unk", false),
        .byte_fallback = model.flag("byte_fallback", false),
        .ignore_merges = model.flag("ignore_merges", false)};
    return make_bpe(vocabulary, bulk.merges, options, file);
  }
  if (type == "WordPiece") {
    std::int64_t longest = 100;
    if (model.find("max_input_chars_per_word") != nullptr)
      longest = model.integer("max_input_chars_per_word");
    if (longest < 0) model.refuse(cat("\"max_input_chars_per_word\" is ", longest));
    return make_word_piece(vocabulary, {unknown_of(model, *vocabulary), "",
                                        model.optional_text("continuing_subword_prefix").value_or("##"),
                                        static_cast<std::size_t>(longest)});
  }
  if (type == "WordLevel") return make_word_level(vocabulary, unknown_of(model, *vocabulary));
  model.refuse(cat("the model type ", luminal::in_quotes(type),
                   " is not supported: expected BPE, Unigram, WordPiece or WordLevel"));
}

void add_added_tokens(const Json& list, TokenizerParts& parts, const std::string& file) {
  std::size_t text_bytes = 0, pattern_bytes = 0;
  for (const Json& entry : list) {
    const JsonObject json(entry, cat(file, ": added_tokens"));
    const std::int64_t id = json.integer("id");
    if (id < 0 || id > std::numeric_limits<TokenId>::max())
      json.refuse(cat("the id ", id, " is outside 0 to 2^31 - 1"));
    AddedToken token{json.text("content"), static_cast<TokenId>(id), json.flag("special", false)};
    token.normalised = json.flag("normalized", !token.special);
    token.single_word = json.flag("single_word", false);
    token.strip_left = json.flag("lstrip", false);
    token.strip_right = json.flag("rstrip", false);
    // What stands in the vocabulary keeps the id that it has there.
    if (const auto known = parts.vocabulary->find(token.text)) token.id = *known;
    if (token.normalised) {
      token.pattern = normalised(parts.normalisers, token.text);
      require_growth(text_bytes += token.text.size(), pattern_bytes += token.pattern.size());
    }
    parts.added.add(token);
  }
}

}  // namespace

Tokenizer read_tokenizer_json(std::string_view text, const std::string& file) {
  TokenizerJson reader(file);
  scan_json(text, file, reader);
  const JsonObject json(reader.tree, file);
  const auto parts = std::make_shared<TokenizerParts>();
  if (json.find("model") == nullptr)
    throw Error(cat(
        file, ": it is no tokenizer.json, since \"model\" is missing: known are tokenizer.json, GGUF files, ",
        "SentencePiece .model and .tiktoken files"));
  const JsonObject model = json.object("model");
  fill_vocabulary(*parts->vocabulary, reader.bulk, file);
  if (model.flag("byte_fallback", false)) require_byte_tokens(reader.bulk, file);
  if (json.find("normalizer") != nullptr) add_normalisers(json.object("normalizer"), parts->normalisers);
  if (json.find("pre_tokenizer") != nullptr)
    add_pre_tokenizers(json.object("pre_tokenizer"), parts->pre_tokenizers);
  if (json.find("truncation") != nullptr) parts->truncation = truncation_of(json.object("truncation"));
  if (json.find("post_processor") != nullptr)
    add_post_processors(json.object("post_processor"), parts->post_processors);
  if (json.find("padding") != nullptr) parts->padding = padding_of(json.object("padding"));
  parts->separator = json.find("decoder") == nullptr ? " " : "";
  if (json.find("decoder") != nullptr) add_decoders(json.object("decoder"), parts->decoders);
  if (json.find("added_tokens") != nullptr) add_added_tokens(json.array("added_tokens"), *parts, file);
  parts->model = model_of_json(model, reader.bulk, parts->vocabulary, file);
  return Tokenizer(parts);
}

}  // namespace luminal::io
