#include "luminal/support/location.h"

namespace luminal {

std::string Location::short_form() const {
  const std::string path = file;
  const auto slash = path.find_last_of('/');
  return (slash == std::string::npos ? path : path.substr(slash + 1)) + ":" + std::to_string(line);
}

}  // namespace luminal
