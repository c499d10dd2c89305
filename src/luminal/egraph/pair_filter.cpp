#include "luminal/egraph/pair_filter.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace luminal::egraph {

std::vector<std::uint32_t> PairFilter::pairs_of(const Query& query) {
  std::vector<std::uint32_t> result;
  std::vector<std::optional<std::pair<std::size_t, Side>>> last(query.variables);
  for (std::size_t i = 0; i < query.atoms.size(); ++i) {
    const Atom& atom = query.atoms[i];
    for (std::uint32_t column = 0; column < atom.terms.size(); ++column) {
      const Term& term = atom.terms[column];
      if (!term.variable) continue;
      const Side side{atom.function, column};
      auto& before = last[term.number];
      if (before && before->first != i && !(before->second == side))
        result.push_back(pair_of(before->second, side));
      before = {i, side};
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::uint32_t PairFilter::pair_of(Side left, Side right) {
  if (std::pair(right.function, right.column) < std::pair(left.function, left.column)) std::swap(left, right);
  const auto key = std::tuple(left.function.value(), left.column, right.function.value(), right.column);
  const auto [place, fresh] = numbers_.emplace(key, static_cast<std::uint32_t>(pairs_.size()));
  if (fresh) pairs_.push_back({left, right, 0, false});
  return place->second;
}

bool PairFilter::joined(Database& database, std::uint32_t number) {
  Pair& pair = pairs_[number];
  if (pair.joined) return true;
  pair.joined =
      meets(database, pair.left, pair.right, pair.seen) || meets(database, pair.right, pair.left, pair.seen);
  pair.seen = database.now();
  return pair.joined;
}

std::size_t PairFilter::rows(const Database& database, std::uint32_t number) const {
  const Pair& pair = pairs_[number];
  return std::size_t{database.function(pair.left.function).table.rows()} +
         database.function(pair.right.function).table.rows();
}

bool PairFilter::meets(Database& database, const Side& rows, const Side& index, Stamp since) {
  const Table& table = database.function(rows.function).table;
  const Row first = table.first_since(since);
  if (first == table.rows()) return false;
  const ColumnIndex& chains = database.function(index.function).table.index(index.column);
  for (Row row = first; row < table.rows(); ++row) {
    if (chains.chain(table.row(row)[rows.column]).length != 0) return true;
  }
  return false;
}

}  // namespace luminal::egraph
