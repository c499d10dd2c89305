#include "luminal/nn/init.h"

#include <cmath>
#include <numbers>

#include "luminal/op/philox.h"
#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal::nn::init {
namespace {

/// A stream of random numbers under one key.
class Numbers {
 public:
  explicit Numbers(std::uint64_t key) : key_(key) {}
  /// In (0, 1).
  double unit() { return (static_cast<double>(philox(key_, 0, next_++)) + 0.5) * 0x1.0p-32; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t key_;
  std::uint64_t next_ = 0;
};

template <typename F>
Array filled(const std::vector<std::int64_t>& dims, DType dtype, F&& value) {
  Array array(dtype, dims);
  for (std::int64_t i = 0; i < array.size(); ++i) array.set(i, make_scalar(dtype, Number(value())));
  return array;
}

struct Fans {
  double in;
  double out;
};

Fans fans(const std::vector<std::int64_t>& dims) {
  if (dims.size() < 2)
    throw Error(cat("initialiser: [", join(dims), "] has no fan-in and fan-out; expected at least two axes"));
  double window = 1;
  for (std::size_t i = 2; i < dims.size(); ++i) window *= static_cast<double>(dims[i]);
  return {static_cast<double>(dims[1]) * window, static_cast<double>(dims[0]) * window};
}

double leaky_gain(double slope) {
  return std::sqrt(2 / (1 + slope * slope));
}

}  // namespace

Initialiser constant(double value) {
  return [=](const auto& dims, DType dtype, std::uint64_t) {
    return filled(dims, dtype, [=] { return value; });
  };
}
Initialiser zeros() {
  return constant(0);
}
Initialiser ones() {
  return constant(1);
}

Initialiser uniform(double low, double high) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    Numbers numbers(key);
    return filled(dims, dtype, [&] { return low + (high - low) * numbers.unit(); });
  };
}

Initialiser normal(double mean, double deviation) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    Numbers numbers(key);
    return filled(dims, dtype, [&] { return mean + deviation * numbers.normal(); });
  };
}

Initialiser truncated_normal(double mean, double deviation) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    Numbers numbers(key);
    return filled(dims, dtype, [&] {
      double drawn = numbers.normal();
      while (std::abs(drawn) > 2) drawn = numbers.normal();
      return mean + deviation * drawn;
    });
  };
}

Initialiser xavier_uniform(double gain) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    const Fans f = fans(dims);
    const double bound = gain * std::sqrt(6 / (f.in + f.out));
    return uniform(-bound, bound)(dims, dtype, key);
  };
}

Initialiser xavier_normal(double gain) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    const Fans f = fans(dims);
    return normal(0, gain * std::sqrt(2 / (f.in + f.out)))(dims, dtype, key);
  };
}

Initialiser kaiming_uniform(double slope) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    const double bound = leaky_gain(slope) * std::sqrt(3 / fans(dims).in);
    return uniform(-bound, bound)(dims, dtype, key);
  };
}

Initialiser kaiming_normal(double slope) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    return normal(0, leaky_gain(slope) / std::sqrt(fans(dims).in))(dims, dtype, key);
  };
}

Initialiser orthogonal(double gain) {
  return [=](const auto& dims, DType dtype, std::uint64_t key) {
    const Fans f = fans(dims);
    const auto rows = static_cast<std::size_t>(dims[0]);
    const std::size_t columns = rows == 0 ? 0 : static_cast<std::size_t>(f.in);
    const bool wide = columns >= rows;
    const std::size_t count = wide ? rows : columns;  // vectors to make orthonormal
    const std::size_t length = wide ? columns : rows;
    Numbers numbers(key);
    std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
    for (std::size_t i = 0; i < count; ++i) {
      for (auto& x : vectors[i]) x = numbers.normal();
      for (int pass = 0; pass < 2; ++pass) {  // once more against what rounding left
        for (std::size_t j = 0; j < i; ++j) {
          double product = 0;
          for (std::size_t k = 0; k < length; ++k) product += vectors[i][k] * vectors[j][k];
          for (std::size_t k = 0; k < length; ++k) vectors[i][k] -= product * vectors[j][k];
        }
      }
      double norm = 0;
      for (const double x : vectors[i]) norm += x * x;
      for (auto& x : vectors[i]) x /= std::sqrt(norm);
    }
    std::size_t next = 0;
    return filled(dims, dtype, [&] {
      const std::size_t row = next / columns;
      const std::size_t column = next % columns;
      ++next;
      return gain * (wide ? vectors[row][column] : vectors[column][row]);
    });
  };
}

}  // namespace luminal::nn::init
