#pragma once
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace luminal::io {

using Json = nlohmann::json;

/// What a parser accepts before it gives up on a file.
struct JsonLimits {
  std::size_t depth = 64;
  std::size_t values = 1U << 20U;  // a value costs up to a hundred bytes of memory
};

/// Text as JSON. `Error` with the file's name and the byte for bad syntax, bad UTF-8, a key given twice, and
/// what is beyond the limits; nothing is allocated for a text that is refused by syntax or depth.
Json parse_json(std::string_view text, const std::string& file, const JsonLimits& limits = {});

/// Runs a SAX handler over the text; see nlohmann::json_sax. `Error` as above, from the handler or from the
/// syntax.
void scan_json(std::string_view text, const std::string& file, nlohmann::json_sax<Json>& handler);

/// A base for handlers: depth, count of values, and errors that name file and byte.
class JsonHandler : public nlohmann::json_sax<Json> {
 public:
  JsonHandler(std::string file, const JsonLimits& limits) : file_(std::move(file)), limits_(limits) {}
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool key(string_t&) override { return true; }
  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return false; }
  bool parse_error(std::size_t position, const std::string& last,
                   const nlohmann::detail::exception& error) override;

 protected:
  bool enter();
  bool leave() {
    --depth_;
    return true;
  }
  bool count();
  std::size_t depth() const { return depth_; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  JsonLimits limits_;
  std::size_t depth_ = 0;
  std::size_t values_ = 0;
};

}  // namespace luminal::io
