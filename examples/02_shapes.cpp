// Lesson 2: movements cost nothing. They change how a value is read, and compose into one index map.
#include <luminal/luminal.h>

#include <iostream>

using namespace luminal;

int main() {
  Graph g;
  Tensor x = g.iota({2, 3}, 1) + g.iota({2, 3}, 0) * 10;  // x[i][j] = 10 i + j
  Tensor columns = x.permute({1, 0}).retrieve();
  Tensor flat = x.permute({1, 0}).reshape({6}).retrieve();  // any reshape of any view is legal
  Tensor padded = x.pad(1, 1, 1, -1).retrieve();
  Tensor windows = g.iota({6}, 0).unfold(0, 3, 2).retrieve();  // windows of 3, one every 2
  Tensor sums = x.sum(1).retrieve();
  g.execute();

  std::cout << "x transposed      " << columns << "\nthe same, flat    " << flat << "\npadded with -1    "
            << padded << "\nwindows of 0..5   " << windows << "\nsums of rows      " << sums
            << "\n\nHow `flat` reads x:\n"
            << flat.value().view.map().text() << '\n';

  // Two ways to the same index map are one value.
  const bool same = x.permute({1, 0}).permute({1, 0}).value().view == x.value().view;
  const bool right = flat.data<std::int64_t>() == std::vector<std::int64_t>{0, 10, 1, 11, 2, 12};
  return same && right ? 0 : 1;
}
