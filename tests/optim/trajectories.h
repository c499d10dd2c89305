#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace luminal::test {

using Doubles = std::vector<double>;

/// 50 steps of PyTorch in f32: what came in and what came out.
struct Trajectory {
  Doubles initial;
  std::vector<Doubles> gradients;
  std::vector<Doubles> values;
  std::vector<Doubles> losses;
  std::vector<Doubles> scales;
};

/// What tools/make_optimiser_references.py wrote.
struct References {
  std::map<std::string, Trajectory> trajectories;
  std::map<std::string, Doubles> rows;

  static const References& get() {
    static const References loaded;
    return loaded;
  }

  const Trajectory& trajectory(const std::string& name) const {
    const auto found = trajectories.find(name);
    if (found == trajectories.end()) throw std::runtime_error("no reference trajectory " + name);
    return found->second;
  }

 private:
  References() {
    std::ifstream file(LUMINAL_SOURCE_DIR "/tests/optim/references.txt");
    std::string line;
    Trajectory* now = nullptr;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string key;
      words >> key;
      if (key == "#") continue;
      std::string name = key;
      if (key == "optimiser" || key == "schedule") words >> name;
      Doubles numbers;
      for (double number = 0; words >> number;) numbers.push_back(number);
      if (key == "optimiser")
        now = &trajectories[name];
      else if (key == "initial")
        now->initial = numbers;
      else if (key == "gradient")
        now->gradients.push_back(numbers);
      else if (key == "value")
        now->values.push_back(numbers);
      else if (key == "loss")
        now->losses.push_back(numbers);
      else if (key == "scale")
        now->scales.push_back(numbers);
      else
        rows[name] = numbers;
    }
  }
};

/// Element by element, within 1e-5 of the element's own size: no absolute part, so that a small element
/// counts as much as a large one.
inline void expect_relative(const std::vector<float>& ours, const Doubles& theirs, const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  for (std::size_t i = 0; i < ours.size(); ++i)
    ASSERT_LE(std::abs(static_cast<double>(ours[i]) - theirs[i]), 1e-5 * std::abs(theirs[i]))
        << what << ", element " << i << ": " << ours[i] << " against " << theirs[i];
}

}  // namespace luminal::test
