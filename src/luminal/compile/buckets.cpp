#include "luminal/compile/buckets.h"

#include <algorithm>

#include "luminal/support/error.h"
#include "luminal/support/text.h"

namespace luminal {
namespace {

constexpr std::size_t most_choices = 64;

std::string text(const Bucket& bucket) {
  return cat("[", bucket.low, ", ", bucket.high, "]");
}

void require_values(const std::string& name, const Bucket& bucket, const Dag& dag, Location where) {
  const auto found = dag.variables().find(name);
  if (found == dag.variables().end())
    throw Error(cat("compile: a bucket for '", name, "', which is no dim of the graph"), where);
  const Interval bounds = found->second.declared_bounds();
  if (bucket.low > bucket.high || (bounds.low && bucket.high < *bounds.low) ||
      (bounds.high && bucket.low > *bounds.high))
    throw Error(cat("compile: the bucket ", text(bucket), " of '", name, "' holds no value it can have"),
                where);
}

bool holds(const BucketChoice& choice, const DimMap& dims) {
  return std::all_of(choice.begin(), choice.end(), [&](const auto& each) {
    const auto found = dims.find(each.first);
    return found == dims.end() || each.second.contains(found->second);
  });
}

}  // namespace

std::vector<BucketChoice> bucket_choices(const std::map<std::string, std::vector<Bucket>>& buckets,
                                         const Dag& dag, Location where) {
  std::vector<BucketChoice> choices = {{}};
  for (const auto& [name, ranges] : buckets) {
    std::vector<BucketChoice> longer;
    if (ranges.empty()) throw Error(cat("compile: no buckets for '", name, "'"), where);
    for (const auto& range : ranges) {
      require_values(name, range, dag, where);
      for (auto choice : choices) {
        choice.insert_or_assign(name, range);
        longer.push_back(std::move(choice));
      }
    }
    choices = std::move(longer);
    if (choices.size() > most_choices)
      throw Error(cat("compile: the buckets have more than ", most_choices, " combinations"), where);
  }
  return choices;
}

std::size_t choice_for(const std::vector<BucketChoice>& choices, const DimMap& dims, Location where) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&](const auto& choice) { return holds(choice, dims); });
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  std::string tried;
  for (const auto& [name, first] : choices.front()) {
    const auto value = dims.find(name);
    if (value == dims.end()) continue;
    std::vector<std::string> ranges;
    bool inside = false;
    for (const auto& choice : choices) {
      const Bucket& bucket = choice.at(name);
      inside = inside || bucket.contains(value->second);
      if (std::find(ranges.begin(), ranges.end(), text(bucket)) == ranges.end())
        ranges.push_back(text(bucket));
    }
    if (inside) continue;
    tried += cat(tried.empty() ? "" : ", and ", "'", name, "' = ", value->second, " is outside of the bucket",
                 ranges.size() == 1 ? " " : "s ", join(ranges));
  }
  throw Error(cat("run: ", tried, " it was compiled for"), where);
}

}  // namespace luminal
