#pragma once
#include <map>
#include <string>
#include <vector>

#include "luminal/compile/options.h"
#include "luminal/graph/dag.h"

namespace luminal {

/// One range a dim, of those that have buckets: what one plan is for.
using BucketChoice = std::map<std::string, Bucket>;

/// Every combination of the buckets; one empty choice if there are none. `Error` for a bucket of something
/// that is no dim, one without values, and more combinations than anyone wants to compile.
std::vector<BucketChoice> bucket_choices(const std::map<std::string, std::vector<Bucket>>& buckets,
                                         const Dag& dag, Location where);

/// The first choice that holds these dims. Dims without a value fit anywhere. `Error` naming the dim if none
/// does.
std::size_t choice_for(const std::vector<BucketChoice>& choices, const DimMap& dims, Location where);

}  // namespace luminal
