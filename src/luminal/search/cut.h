#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "luminal/search/cost.h"
#include "luminal/search/map.h"

namespace luminal::search {

/// A body, and what choosing between bodies needs to know of it.
struct Cut {
  BodyRef body;
  std::uint64_t key = 0;
  std::size_t size = 0;             // classes that it computes
  std::vector<ClassId> reductions;  // those of them that are reductions
  std::vector<ClassId> leaves;      // ascending
  std::vector<std::pair<ClassId, std::uint64_t>>
      inlined;  // ascending by class: which body each class has here
  mutable bool priced = false;
  mutable std::optional<Estimate> cost;
  mutable std::uint64_t lowered = 0;  // equal for equal kernels on equal classes
};
using CutRef = std::shared_ptr<const Cut>;

/// A class that is read as it is.
CutRef leaf_cut(ClassId owner);
/// A term, given by its number in the class that it is of, on bodies for its children. None if one class
/// would be written in two ways.
CutRef combined(ClassId owner, const rewriting::Term& term, std::size_t number,
                const std::vector<CutRef>& children);

}  // namespace luminal::search
