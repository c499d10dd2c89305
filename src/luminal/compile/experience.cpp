#include "luminal/compile/experience.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace luminal {
namespace {

using codegen::NestSchedule;
using codegen::NestShape;
using codegen::Schedule;

constexpr std::size_t first_loop = 12;  // among the numbers: of the loop whose points are lanes,
constexpr std::size_t loops = 4;        // the last ones of the domain, and all others
constexpr std::size_t numbers_of_a_nest = first_loop + loops;

double pieces(double whole, std::int64_t piece) {
  return std::max(1.0, std::ceil(whole / static_cast<double>(std::max<std::int64_t>(1, piece))));
}

/// By how much more there is to do, because the last piece is whole, too.
double waste(double whole, std::int64_t piece) {
  return std::log(pieces(whole, piece) * static_cast<double>(piece) / std::max(1.0, whole));
}

/// What of a nest's schedule decides how it does, so scaled that a difference of 1 is one that matters.
void add_numbers(const NestSchedule& nest, const NestShape& shape, GaussianProcess::Point& sum) {
  std::vector<double> numbers;
  if (nest.tiles) {
    const auto& tiles = *nest.tiles;
    const double rows = pieces(shape.rows, tiles.block_rows);
    const double columns = pieces(shape.columns, tiles.block_columns);
    const double batch = std::max(1.0, shape.points / (shape.rows * shape.columns));
    const double block = static_cast<double>(tiles.block_rows) * static_cast<double>(tiles.block_columns);
    numbers = {2,
               tiles.library ? 2.0 : 0.0,
               std::log2(tiles.rows),
               std::log2(tiles.vectors),
               0.7 * std::log2(rows),
               0.7 * std::log2(columns),
               0.5 * std::log2(rows * columns * batch),
               0.5 * std::log2(pieces(shape.depth, tiles.depth)),
               6 * waste(shape.rows, tiles.rows),
               6 * waste(shape.columns, std::int64_t{tiles.vectors} * nest.lanes),
               0.3 * std::log2(block)};
  } else {
    const double task = static_cast<double>(nest.grain) * static_cast<double>(nest.chunk);
    const auto tasks = std::max(1.0, shape.points / std::min(shape.points, task));
    const auto chunks = pieces(shape.points, nest.chunk);
    numbers = {0,
               0,
               std::log2(nest.lanes),
               nest.vector_loop ? 1.0 : 0.0,
               nest.retile ? 1.5 : 0.0,
               0,
               0.3 * std::log2(tasks),
               0.3 * std::log2(chunks)};
    numbers.resize(numbers_of_a_nest);
    numbers[11] = nest.cover.empty() ? 0 : 1;
    if (nest.vector_loop) {
      const auto place = std::find(shape.loops.rbegin(), shape.loops.rend(), *nest.vector_loop);
      const auto from_last = static_cast<std::size_t>(place - shape.loops.rbegin());
      numbers[first_loop + std::min(from_last, loops - 1)] = 1.2;
    }
  }
  for (std::size_t k = 0; k < numbers.size(); ++k) sum[k] += numbers[k];
}

/// Of all its nests, on average.
GaussianProcess::Point point_of(const Schedule& schedule, const std::vector<NestShape>& shapes) {
  GaussianProcess::Point sum(numbers_of_a_nest);
  for (std::size_t k = 0; k < schedule.nests.size() && k < shapes.size(); ++k)
    add_numbers(schedule.nests[k], shapes[k], sum);
  for (auto& number : sum) number /= static_cast<double>(std::max<std::size_t>(1, shapes.size()));
  return sum;
}

/// What of a kernel decides what schedules do well.
GaussianProcess::Point point_of(const TunedKernel& kernel) {
  GaussianProcess::Point point(search::family_count);
  point[static_cast<std::size_t>(kernel.prior.family)] = 2;
  const NestShape shape = kernel.nests.empty() ? NestShape{} : kernel.nests.front();
  const auto add = [&](double scale, double number) {
    point.push_back(scale * std::log2(std::max(1.0, number)));
  };
  add(0.15, shape.points);
  add(0.15, shape.depth);
  add(0.3, shape.rows);
  add(0.3, shape.columns);
  add(0.15, kernel.prior.seconds * 1e6);
  point.push_back(kernel.nests.size() > 1 ? 1 : 0);
  return point;
}

double distance(const GaussianProcess::Point& a, const GaussianProcess::Point& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

GaussianProcess::Point joined(const GaussianProcess::Point& a, const GaussianProcess::Point& b) {
  GaussianProcess::Point all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

}  // namespace

void Experience::add(const TunedKernel& kernel, const Schedule& schedule, double ratio) {
  constexpr double most = 1.5;  // one that is very slow tells no more than slow ones
  const auto [known, fresh] = known_.try_emplace(kernel.key);
  if (fresh) known->second.kernel = point_of(kernel);
  known->second.tried.push_back({point_of(schedule, kernel.nests), std::clamp(std::log(ratio), -most, most)});
}

std::vector<std::size_t> Experience::pick(const TunedKernel& kernel, const std::vector<Schedule>& schedules,
                                          std::size_t count) const {
  constexpr std::size_t enough = 200;
  constexpr std::size_t of_a_kernel = 150;
  constexpr double foreign = 1.2;  // how far away what others tried is at least
  // A kernel is judged by what it tries first. What is found no more near what is known may be elsewhere.
  constexpr double least_hope = 0.1;
  const double curiosity =
      kernel.candidates.empty() ? 0.1 : 0.7 / std::sqrt(std::max(least_hope, kernel.hope));
  const GaussianProcess::Point here = point_of(kernel);
  // What the kernel itself tried, then those like it.
  std::vector<std::pair<double, const Known*>> nearest;
  for (const auto& [key, known] : known_)
    nearest.emplace_back(key == kernel.key ? -1 : distance(here, known.kernel), &known);
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  GaussianProcess process({.near = 0.25, .reach = 1.5, .noise = 0.02});
  std::vector<double> numbers;
  for (const auto& [far, known] : nearest) {
    const std::size_t latest = known->tried.size() - std::min(known->tried.size(), of_a_kernel);
    GaussianProcess::Point there = known->kernel;
    there.push_back(far < 0 ? 0 : foreign);
    for (std::size_t k = latest; k < known->tried.size() && numbers.size() < enough; ++k) {
      process.add(joined(there, known->tried[k].schedule));
      numbers.push_back(known->tried[k].logarithm);
    }
  }
  process.fit(numbers);
  std::vector<GaussianProcess::Point> points;
  points.reserve(schedules.size());
  GaussianProcess::Point own = here;
  own.push_back(0);
  for (const auto& schedule : schedules) points.push_back(joined(own, point_of(schedule, kernel.nests)));
  return process.pick(points, count, curiosity);
}

}  // namespace luminal
