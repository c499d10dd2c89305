#include "luminal/io/pattern_set.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "luminal/io/utf8.h"
#include "luminal/support/error.h"

namespace luminal::io {
namespace {

constexpr const char* space = R"(\x{9}-\x{d}\x{85}\p{Z})";
constexpr const char* letters =
    R"(\p{L}\p{M}\p{Nl}\p{Nd}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
constexpr const char* hexadecimal = "0-9a-fA-F";
/// Not in a class of PCRE2's own words, so it stands for no character.
constexpr const char* nothing = "(?!)";

/// Names are compared without case, spaces and dashes.
std::string plain_name(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != ' ' && c != '_' && c != '-')
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

const char* short_category(const std::string& name) {
  static const std::map<std::string, const char*> names = {
      {"letter", "L"},
      {"casedletter", "L&"},
      {"lc", "L&"},
      {"uppercaseletter", "Lu"},
      {"lowercaseletter", "Ll"},
      {"titlecaseletter", "Lt"},
      {"modifierletter", "Lm"},
      {"otherletter", "Lo"},
      {"mark", "M"},
      {"combiningmark", "M"},
      {"nonspacingmark", "Mn"},
      {"spacingmark", "Mc"},
      {"enclosingmark", "Me"},
      {"number", "N"},
      {"decimalnumber", "Nd"},
      {"letternumber", "Nl"},
      {"othernumber", "No"},
      {"punctuation", "P"},
      {"punct", "P"},
      {"connectorpunctuation", "Pc"},
      {"dashpunctuation", "Pd"},
      {"openpunctuation", "Ps"},
      {"closepunctuation", "Pe"},
      {"initialpunctuation", "Pi"},
      {"finalpunctuation", "Pf"},
      {"otherpunctuation", "Po"},
      {"symbol", "S"},
      {"mathsymbol", "Sm"},
      {"currencysymbol", "Sc"},
      {"modifiersymbol", "Sk"},
      {"othersymbol", "So"},
      {"separator", "Z"},
      {"spaceseparator", "Zs"},
      {"lineseparator", "Zl"},
      {"paragraphseparator", "Zp"},
      {"other", "C"},
      {"control", "Cc"},
      {"format", "Cf"},
      {"surrogate", "Cs"},
      {"privateuse", "Co"},
      {"unassigned", "Cn"},
  };
  static const std::string_view two =
      "l lu ll lt lm lo m mn mc me n nd nl no p pc pd ps pe pi pf po s sm sc "
      "sk so z zs zl zp c cc cf cs co cn ";
  if (const auto found = names.find(name); found != names.end()) return found->second;
  if (name.size() > 2 || two.find(name + " ") == std::string_view::npos) return nullptr;
  static const std::map<std::string, std::string> written = [] {
    std::map<std::string, std::string> result;
    for (std::size_t at = 0; at < two.size();) {
      const std::size_t end = two.find(' ', at);
      std::string key(two.substr(at, end - at));
      std::string value = key;
      value[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(value[0])));
      result.emplace(std::move(key), std::move(value));
      at = end + 1;
    }
    return result;
  }();
  const auto found = written.find(name);
  return found == written.end() ? nullptr : found->second.c_str();
}

std::string escaped(const std::string& character) {
  if (character.size() == 1 && std::ispunct(static_cast<unsigned char>(character[0])) != 0)
    return "\\" + character;
  return character;
}

}  // namespace

void CharacterSet::add(const CharacterSet& other) {
  if (other.negated) {
    others.push_back(other.text());
    return;
  }
  members += other.members;
  others.insert(others.end(), other.others.begin(), other.others.end());
}

std::string CharacterSet::text() const {
  std::string choice;
  for (const std::string& other : others) choice += (choice.empty() ? "" : "|") + other;
  if (negated) {
    const std::string rest = members.empty() ? "(?s:.)" : "[^" + members + "]";
    return choice.empty() ? rest : "(?:(?!" + choice + ")" + rest + ")";
  }
  if (members.empty()) return choice.empty() ? nothing : "(?:" + choice + ")";
  const std::string simple = "[" + members + "]";
  return choice.empty() ? simple : "(?:" + simple + "|" + choice + ")";
}

// Oniguruma's \w and \p{word} have the superscript digits and the fractions of Latin-1 too, but not in
// brackets, and [:word:] has not.
std::string SetReader::word() const {
  if (dialect_ == PatternDialect::rust) return std::string(letters) + R"(\x{200C}\x{200D})";
  return std::string(letters) + (depth_ == 0 ? R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})" : "");
}

std::string SetReader::character() {
  if (at_ >= in_.size()) return "";
  const std::size_t begin = at_++;
  while (at_ < in_.size() && (static_cast<unsigned char>(in_[at_]) & 0xC0U) == 0x80U) ++at_;
  return in_.substr(begin, at_ - begin);
}

std::string SetReader::hex_digits(std::size_t from, std::size_t most) const {
  std::string digits;
  while (digits.size() < most && std::isxdigit(static_cast<unsigned char>(peek(from + digits.size()))) != 0)
    digits += peek(from + digits.size());
  return digits;
}

// \x{H...}, \xHH. To Oniguruma the latter is a byte, and several of them make one character.
std::string SetReader::hexadecimal_code() {
  if (peek(2) == '{') {
    const std::string digits = hex_digits(3, 8);
    if (digits.empty() || peek(3 + digits.size()) != '}')
      throw Error("a pattern's \\x{...} does not hold the hexadecimal digits of one character");
    at_ += 4 + digits.size();
    return "\\x{" + digits + "}";
  }
  std::string bytes;
  do {
    const std::string digits = hex_digits(2, 2);
    at_ += 2 + digits.size();
    if (digits.empty()) return "x";
    const auto value = static_cast<unsigned char>(std::stoul(digits, nullptr, 16));
    if (dialect_ == PatternDialect::rust || (bytes.empty() && value < 0x80)) return "\\x{" + digits + "}";
    bytes += static_cast<char>(value);
  } while (!is_utf8(bytes) && bytes.size() < 4 && peek() == '\\' && peek(1) == 'x' && peek(2) != '{');
  if (!is_utf8(bytes)) throw Error("a pattern's \\xHH are bytes that make no character");
  return bytes;
}

std::optional<std::string> SetReader::code() {
  if (peek() != '\\') return std::nullopt;
  if (peek(1) == 'x') return hexadecimal_code();
  if (dialect_ == PatternDialect::rust) return std::nullopt;
  if (peek(1) == 'v') {
    at_ += 2;
    return "\\x{b}";
  }
  const std::string digits = peek(1) == 'u' ? hex_digits(2, 4) : "";
  if (digits.size() != 4) return std::nullopt;
  at_ += 6;
  return "\\x{" + digits + "}";
}

// The names of POSIX, most of which Oniguruma also takes as properties.
std::optional<CharacterSet> SetReader::known(const std::string& name) const {
  static const std::map<std::string, std::string> sets = {
      {"alnum", R"(\p{Alphabetic}\p{Nd})"},
      {"alpha", R"(\p{Alphabetic})"},
      {"ascii", R"(\x{0}-\x{7f})"},
      {"blank", R"(\x{9}\p{Zs})"},
      {"cntrl", R"(\p{Cc})"},
      {"digit", R"(\p{Nd})"},
      {"lower", R"(\p{Lowercase})"},
      {"punct", R"(\p{P}\p{S})"},
      {"space", space},
      {"upper", R"(\p{Uppercase})"},
      {"word", letters},
      {"xdigit", hexadecimal},
      {"any", R"(\x{0}-\x{10ffff})"},
      {"assigned", R"(\P{Cn})"},
  };
  if (name == "graph") return CharacterSet{std::string(space) + R"(\p{Cc}\p{Cn}\p{Cs})", {}, true};
  if (name == "print") return CharacterSet{R"(\p{Cc}\p{Cn}\p{Cs})", {}, true};
  const auto found = sets.find(name);
  if (found == sets.end()) return std::nullopt;
  return CharacterSet{found->second, {}, false};
}

CharacterSet SetReader::property(const std::string& name, bool negated) const {
  const std::string plain = plain_name(name);
  const char* letter = negated ? "\\P{" : "\\p{";
  if (const char* category = short_category(plain)) return {letter + std::string(category) + "}", {}, false};
  if (dialect_ == PatternDialect::oniguruma) {
    const std::optional<CharacterSet> set = plain == "word" ? CharacterSet{word(), {}, false} : known(plain);
    if (set) {
      CharacterSet result = *set;
      result.negated = set->negated != negated;
      return result;
    }
  }
  // PCRE2's plain \p{Han} takes in what other scripts have too.
  return {letter + std::string(is_script_(name) ? "sc:" : "") + name + "}", {}, false};
}

std::optional<CharacterSet> SetReader::named() {
  if (peek() != '\\') return std::nullopt;
  const char c = peek(1);
  const bool oniguruma = dialect_ == PatternDialect::oniguruma;
  std::optional<CharacterSet> result;
  if (c == 's' || c == 'S') result = CharacterSet{space, {}, c == 'S'};
  if (c == 'w' || c == 'W') result = CharacterSet{word(), {}, c == 'W'};
  if (oniguruma && (c == 'h' || c == 'H')) result = CharacterSet{hexadecimal, {}, c == 'H'};
  if (c == 'd' || c == 'D') result = CharacterSet{c == 'd' ? "\\d" : "\\D", {}, false};
  if (result) {
    at_ += 2;
    return result;
  }
  if (c != 'p' && c != 'P') return std::nullopt;
  const std::size_t end = in_.find('}', at_);
  if (peek(2) == '{' && end != std::string::npos) {
    const bool inverted = peek(3) == '^';
    const std::size_t begin = at_ + (inverted ? 4 : 3);
    at_ = end + 1;
    return property(in_.substr(begin, end - begin), (c == 'P') != inverted);
  }
  if (oniguruma || std::isalpha(static_cast<unsigned char>(peek(2))) == 0) return std::nullopt;
  at_ += 3;
  return property(in_.substr(at_ - 1, 1), c == 'P');
}

// [:alpha:] or [:^alpha:].
bool SetReader::posix(CharacterSet& set) {
  if (peek() != '[' || peek(1) != ':') return false;
  const std::size_t end = in_.find(":]", at_ + 2);
  if (end == std::string::npos) return false;
  const bool inverted = peek(2) == '^';
  const std::size_t begin = at_ + (inverted ? 3 : 2);
  auto named = known(in_.substr(begin, end - begin));
  if (!named) return false;
  named->negated = named->negated != inverted;
  set.add(*named);
  at_ = end + 2;
  return true;
}

std::string SetReader::literal() {
  if (const auto number = code()) return *number;
  if (peek() != '\\') return escaped(character());
  ++at_;
  const char c = peek();
  std::string text = "\\" + character();
  const std::size_t most = c >= '0' && c <= '7' ? 2 : 0;
  for (std::size_t i = 0; i < most && peek() >= '0' && peek() <= '7'; ++i) text += in_[at_++];
  if (c == 'c') text += character();
  return text;
}

void SetReader::member(CharacterSet& set) {
  if (const auto other = named()) return set.add(*other);
  set.members += literal();
  const bool range = peek() == '-' && at_ + 1 < in_.size() && peek(1) != ']' && peek(1) != '[';
  if (!range) return;
  ++at_;
  if (const auto other = named()) {
    set.members += "\\-";
    return set.add(*other);
  }
  set.members += "-" + literal();
}

CharacterSet SetReader::parse() {
  constexpr int deepest = 64;
  if (depth_ == deepest) throw Error("a pattern with classes nested deeper than 64 is refused");
  ++depth_;
  CharacterSet result = parse_open();
  --depth_;
  return result;
}

CharacterSet SetReader::parse_open() {
  CharacterSet set;
  std::optional<std::string> left;  // of the last &&
  const bool negated = peek() == '^';
  if (negated) ++at_;
  bool first = true;
  const auto meet = [&] {
    const std::string right = set.text();
    left = left ? "(?:(?=" + *left + ")" + right + ")" : right;
    set = {};
  };
  for (; at_ < in_.size(); first = false) {
    if (peek() == ']' && !first) {
      ++at_;
      if (left) {
        meet();
        set.others.push_back(*left);
      }
      set.negated = negated;
      return set;
    }
    if (peek() == '&' && peek(1) == '&') {
      at_ += 2;
      meet();
    } else if (posix(set)) {
      continue;
    } else if (peek() == '[') {
      ++at_;
      set.add(parse());
    } else {
      member(set);
    }
  }
  return {"", {"["}, false};  // never closed
}

}  // namespace luminal::io
