#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "luminal/luminal.h"

namespace luminal::test {

/// One case of what tools/make_module_references.py wrote: arrays by name.
class Case {
 public:
  explicit Case(const std::string& name) {
    std::ifstream file(LUMINAL_SOURCE_DIR "/tests/nn/references.txt");
    std::string line;
    bool mine = false;
    while (std::getline(file, line)) {
      if (line.starts_with("case "))
        mine = line == "case " + name;
      else if (mine)
        read(line);
    }
    if (arrays_.empty()) ADD_FAILURE() << "no reference case " << name;
  }

  const Array& operator[](const std::string& key) const { return arrays_.at(key); }
  bool has(const std::string& key) const { return arrays_.contains(key); }

  /// An input of the array's type that holds it.
  Tensor input(Graph& g, const std::string& key) const {
    const Array& array = arrays_.at(key);
    std::vector<Expr> dims(array.dims().begin(), array.dims().end());
    return g.tensor(Shape(dims), array.dtype()).set(array);
  }

  void expect(const Tensor& tensor, const std::string& key, double tolerance = 2e-5) const {
    expect(tensor.array(), key, tolerance);
  }
  void expect(const Array& ours, const std::string& key, double tolerance = 2e-5) const {
    const Array& theirs = arrays_.at(key);
    ASSERT_EQ(ours.dims(), theirs.dims()) << key;
    for (std::int64_t i = 0; i < ours.size(); ++i) {
      const double a = to_double(ours.at(i));
      const double b = to_double(theirs.at(i));
      if (std::isnan(a) && std::isnan(b)) continue;
      ASSERT_NEAR(a, b, tolerance * std::max(1.0, std::abs(b))) << key << ", element " << i;
    }
  }

 private:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string key;
    std::string dtype;
    std::string dims_text;
    std::string colon;
    words >> key >> dtype >> dims_text >> colon;
    std::vector<std::int64_t> dims;
    std::istringstream parts(dims_text == "-" ? "" : dims_text);
    for (std::string part; std::getline(parts, part, ',');) dims.push_back(std::stoll(part));
    Array array(*dtype_named(dtype), dims);
    std::string word;
    for (std::int64_t i = 0; i < array.size() && words >> word; ++i)
      array.set(
          i, make_scalar(array.dtype(), is_floating(array.dtype()) ? Number(std::stod(word))
                                                                   : Number(std::int64_t{std::stoll(word)})));
    arrays_.emplace(key, array);
  }

  std::map<std::string, Array> arrays_;
};

}  // namespace luminal::test
