#include "luminal/egraph/types.h"

#include "luminal/support/text.h"

namespace luminal::egraph {

ProgramError::ProgramError(const std::string& problem, Span span, Fault fault)
    : Error(span.line == 0 ? problem : cat(span.line, ":", span.column, ": ", problem)),
      span_(span),
      fault_(fault) {}

}  // namespace luminal::egraph
