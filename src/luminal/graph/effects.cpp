#include "luminal/graph/effects.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

std::string sample(const Array& array, std::int64_t from, std::int64_t to) {
  std::string text = "[";
  for (std::int64_t i = from; i < to; ++i) text += cat(i == from ? "" : ", ", to_number(array.at(i)));
  return text + "]";
}

void run_print(const attribute::Print& print, const Array& array, const Sink& sink) {
  sink(print.message);
  sink(cat("  ", array.size(), " elements of ", array.dtype(), ", shape [", join(array.dims()), "]"));
  const std::int64_t size = array.size();
  if (size <= 15) {
    sink("  " + sample(array, 0, size));
    return;
  }
  const std::int64_t middle = (size - 5) / 2;
  sink("  first  " + sample(array, 0, 5));
  sink("  middle " + sample(array, middle, middle + 5));
  sink("  last   " + sample(array, size - 5, size));
}

std::vector<float> read_file(const std::string& path, Location where) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw Error(cat("diff: the file ", in_quotes(path), " cannot be read"), where);
  const auto bytes = static_cast<std::int64_t>(file.tellg());
  if (bytes < 0 || bytes % 4 != 0)
    throw Error(cat("diff: the file ", in_quotes(path), " has ", bytes, " bytes, expected a multiple of 4"),
                where);
  std::vector<float> values(static_cast<std::size_t>(bytes / 4));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), bytes);
  if (!file && bytes > 0) throw Error(cat("diff: the file ", in_quotes(path), " cannot be read"), where);
  return values;
}

std::string range_text(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return cat("min ", *low, ", max ", *high, ", mean ", sum / static_cast<double>(values.size()));
}

struct Mismatch {
  std::size_t index;
  double distance;
};

void report(const std::vector<double>& ours, const std::vector<double>& theirs,
            std::vector<Mismatch> distances, std::size_t beyond, const Sink& sink) {
  const auto count = static_cast<double>(distances.size());
  double sum = 0;
  double squares = 0;
  for (const auto& entry : distances) {
    sum += entry.distance;
    squares += entry.distance * entry.distance;
  }
  std::stable_sort(distances.begin(), distances.end(),
                   [](const auto& a, const auto& b) { return a.distance > b.distance; });
  const auto percentile = [&](double share) {
    return distances[static_cast<std::size_t>((1 - share) * (count - 1))].distance;
  };
  sink(cat("  ", beyond, " of ", distances.size(), " elements differ beyond the tolerance"));
  sink(cat("  distance: mean ", sum / count, ", max ", distances[0].distance, ", sum of squares ", squares));
  sink(cat("  percentiles: p50 ", percentile(0.5), ", p95 ", percentile(0.95), ", p99 ", percentile(0.99)));
  for (std::size_t i = 0; i < std::min<std::size_t>(10, distances.size()) && distances[i].distance > 0; ++i)
    sink(cat("  element ", distances[i].index, ": ", ours[distances[i].index], " against ",
             theirs[distances[i].index]));
  sink("  tensor: " + range_text(ours));
  sink("  file:   " + range_text(theirs));
}

void run_diff(const attribute::Diff& diff, const Array& array, const Sink& sink, Location where) {
  const std::vector<float> file = read_file(diff.file, where);
  if (static_cast<std::int64_t>(file.size()) != array.size()) {
    sink(cat("diff ", in_quotes(diff.file), ": FAILED: the tensor has ", array.size(), " elements, the file ",
             file.size()));
    return;
  }
  std::vector<double> ours;
  const std::vector<double> theirs(file.begin(), file.end());
  for (std::int64_t i = 0; i < array.size(); ++i) ours.push_back(to_double(array.at(i)));
  std::vector<Mismatch> distances;
  std::size_t beyond = 0;
  std::size_t nan_ours = 0;
  std::size_t nan_theirs = 0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    nan_ours += std::isnan(ours[i]) ? 1 : 0;
    nan_theirs += std::isnan(theirs[i]) ? 1 : 0;
    const bool same = ours[i] == theirs[i] || (std::isnan(ours[i]) && std::isnan(theirs[i]));
    const double distance = same ? 0 : std::abs(ours[i] - theirs[i]);
    if (!same && !(distance <= diff.absolute + diff.relative * std::abs(theirs[i]))) ++beyond;
    distances.push_back({i, distance});
  }
  if (nan_ours + nan_theirs > 0)
    sink(cat("diff ", in_quotes(diff.file), ": NaN in ", nan_ours, " elements of the tensor, ", nan_theirs,
             " of the file"));
  sink(cat("diff ", in_quotes(diff.file), ": ", beyond == 0 ? "ok" : "FAILED"));
  if (beyond > 0) report(ours, theirs, std::move(distances), beyond, sink);
}

}  // namespace

void run_effect(const Node& node, const Array& array, const Sink& sink) {
  const Sink out = sink ? sink : Sink([](std::string_view) {});
  if (const auto* print = node.try_get<attribute::Print>()) run_print(*print, array, out);
  if (const auto* diff = node.try_get<attribute::Diff>()) run_diff(*diff, array, out, node.where);
}

}  // namespace luminal
