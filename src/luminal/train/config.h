#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/io/json.h"

namespace luminal::train {

/// An object of a configuration file. Every key that is asked for is known; `finish` refuses what is left,
/// and suggests what was meant. Errors name the file and the path to the key.
class Config {
 public:
  /// Reads a file. `Error` if it is not a JSON object.
  static Config read(const std::string& path);
  Config(io::Json value, std::string where);

  bool has(const std::string& key);
  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& otherwise);
  /// One of some words; an `Error` for another suggests the nearest.
  std::string word(const std::string& key, const std::vector<std::string>& words,
                   const std::optional<std::string>& otherwise = std::nullopt);
  /// A whole number of at least `least`.
  std::int64_t integer(const std::string& key, std::optional<std::int64_t> otherwise, std::int64_t least = 0);
  double real(const std::string& key, std::optional<double> otherwise);
  bool flag(const std::string& key, bool otherwise);
  std::vector<std::int64_t> integers(const std::string& key, const std::vector<std::int64_t>& otherwise);
  std::vector<std::string> texts(const std::string& key);
  /// A part; empty if it is absent.
  Config object(const std::string& key);

  /// `Error` for a key that nothing asked for.
  void finish() const;
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(const std::string& why) const;
  /// Gives "data.file" a value, as if it stood in the file: JSON, or else a text.
  void set(std::string_view path, const std::string& value);

 private:
  const io::Json* find(const std::string& key);
  io::Json value_;
  std::string where_;
  std::set<std::string> asked_;
};

/// The nearest of some words, if one is near enough to be meant.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& words);

}  // namespace luminal::train
