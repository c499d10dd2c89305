#include "luminal/train/config.h"

#include <algorithm>
#include <utility>

#include "luminal/io/mapped_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours that make one word of the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

std::string suggestion(const std::string& word, const std::vector<std::string>& words) {
  const auto found = nearest(word, words);
  return (found ? cat("; did you mean ", in_quotes(*found), "?") : std::string(";")) +
         cat(" (known: ", join(words), ")");
}

}  // namespace

std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& words) {
  std::optional<std::string> best;
  std::size_t least = 0;
  for (const auto& candidate : words) {
    const std::size_t apart = distance(word, candidate);
    const bool part = word.size() > 2 && (candidate.starts_with(word) || word.starts_with(candidate));
    if (!part && apart > std::max<std::size_t>(2, candidate.size() / 3)) continue;
    if (!best || apart < least) {
      best = candidate;
      least = apart;
    }
  }
  return best;
}

Config Config::read(const std::string& path) {
  const io::MappedFile file(path);
  return {io::parse_json(file.text(), path), path};
}

Config::Config(io::Json value, std::string where) : value_(std::move(value)), where_(std::move(where)) {
  if (!value_.is_object()) refuse(cat("expected an object, got ", value_.type_name()));
}

void Config::refuse(const std::string& why) const {
  throw Error(cat(where_, ": ", why));
}

const io::Json* Config::find(const std::string& key) {
  asked_.insert(key);
  const auto found = value_.find(key);
  return found == value_.end() || found->is_null() ? nullptr : &*found;
}

bool Config::has(const std::string& key) {
  return find(key) != nullptr;
}

std::string Config::text(const std::string& key) {
  const io::Json* found = find(key);
  if (found == nullptr) refuse(cat(in_quotes(key), " is missing"));
  if (!found->is_string()) refuse(cat(in_quotes(key), " is ", found->type_name(), ": expected a text"));
  return found->get<std::string>();
}

std::string Config::text(const std::string& key, const std::string& otherwise) {
  return has(key) ? text(key) : otherwise;
}

std::string Config::word(const std::string& key, const std::vector<std::string>& words,
                         const std::optional<std::string>& otherwise) {
  if (otherwise && !has(key)) return *otherwise;
  std::string given = text(key);
  if (std::find(words.begin(), words.end(), given) == words.end())
    refuse(cat(in_quotes(key), " is ", in_quotes(given), suggestion(given, words)));
  return given;
}

std::int64_t Config::integer(const std::string& key, std::optional<std::int64_t> otherwise,
                             std::int64_t least) {
  const io::Json* found = find(key);
  if (found == nullptr) {
    if (!otherwise) refuse(cat(in_quotes(key), " is missing"));
    return *otherwise;
  }
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() || found->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits) refuse(cat(in_quotes(key), " is ", found->dump(), ": expected a whole number"));
  const auto value = found->get<std::int64_t>();
  if (value < least) refuse(cat(in_quotes(key), " is ", value, ": expected at least ", least));
  return value;
}

double Config::real(const std::string& key, std::optional<double> otherwise) {
  const io::Json* found = find(key);
  if (found == nullptr) {
    if (!otherwise) refuse(cat(in_quotes(key), " is missing"));
    return *otherwise;
  }
  if (!found->is_number()) refuse(cat(in_quotes(key), " is ", found->dump(), ": expected a number"));
  return found->get<double>();
}

bool Config::flag(const std::string& key, bool otherwise) {
  const io::Json* found = find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) refuse(cat(in_quotes(key), " is ", found->dump(), ": expected true or false"));
  return found->get<bool>();
}

std::vector<std::int64_t> Config::integers(const std::string& key,
                                           const std::vector<std::int64_t>& otherwise) {
  const io::Json* found = find(key);
  if (found == nullptr) return otherwise;
  std::vector<std::int64_t> result;
  bool fits = found->is_array();
  for (std::size_t k = 0; fits && k < found->size(); ++k) {
    fits = (*found)[k].is_number_integer() && (*found)[k].get<std::int64_t>() > 0;
    if (fits) result.push_back((*found)[k].get<std::int64_t>());
  }
  if (!fits) refuse(cat(in_quotes(key), " is ", found->dump(), ": expected a list of whole numbers above 0"));
  return result;
}

std::vector<std::string> Config::texts(const std::string& key) {
  const io::Json* found = find(key);
  if (found == nullptr) return {};
  std::vector<std::string> result;
  bool fits = found->is_array();
  for (std::size_t k = 0; fits && k < found->size(); ++k) {
    fits = (*found)[k].is_string();
    if (fits) result.push_back((*found)[k].get<std::string>());
  }
  if (!fits) refuse(cat(in_quotes(key), " is ", found->dump(), ": expected a list of texts"));
  return result;
}

Config Config::object(const std::string& key) {
  const io::Json* found = find(key);
  return {found == nullptr ? io::Json::object() : *found, cat(where_, ": ", key)};
}

void Config::finish() const {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& [key, value] : value_.items())
    if (!asked_.contains(key)) refuse(cat("there is no key ", in_quotes(key), suggestion(key, known)));
}

void Config::set(std::string_view path, const std::string& value) {
  io::Json* place = &value_;
  for (;;) {
    const auto dot = path.find('.');
    place = &(*place)[std::string(path.substr(0, dot))];
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
    if (!place->is_object() && !place->is_null()) refuse(cat(in_quotes(path), " is not part of an object"));
  }
  io::Json parsed = io::Json::parse(value, nullptr, false);
  *place = parsed.is_discarded() ? io::Json(value) : std::move(parsed);
}

}  // namespace luminal::train
