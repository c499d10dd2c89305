#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// For one column of a table: which rows hold a value, newest first, so that a walk restricted to new rows
/// can stop early. Rows that died stay in the chains until the table is compacted.
class ColumnIndex {
 public:
  struct Chain {
    Row head = no_row;
    std::uint32_t length = 0;
  };

  ColumnIndex() = default;
  ColumnIndex(const ColumnIndex& other);
  ColumnIndex& operator=(const ColumnIndex& other);
  ColumnIndex(ColumnIndex&&) = default;
  ColumnIndex& operator=(ColumnIndex&&) = default;
  ~ColumnIndex() = default;

  Chain chain(Value value) const {
    const std::size_t page = value / page_size;
    if (page >= pages_.size() || !pages_[page]) return {};
    return (*pages_[page])[value % page_size];
  }
  Row next(Row row) const { return next_[row]; }
  Row indexed_rows() const { return static_cast<Row>(next_.size()); }
  /// How many different values the column has had.
  std::size_t distinct() const { return distinct_; }
  void append(Value value);
  void reserve(std::size_t rows) { next_.reserve(rows); }
  void clear();
  std::size_t bytes() const;
  std::size_t used_bytes() const { return page_count_ * sizeof(Page) + next_.size() * sizeof(Row); }

 private:
  static constexpr std::size_t page_size = 256;
  using Page = std::array<Chain, page_size>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<Row> next_;
  std::size_t distinct_ = 0;
  std::size_t page_count_ = 0;
};

}  // namespace luminal::egraph
