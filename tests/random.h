#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace luminal::test {

/// How many trials a randomised suite runs: `sample` by default, `full` under `./luminal test -L slow`, and a
/// part of the sample where LUMINAL_SAMPLE=1/n asks for it, as with sanitizers, which are slow.
inline int trials(int sample, int full) {
  const char* wanted = std::getenv("LUMINAL_FULL");
  if (wanted != nullptr && std::string(wanted) == "1") return full;
  const char* part = std::getenv("LUMINAL_SAMPLE");
  const int divisor = part != nullptr && std::string(part).starts_with("1/") ? std::atoi(part + 2) : 1;
  return std::max(1, sample / std::max(1, divisor));
}

/// The trials that this process runs, of `count`: all, or every n-th of them with LUMINAL_SHARD=k/n.
inline std::vector<int> shard(int count) {
  int first = 0;
  int step = 1;
  if (const char* wanted = std::getenv("LUMINAL_SHARD")) {
    char* rest = nullptr;
    first = static_cast<int>(std::strtol(wanted, &rest, 10));
    if (*rest == '/') step = static_cast<int>(std::strtol(rest + 1, nullptr, 10));
  }
  std::vector<int> result;
  for (int k = first; k < count; k += step < 1 ? 1 : step) result.push_back(k);
  return result;
}

/// A small generator (splitmix64) whose sequence is the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// A whole number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace luminal::test
