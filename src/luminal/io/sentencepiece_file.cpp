#include <optional>

#include "luminal/io/tokenizer_steps.h"

namespace luminal::io {
namespace {

/// The fields of a protocol buffer's message, one after the other.
class MessageReader {
 public:
  MessageReader(std::string_view bytes, std::string where) : rest_(bytes), where_(std::move(where)) {}

  struct Field {
    std::uint64_t number = 0;
    std::optional<std::string_view> bytes;  // of a text or a message
  };

  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t tag = varint();
    if (tag > 0xFFFFFFFFU || tag >> 3U == 0) refuse("a field's number is out of range");
    Field field{tag >> 3U, std::nullopt};
    switch (tag & 7U) {
      case 0:
        (void)varint();
        break;
      case 1:
        (void)take(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        (void)take(4);
        break;
      default:
        refuse(cat("a field has the wire type ", tag & 7U));
    }
    return field;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(cat(where_, ": it is not a SentencePiece model: ", why));
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) refuse(cat("a field of ", count, " bytes does not fit in ", rest_.size()));
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number has more than 10 bytes");
  }

  std::string_view rest_;
  std::string where_;
};

// Fields of sentencepiece_model.proto.
constexpr std::uint64_t normalizer_spec = 3;
constexpr std::uint64_t denormalizer_spec = 5;
constexpr std::uint64_t precompiled_charsmap = 2;

}  // namespace

void require_sentencepiece(std::string_view model, const std::string& file) {
  MessageReader fields(model, file);
  while (const auto field = fields.next()) {
    if ((field->number != normalizer_spec && field->number != denormalizer_spec) || !field->bytes) continue;
    const std::string where =
        cat(file, field->number == normalizer_spec ? ": normalizer_spec" : ": denormalizer_spec");
    MessageReader spec(*field->bytes, where);
    while (const auto part = spec.next())
      if (part->number == precompiled_charsmap && part->bytes && !part->bytes->empty())
        require_character_map(*part->bytes, where);
  }
}

}  // namespace luminal::io
