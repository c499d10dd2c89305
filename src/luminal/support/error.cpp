#include "luminal/support/error.h"

namespace luminal {

Error::Error(const std::string& problem, Location where)
    : std::runtime_error(where.known() ? problem + " (at " + where.short_form() + ")" : problem),
      problem_(problem),
      where_(where) {}

InternalError::InternalError(const std::string& problem, const std::string& detail)
    : std::logic_error("internal error: " + problem + (detail.empty() ? "" : "\n" + detail)) {}

void ensure(bool holds, const char* promise) {
  if (!holds) throw InternalError(promise);
}

}  // namespace luminal
