#include "luminal/cli/output_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

#include "luminal/io/atomic_file.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::cli {

OutputFile::OutputFile(std::string path, std::string_view command)
    : path_(std::move(path)), command_(command) {
  if (!is_wanted()) return;
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  is_regular_ =
      !is_stream() && (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
                       std::filesystem::is_directory(status));
  if (!is_regular_) {
    if (!is_stream() && ::access(path_.c_str(), W_OK) != 0) refuse();
    return;
  }
  try {
    io::require_writable(path_);
  } catch (const Error& error) {
    throw Error(cat(command_, ": ", error.problem()));
  }
}

void OutputFile::write(std::string_view content) const {
  if (!is_wanted()) return;
  if (is_regular_) {
    io::write_atomically(path_, [&](io::FileWriter& file) { file.write(content); });
    return;
  }
  if (is_stream()) {
    (path_ == "/dev/stdout" ? std::cout : std::cerr) << content << std::flush;
    return;
  }
  std::ofstream file(path_, std::ios::binary);
  file << content;
  file.close();
  if (!file) refuse();
}

bool OutputFile::is_stream() const {
  return path_ == "/dev/stdout" || path_ == "/dev/stderr";
}

void OutputFile::refuse() const {
  throw Error(cat(command_, ": the file ", in_quotes(path_), " cannot be written"));
}

void OutputFile::write_part(std::string_view content) const {
  if (is_regular_) write(content);
}

}  // namespace luminal::cli
