#include "luminal/egraph/table.h"

#include <algorithm>
#include <array>

namespace luminal::egraph {

bool Table::same_key(Row row, const Value* key) const {
  const Value* cells = this->row(row);
  for (std::size_t i = 0; i < inputs_; ++i) {
    if (cells[i] != key[i]) return false;
  }
  return true;
}

Row Table::find(const Value* key, std::uint32_t hash) const {
  if (slots_.empty()) return no_row;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.row == no_row) return no_row;
    if (slot.hash == hash && same_key(slot.row, key)) return slot.row;
  }
}

std::size_t Table::slot_of(Row row) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(this->row(row)) & mask;
  while (slots_[i].row != row) i = (i + 1) & mask;
  return i;
}

void Table::insert_slot(std::uint32_t hash, Row row) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].row != no_row) i = (i + 1) & mask;
  slots_[i] = {hash, row};
}

// Closes the gap by moving back every follower whose home is at or before it, so no tombstones are needed.
void Table::erase_slot(std::size_t slot) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t gap = slot;
  for (std::size_t i = (slot + 1) & mask; slots_[i].row != no_row; i = (i + 1) & mask) {
    const std::size_t home = slots_[i].hash & mask;
    if (((i - home) & mask) >= ((i - gap) & mask)) {
      slots_[gap] = slots_[i];
      gap = i;
    }
  }
  slots_[gap] = {};
}

void Table::grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max<std::size_t>(16, old.size() * 2), Slot{});
  for (const Slot& slot : old) {
    if (slot.row != no_row) insert_slot(slot.hash, slot.row);
  }
}

void Table::push_cells(const Value* cells, bool subsumed, Stamp now) {
  if (epochs_.empty() || epochs_.back().stamp != now) epochs_.push_back({now, rows()});
  cells_.insert(cells_.end(), cells, cells + width_);
  flags_.push_back(subsumed ? subsumed_bit : std::uint8_t{0});
}

Row Table::append(const Value* cells, std::uint32_t hash, bool subsumed, Stamp now) {
  if ((live_ + 1) * 2 > slots_.size()) grow();
  insert_slot(hash, rows());
  push_cells(cells, subsumed, now);
  ++live_;
  return rows() - 1;
}

void Table::kill(Row row) {
  erase_slot(slot_of(row));
  flags_[row] |= dead_bit;
  --live_;
}

Row Table::replace(Row row, Value output, bool subsumed, Stamp now) {
  const std::size_t slot = slot_of(row);
  flags_[row] |= dead_bit;
  slots_[slot].row = rows();
  // Appended from a copy: growing the row store would move the cells that are being read.
  std::array<Value, 16> few{};
  std::vector<Value> many;
  Value* cells = few.data();
  if (width_ > few.size()) {
    many.resize(width_);
    cells = many.data();
  }
  std::copy_n(this->row(row), inputs_, cells);
  cells[inputs_] = output;
  push_cells(cells, subsumed, now);
  return rows() - 1;
}

Row Table::first_since(Stamp since) const {
  if (epochs_.empty() || epochs_.back().stamp < since) return rows();
  const auto found = std::lower_bound(epochs_.begin(), epochs_.end(), since,
                                      [](const Epoch& epoch, Stamp stamp) { return epoch.stamp < stamp; });
  return found->first;
}

const ColumnIndex& Table::index(std::size_t column) {
  ColumnIndex& index = indexes_[column];
  if (index.indexed_rows() < rows()) {
    for (std::size_t i = index.indexed_rows() * width_ + column; i < cells_.size(); i += width_) {
      index.append(cells_[i]);
    }
  }
  return index;
}

const ColumnIndex* Table::ready_index(std::size_t column) const {
  return indexes_[column].indexed_rows() == 0 ? nullptr : &indexes_[column];
}

void Table::compact_if_sparse() {
  if (rows() < 16 || live_ * 2 > rows()) return;
  std::size_t epoch = 0;
  Row kept = 0;
  for (Row row = 0; row < rows(); ++row) {
    while (epoch < epochs_.size() && epochs_[epoch].first == row) epochs_[epoch++].first = kept;
    if (dead(row)) continue;
    std::copy_n(this->row(row), width_, cells_.data() + std::size_t{kept} * width_);
    flags_[kept++] = flags_[row];
  }
  for (; epoch < epochs_.size(); ++epoch) epochs_[epoch].first = kept;
  cells_.resize(std::size_t{kept} * width_);
  flags_.resize(kept);
  std::fill(slots_.begin(), slots_.end(), Slot{});
  for (Row row = 0; row < kept; ++row) insert_slot(hash_of(this->row(row)), row);
  for (ColumnIndex& index : indexes_) index.clear();
}

std::size_t Table::bytes() const {
  std::size_t total =
      cells_.capacity() * sizeof(Value) + flags_.capacity() + slots_.capacity() * sizeof(Slot);
  for (const ColumnIndex& index : indexes_) total += index.bytes();
  return total;
}

std::size_t Table::used_bytes() const {
  std::size_t total = cells_.size() * sizeof(Value) + flags_.size() + live_ * 2 * sizeof(Slot);
  // An index that lags behind will soon need its share for every row.
  for (const ColumnIndex& index : indexes_) {
    if (index.indexed_rows() != 0) total += index.used_bytes() * rows() / index.indexed_rows();
  }
  return total;
}

}  // namespace luminal::egraph
