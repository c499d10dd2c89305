#pragma once
#include <memory>
#include <string>

#include "luminal/luminal.h"
#include "luminal/train/config.h"

namespace luminal::cli {

/// What the "data" and "model" parts of a configuration describe.
struct Task {
  train::Build build;
  std::shared_ptr<const train::Dataset> data;
  std::shared_ptr<const train::Dataset> evaluation;
};
/// `folder` is where relative paths of data files start. `Error` for data and a model that do not go
/// together.
Task make_task(train::Config& data, train::Config& model, const std::string& folder, std::uint64_t seed);

}  // namespace luminal::cli
