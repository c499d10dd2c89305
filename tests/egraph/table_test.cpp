#include "luminal/egraph/table.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/random.h"

namespace luminal::egraph {
namespace {

struct Entry {
  Value output = 0;
  bool subsumed = false;
  Stamp written = 0;
};
using Reference = std::map<std::pair<Value, Value>, Entry>;

void expect_same(Table& table, const Reference& reference) {
  ASSERT_EQ(table.live(), reference.size());
  for (const auto& [key, entry] : reference) {
    const Value cells[] = {key.first, key.second};
    const Row row = table.find(cells);
    ASSERT_NE(row, no_row);
    ASSERT_EQ(table.output(row), entry.output);
    ASSERT_EQ(table.subsumed(row), entry.subsumed);
    ASSERT_EQ(row >= table.first_since(entry.written), true);
    ASSERT_EQ(row < table.first_since(entry.written + 1), true);
  }
  for (std::size_t column = 0; column < 3; ++column) {
    std::map<Value, std::size_t> counts;
    for (const auto& [key, entry] : reference)
      ++counts[column == 0 ? key.first : column == 1 ? key.second : entry.output];
    const ColumnIndex& index = table.index(column);
    for (Value value = 0; value < 20; ++value) {
      std::size_t found = 0;
      Row before = no_row;
      for (Row row = index.chain(value).head; row != no_row; row = index.next(row)) {
        ASSERT_LT(row, before);
        before = row;
        if (!table.dead(row)) ++found;
      }
      ASSERT_EQ(found, counts[value]);
    }
  }
}

TEST(Table, RandomOperationsEqualAMap) {
  for (int trial = 0; trial < test::trials(60, 1000); ++trial) {
    test::Random random(static_cast<std::uint64_t>(trial));
    Table table(2);
    Reference reference;
    Stamp now = 1;
    for (int step = 0; step < 400; ++step) {
      const auto small = [&] { return static_cast<Value>(random.between(0, 9)); };
      const Value cells[] = {small(), small(), small()};
      const std::pair key(cells[0], cells[1]);
      const Row row = table.find(cells);
      ASSERT_EQ(row != no_row, reference.contains(key));
      const std::int64_t action = random.between(0, 9);
      if (row == no_row) {
        table.append(cells, false, now);
        reference[key] = {cells[2], false, now};
      } else if (action < 5) {
        table.kill(row);
        reference.erase(key);
      } else if (action < 8) {
        table.replace(row, cells[2], reference[key].subsumed, now);
        reference[key] = {cells[2], reference[key].subsumed, now};
      } else {
        table.subsume(row);
        reference[key].subsumed = true;
      }
      if (random.chance(0.1)) ++now;
      if (random.chance(0.1)) table.compact_if_sparse();
      if (random.chance(0.05)) expect_same(table, reference);
    }
    table.compact_if_sparse();
    expect_same(table, reference);
    if (HasFatalFailure()) return;
  }
}

TEST(Table, WideRows) {
  Table table(40);
  std::vector<Value> cells(41);
  for (Value i = 0; i < 100; ++i) {
    cells[39] = i;
    cells[40] = i;
    table.append(cells.data(), false, 1);
  }
  cells[39] = 50;
  const Row row = table.replace(table.find(cells.data()), 7, true, 2);
  EXPECT_EQ(table.output(row), 7U);
  EXPECT_EQ(table.find(cells.data()), row);
  EXPECT_TRUE(table.subsumed(row));
}

TEST(Table, WithoutInputsHasOneRow) {
  Table table(0);
  EXPECT_EQ(table.find(nullptr), no_row);
  const Value output = 3;
  table.append(&output, false, 1);
  EXPECT_EQ(table.output(table.find(nullptr)), 3U);
}

}  // namespace
}  // namespace luminal::egraph
