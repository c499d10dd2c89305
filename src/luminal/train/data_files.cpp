#include "luminal/train/data_files.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "luminal/io/mapped_file.h"
#include "luminal/support/checked.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::train {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(cat("the file ", in_quotes(path), ": ", why));
}

std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t k = 0; k < 4; ++k) word = (word << 8U) | static_cast<std::uint32_t>(bytes[at + k]);
  return word;
}

std::optional<DType> idx_dtype(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0B:
      return DType::i16;
    case 0x0C:
      return DType::i32;
    case 0x0D:
      return DType::f32;
    case 0x0E:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

/// One line of a CSV file, split. Quotes are for texts, and there are only numbers here.
std::vector<std::string_view> cells(std::string_view line, char separator) {
  std::vector<std::string_view> result;
  for (;;) {
    const auto end = line.find(separator);
    std::string_view cell = line.substr(0, end);
    while (!cell.empty() && (cell.front() == ' ' || cell.front() == '"')) cell.remove_prefix(1);
    while (!cell.empty() && (cell.back() == ' ' || cell.back() == '"')) cell.remove_suffix(1);
    result.push_back(cell);
    if (end == std::string_view::npos) return result;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::string_view> next_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

/// The rows of a CSV file as numbers.
struct Table {
  std::vector<std::string> names;
  std::vector<float> numbers;
  std::size_t rows = 0;
};

Table read_table(const std::string& path, std::string_view text, const CsvOptions& options) {
  Table table;
  std::size_t number = 0;
  while (const auto line = next_line(text)) {
    ++number;
    if (line->empty()) continue;
    const auto row = cells(*line, options.separator);
    if (table.names.empty()) {
      for (std::size_t k = 0; k < row.size(); ++k)
        table.names.push_back(options.header ? std::string(row[k]) : std::to_string(k));
      if (options.header) continue;
    }
    if (row.size() != table.names.size())
      refuse(path, cat("line ", number, " has ", row.size(), " columns, expected ", table.names.size()));
    for (std::size_t k = 0; k < row.size(); ++k) {
      float value = 0;
      const auto [end, error] = std::from_chars(row[k].data(), row[k].data() + row[k].size(), value);
      if (error != std::errc() || end != row[k].data() + row[k].size() || !std::isfinite(value))
        refuse(path, cat("line ", number, ", column ", in_quotes(table.names[k]), ": ",
                         in_quotes(row[k].substr(0, 40)), " is not a number"));
      table.numbers.push_back(value);
    }
    ++table.rows;
  }
  if (table.rows == 0) refuse(path, "holds no rows");
  return table;
}

std::vector<bool> target_columns(const std::string& path, const Table& table, const CsvOptions& options) {
  std::vector<bool> is_target(table.names.size(), false);
  for (const auto& wanted : options.targets) {
    bool found = false;
    for (std::size_t k = 0; k < table.names.size(); ++k)
      if (table.names[k] == wanted) is_target[k] = found = true;
    if (!found) refuse(path, cat("has no column ", in_quotes(wanted), ", only ", join(table.names)));
  }
  if (options.targets.empty()) refuse(path, "no column was named as the target");
  return is_target;
}

}  // namespace

std::string read_text(const std::string& path) {
  const io::MappedFile file(path);
  const auto bytes = file.bytes();
  std::string text(bytes.size(), '\0');
  if (!bytes.empty()) std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

Array read_idx(const std::string& path) {
  const io::MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() < 4) refuse(path, cat("is ", bytes.size(), " bytes long: too short for an IDX file"));
  if (bytes[0] != std::byte{0} || bytes[1] != std::byte{0})
    refuse(path, "does not begin with two zero bytes, so it is no IDX file (is it still compressed?)");
  const auto dtype = idx_dtype(static_cast<std::uint8_t>(bytes[2]));
  if (!dtype)
    refuse(path, cat("byte 2 is ", static_cast<int>(bytes[2]), ", which names no type of an IDX file"));
  const auto rank = static_cast<std::size_t>(bytes[3]);
  const std::size_t header = 4 + 4 * rank;
  if (rank < 1 || rank > 8 || bytes.size() < header)
    refuse(path, cat("byte 3 says ", rank, " axes, and the file is ", bytes.size(), " bytes long"));
  std::vector<std::int64_t> dims;
  std::uint64_t size = byte_size(*dtype);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    dims.push_back(big_endian(bytes, 4 + 4 * axis));
    if (dims.back() != 0 && size > bytes.size() / static_cast<std::uint64_t>(dims.back()) + 1)
      refuse(path, cat("axes of ", join(dims, " x "), " elements do not fit into ", bytes.size(), " bytes"));
    size *= static_cast<std::uint64_t>(dims.back());
  }
  if (bytes.size() - header != size)
    refuse(path, cat("holds ", bytes.size() - header, " bytes of elements, expected ", size, " for ",
                     join(dims, " x "), " of ", *dtype));
  Array array(*dtype, dims);
  const std::size_t width = byte_size(*dtype);
  std::byte* out = array.bytes();
  for (std::size_t k = 0; k < size; ++k)  // big-endian elements
    out[k - k % width + (width - 1 - k % width)] = bytes[header + k];
  return array;
}

std::shared_ptr<Dataset> idx_images(const std::string& images, const std::string& labels) {
  const Array pixels = read_idx(images);
  const Array numbers = read_idx(labels);
  if (pixels.rank() != 3 || pixels.dtype() != DType::u8)
    refuse(images,
           cat("holds ", pixels.dtype(), "[", join(pixels.dims()), "], expected images: u8 of 3 axes"));
  if (numbers.rank() != 1 || numbers.dtype() != DType::u8)
    refuse(labels,
           cat("holds ", numbers.dtype(), "[", join(numbers.dims()), "], expected labels: u8 of 1 axis"));
  if (pixels.dims()[0] != numbers.dims()[0])
    refuse(labels, cat("holds ", numbers.dims()[0], " labels for ", pixels.dims()[0], " images"));
  if (pixels.dims()[0] == 0) refuse(images, "holds no images");
  Array image(DType::f32, {pixels.dims()[0], 1, pixels.dims()[1], pixels.dims()[2]});
  Array label(DType::i64, {numbers.dims()[0]});
  auto* to = reinterpret_cast<float*>(image.bytes());
  for (std::int64_t k = 0; k < image.size(); ++k)
    to[k] = static_cast<float>(std::as_const(pixels).bytes()[k]) / 255.0F;
  auto* to_label = reinterpret_cast<std::int64_t*>(label.bytes());
  for (std::int64_t k = 0; k < label.size(); ++k)
    to_label[k] = static_cast<std::int64_t>(std::as_const(numbers).bytes()[k]);
  return std::make_shared<ArrayDataset>(std::vector<std::string>{"image", "label"},
                                        std::vector<Array>{image, label});
}

std::shared_ptr<Dataset> read_csv(const std::string& path, const CsvOptions& options) {
  const Table table = read_table(path, read_text(path), options);
  const std::vector<bool> is_target = target_columns(path, table, options);
  const std::size_t columns = table.names.size();
  std::vector<float> inputs;
  std::vector<float> targets;
  for (std::size_t k = 0; k < table.numbers.size(); ++k)
    (is_target[k % columns] ? targets : inputs).push_back(table.numbers[k]);
  if (inputs.empty()) refuse(path, "every column is a target, so there is no input");
  const auto rows = static_cast<std::int64_t>(table.rows);
  const auto width = static_cast<std::int64_t>(targets.size() / table.rows);
  const Array input(std::span<const float>(inputs), {rows, static_cast<std::int64_t>(inputs.size()) / rows});
  Array target(std::span<const float>(targets), {rows, width});
  if (options.classes) {
    if (width != 1) refuse(path, cat("classes are one column, not ", width));
    std::vector<std::int64_t> labels;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (targets[k] < 0 || targets[k] > 1e6F || targets[k] != std::floor(targets[k]))
        refuse(path, cat("row ", k + 1, ": the class ", targets[k], " is not a whole number from 0 on"));
      labels.push_back(static_cast<std::int64_t>(targets[k]));
    }
    target = Array(std::span<const std::int64_t>(labels));
  }
  return std::make_shared<ArrayDataset>(std::vector<std::string>{"input", "target"},
                                        std::vector<Array>{input, target});
}

std::vector<std::int32_t> read_tokens(const std::string& path, TokenWidth width, std::int64_t vocabulary) {
  const io::MappedFile file(path);
  const auto bytes = file.bytes();
  const std::size_t each = width == TokenWidth::bits16 ? 2 : 4;
  if (bytes.empty()) refuse(path, "holds no tokens");
  if (bytes.size() % each != 0)
    refuse(path, cat("is ", bytes.size(), " bytes long, which is not a multiple of ", each));
  std::vector<std::int32_t> tokens(bytes.size() / each);
  for (std::size_t k = 0; k < tokens.size(); ++k) {
    std::uint32_t token = 0;
    for (std::size_t b = each; b-- > 0;)
      token = (token << 8U) | static_cast<std::uint32_t>(bytes[k * each + b]);
    if (token >= static_cast<std::uint64_t>(vocabulary) || token > std::uint32_t{INT32_MAX})
      refuse(path, cat("token ", k, " is ", token, ", expected less than ", vocabulary));
    tokens[k] = static_cast<std::int32_t>(token);
  }
  return tokens;
}

}  // namespace luminal::train
