#pragma once
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "luminal/egraph/database.h"
#include "luminal/egraph/query.h"

namespace luminal::egraph {

/// Knows which columns of which functions have never had a value in common. A body that joins two such
/// columns cannot match, whatever else it holds. The knowledge is shared by all rules and costs a look at new
/// rows only, so a large body that never matches costs next to nothing.
class PairFilter {
 public:
  /// The joins of a query, as numbers for `joined`.
  std::vector<std::uint32_t> pairs_of(const Query& query);
  /// False if the two columns have had no value in common so far. Once true it stays true, even if rows are
  /// removed.
  bool joined(Database& database, std::uint32_t pair);
  /// How many rows the two functions have.
  std::size_t rows(const Database& database, std::uint32_t pair) const;

 private:
  struct Side {
    FunctionId function;
    std::uint32_t column;
    friend bool operator==(const Side&, const Side&) = default;
  };
  struct Pair {
    Side left;
    Side right;
    Stamp seen = 0;
    bool joined = false;
  };
  std::uint32_t pair_of(Side left, Side right);
  static bool meets(Database& database, const Side& rows, const Side& index, Stamp since);

  std::vector<Pair> pairs_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace luminal::egraph
