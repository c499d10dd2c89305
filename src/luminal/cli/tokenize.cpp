#include "luminal/cli/tokenize.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include "luminal/io/tokenizer.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text;
  bool decode = false;
  bool special = false;
  bool json = false;
};

/// Ids between blanks, commas and brackets, or what --json printed: "[1, 2]", "1 2" and {"ids": [1, 2]}
/// alike.
std::vector<io::TokenId> parse_ids(const std::string& text) {
  std::vector<io::TokenId> ids;
  const std::string_view between = " \t\r\n,[]{}:";
  for (const char *at = text.data(), *end = at + text.size(); at < end;) {
    if (between.find(*at) != std::string_view::npos) {
      ++at;
      continue;
    }
    const std::string_view word(
        at,
        static_cast<std::size_t>(
            std::find_if(at, end, [&](char c) { return between.find(c) != std::string_view::npos; }) - at));
    if (word == "\"ids\"" && ids.empty()) {
      at += word.size();
      continue;
    }
    io::TokenId id = 0;
    const auto [rest, failure] = std::from_chars(at, at + word.size(), id);
    if (failure != std::errc() || rest != at + word.size() || id < 0)
      throw Error(cat("tokenize: ", luminal::in_quotes(word), " is not an id: expected 0 to 2^31 - 1"));
    ids.push_back(id);
    at = rest;
  }
  return ids;
}

void tokenize(const TokenizeOptions& options) {
  const io::Tokenizer tokenizer = io::open_tokenizer(options.model);
  const std::string input =
      options.text ? *options.text
                   : std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  if (options.decode) {
    const std::string text = tokenizer.decode(parse_ids(input), options.special);
    if (options.json)
      std::cout << "{\"text\": " << luminal::in_quotes(text) << "}\n";
    else
      std::cout << text;
    return;
  }
  const auto ids = tokenizer.encode(input, options.special);
  if (options.json)
    std::cout << "{\"ids\": [" << join(ids) << "]}\n";
  else
    std::cout << join(ids, " ") << '\n';
}

}  // namespace

void add_tokenize_command(CLI::App& app) {
  const auto options = std::make_shared<TokenizeOptions>();
  auto* command = app.add_subcommand("tokenize", "Turn text into token ids, or ids into text");
  command
      ->add_option("--model", options->model,
                   "tokenizer.json, a GGUF file, a .model, a .tiktoken file, or a folder")
      ->required();
  command->add_option("TEXT", options->text,
                      "The text, or the ids with --decode (default: standard input, as it is)");
  command->add_flag("--decode", options->decode, "From ids to text");
  command->add_flag("--special", options->special, "Add the model's special tokens; keep them when decoding");
  command->add_flag("--json", options->json, "Print {\"ids\": [...]} or {\"text\": \"...\"}");
  command->callback([options] { tokenize(*options); });
}

}  // namespace luminal::cli
