#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/train/dataset.h"

// Files are hostile until proven otherwise: every `Error` names the file, what is wrong, where, and what was
// expected.

namespace luminal::train {

/// An array of an IDX file, the format of MNIST.
Array read_idx(const std::string& path);
/// Images (of bytes, as f32 in [0, 1], with a channel axis: "image" [1, height, width]) and labels ("label",
/// i64) from two IDX files.
std::shared_ptr<Dataset> idx_images(const std::string& images, const std::string& labels);

struct CsvOptions {
  char separator = ',';
  bool header = true;
  /// Columns by name or, without a header, by number from 0. These are the targets; all others are inputs.
  std::vector<std::string> targets;
  /// The target is a class: a whole number from 0 on ("target" is an i64 scalar).
  bool classes = false;
};
/// Numbers in rows: "input" [columns] and "target" [targets], both f32.
std::shared_ptr<Dataset> read_csv(const std::string& path, const CsvOptions& options);

enum class TokenWidth : std::uint8_t { bits16, bits32 };
/// Token numbers as they lie in a file: little-endian, unsigned, nothing else. `Error` for one that is not
/// less than `vocabulary`.
std::vector<std::int32_t> read_tokens(const std::string& path, TokenWidth width, std::int64_t vocabulary);

/// A whole file as text.
std::string read_text(const std::string& path);

}  // namespace luminal::train
