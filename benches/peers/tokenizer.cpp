// Prints the seconds that encoding a file takes, the best of three: benches/peer_tokenizer.py compares them
// with the `tokenizers` package. usage: bench_peer_tokenizer TOKENIZER TEXT
#include "luminal/io/tokenizer.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>

#include "luminal/io/mapped_file.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: bench_peer_tokenizer TOKENIZER TEXT\n";
    return 2;
  }
  try {
    const auto tokenizer = luminal::io::open_tokenizer(argv[1]);
    const luminal::io::MappedFile text(argv[2]);
    double best = std::numeric_limits<double>::infinity();
    std::size_t count = 0;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      count += tokenizer.encode(text.text()).size();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    if (count == 0) return 1;
    std::cout << best << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
