#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/egraph/column_index.h"
#include "luminal/egraph/types.h"

namespace luminal::egraph {

/// The rows of one function: inputs, then the output. Rows are appended in the order of time and never move
/// until `compact`; a row whose key or output changes dies and is appended anew, so what is new since an
/// iteration is a suffix. At most one living row has a given key.
class Table {
 public:
  explicit Table(std::size_t inputs) : inputs_(inputs), width_(inputs + 1), indexes_(inputs + 1) {}

  std::size_t inputs() const { return inputs_; }
  std::size_t width() const { return width_; }
  /// Living and dead rows.
  Row rows() const { return static_cast<Row>(flags_.size()); }
  std::size_t live() const { return live_; }

  const Value* row(Row row) const { return cells_.data() + std::size_t{row} * width_; }
  Value output(Row row) const { return cells_[std::size_t{row} * width_ + inputs_]; }
  bool dead(Row row) const { return (flags_[row] & dead_bit) != 0; }
  bool subsumed(Row row) const { return (flags_[row] & subsumed_bit) != 0; }
  /// Neither dead nor subsumed: a row that rules see.
  bool matchable(Row row) const { return flags_[row] == 0; }

  /// What the table files a key under. Asking for the hash first lets a caller with many keys have the memory
  /// that `find` will look at fetched meanwhile.
  std::uint32_t hash_of(const Value* key) const {
    std::uint64_t state = 0x9E3779B97F4A7C15ULL;
    for (std::size_t i = 0; i < inputs_; ++i) {
      state = (state ^ key[i]) * 0xD6E8FEB86659FD93ULL;
      state ^= state >> 32;
    }
    return static_cast<std::uint32_t>(state);
  }
  void prefetch(std::uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]);
  }
  /// As `prefetch`, for the row that the slot points to; the slot should have arrived.
  void prefetch_row(std::uint32_t hash) const {
    if (slots_.empty()) return;
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.row != no_row && slot.hash == hash) __builtin_prefetch(row(slot.row));
  }

  /// The living row with these inputs, or `no_row`.
  Row find(const Value* key) const { return find(key, hash_of(key)); }
  Row find(const Value* key, std::uint32_t hash) const;
  /// Adds a row whose key no living row has.
  Row append(const Value* cells, bool subsumed, Stamp now) {
    return append(cells, hash_of(cells), subsumed, now);
  }
  Row append(const Value* cells, std::uint32_t hash, bool subsumed, Stamp now);
  void kill(Row row);
  /// From now on rules do not see this living row.
  void subsume(Row row) { flags_[row] |= subsumed_bit; }
  /// Puts another output, or the subsumed mark, on a living row: the row dies and its successor is returned.
  Row replace(Row row, Value output, bool subsumed, Stamp now);
  /// The first row written at `since` or later.
  Row first_since(Stamp since) const;
  Stamp last_written() const { return epochs_.empty() ? 0 : epochs_.back().stamp; }

  /// The index of a column, brought up to date.
  const ColumnIndex& index(std::size_t column);
  /// As it was when last brought up to date; null if it was never asked for.
  const ColumnIndex* ready_index(std::size_t column) const;
  /// Forgets dead rows if they are the majority. Row numbers change.
  void compact_if_sparse();
  /// The memory that is reserved.
  std::size_t bytes() const;
  /// The memory that the rows need, without what growing reserved ahead: it grows evenly.
  std::size_t used_bytes() const;

 private:
  static constexpr std::uint8_t dead_bit = 1;
  static constexpr std::uint8_t subsumed_bit = 2;
  struct Slot {
    std::uint32_t hash = 0;
    Row row = no_row;
  };
  struct Epoch {
    Stamp stamp;
    Row first;
  };

  bool same_key(Row row, const Value* key) const;
  std::size_t slot_of(Row row) const;
  void insert_slot(std::uint32_t hash, Row row);
  void erase_slot(std::size_t slot);
  void grow();
  void push_cells(const Value* cells, bool subsumed, Stamp now);

  std::size_t inputs_;
  std::size_t width_;
  std::vector<Value> cells_;
  std::vector<std::uint8_t> flags_;
  std::vector<Slot> slots_;
  std::size_t live_ = 0;
  std::vector<Epoch> epochs_;
  std::vector<ColumnIndex> indexes_;
};

}  // namespace luminal::egraph
