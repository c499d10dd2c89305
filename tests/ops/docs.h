#pragma once
#include <map>
#include <string>
#include <vector>

#include "case_file.h"

namespace luminal::ops {

/// docs/ops.md: every op with its PyTorch name, the dtypes its cases cover, and where we differ.
std::string docs_text(const std::map<std::string, std::vector<Case>>& cases);

}  // namespace luminal::ops
