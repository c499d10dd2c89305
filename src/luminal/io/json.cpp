#include "luminal/io/json.h"

#include <algorithm>
#include <set>
#include <vector>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::io {
namespace {

/// Syntax, depth, count and keys given twice: everything that is refused before a value is built.
class Validator : public JsonHandler {
 public:
  using JsonHandler::JsonHandler;
  bool start_object(std::size_t) override {
    keys_.emplace_back();
    return enter();
  }
  bool end_object() override {
    keys_.pop_back();
    return leave();
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second)
      throw Error(cat(file(), ": the key ", luminal::in_quotes(name), " stands twice in one JSON object"));
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

bool JsonHandler::enter() {
  if (++depth_ > limits_.depth)
    throw Error(cat(file_, ": JSON nested deeper than ", limits_.depth, " levels is refused"));
  return count();
}

bool JsonHandler::count() {
  if (++values_ > limits_.values)
    throw Error(cat(file_, ": more than ", limits_.values, " JSON values are refused"));
  return true;
}

bool JsonHandler::parse_error(std::size_t position, const std::string& last,
                              const nlohmann::detail::exception& error) {
  const std::string text = error.what();
  const std::size_t reason = text.find(": ");
  throw Error(cat(file_, ": bad JSON at byte ", position, " near ", luminal::in_quotes(last.substr(0, 40)),
                  ": ", reason == std::string::npos ? text : text.substr(reason + 2, 160)));
}

void scan_json(std::string_view text, const std::string& file, nlohmann::json_sax<Json>& handler) {
  // The parser takes a NUL for the end of the text.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Error(cat(file, ": bad JSON at byte ", nul, ": a NUL byte"));
  try {
    if (!Json::sax_parse(text.begin(), text.end(), &handler)) throw Error(cat(file, ": JSON was refused"));
  } catch (const Json::exception& error) {
    throw Error(cat(file, ": bad JSON: ", error.what()));
  }
}

Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits) {
  Validator validator(file, limits);
  scan_json(text, file, validator);
  return Json::parse(text.begin(), text.end());
}

}  // namespace luminal::io
