#pragma once
#include <stdexcept>
#include <string>

#include "luminal/support/location.h"

namespace luminal {

/// What went wrong with something the user gave: names the operation, what it got, what was expected, and,
/// where known, the line of the user's program. The library throws nothing else for bad input, and never
/// aborts.
class Error : public std::runtime_error {
 public:
  /// `problem` is one sentence such as "add: shapes [2, 3] and [4, 3] differ at axis 0: 2 against 4".
  explicit Error(const std::string& problem, Location where = {});

  /// The sentence without the location.
  const std::string& problem() const { return problem_; }
  Location where() const { return where_; }

 private:
  std::string problem_;
  Location where_;
};

/// A broken promise of our own. `detail` carries the printed IR where there is one.
class InternalError : public std::logic_error {
 public:
  explicit InternalError(const std::string& problem, const std::string& detail = "");
};

/// Throws InternalError if `holds` is false.
void ensure(bool holds, const char* promise);

}  // namespace luminal
