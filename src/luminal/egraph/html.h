#pragma once
#include <string>

#include "luminal/egraph/program.h"

namespace luminal::egraph {

/// A page that stands alone: every class with its nodes, nodes linked to the classes they need, and the last
/// extracted term. Of an e-graph with more than a few hundred classes it shows the first ones and says so.
std::string html_page(Program& program, const std::string& title);

}  // namespace luminal::egraph
