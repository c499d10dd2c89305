#include "luminal/cli/torch_peer.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "luminal/support/text.h"

namespace luminal::cli {
namespace {

/// Prints "speed VERSION TOKENS_PER_SECOND": the median of 9 steps after 3.
constexpr const char* script = R"py(
import sys, time
import torch
from torch import nn
from torch.nn import functional as F
vocabulary, size, layers, heads, kv, hidden, batch, positions, first, threads = map(int, sys.argv[1:11])
torch.set_num_threads(threads)
width = size // heads
half = width // 2
angle = torch.arange(positions)[:, None] * 10000.0 ** (-torch.arange(half) / half)
cosine, sine = angle.cos(), angle.sin()

def turn(x):
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)

def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(size, 1e-5), nn.RMSNorm(size, 1e-5)
        self.q, self.k, self.v = linear(size, size), linear(size, kv * width), linear(size, kv * width)
        self.o, self.gate, self.up, self.down = (linear(size, size), linear(size, hidden), linear(size, hidden),
                                                 linear(hidden, size))

    def forward(self, x):
        y = self.norm1(x)
        split = lambda t, n: t.view(batch, positions, n, width).transpose(1, 2)
        q, k, v = turn(split(self.q(y), heads)), turn(split(self.k(y), kv)), split(self.v(y), kv)
        k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, positions, size))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.blocks = nn.Embedding(vocabulary, size), nn.Sequential(*[Block() for _ in range(layers)])
        self.norm, self.head = nn.RMSNorm(size, 1e-5), linear(size, vocabulary)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embedding(tokens))[:, first:]))

model = Model()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
times = []
for step in range(12):
    tokens = torch.randint(0, vocabulary, (batch, positions))
    answer = torch.randint(0, 10, (batch, positions - first))
    start = time.perf_counter()
    loss = F.cross_entropy(model(tokens).flatten(0, 1), answer.flatten())
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    times.append(time.perf_counter() - start)
median = sorted(times[3:])[len(times[3:]) // 2]
print("speed", torch.__version__, batch * positions / median)
)py";

}  // namespace

std::optional<PeerSpeed> torch_training_speed(const models::LlamaConfig& config, std::int64_t batch,
                                              std::int64_t positions, std::int64_t first_answer,
                                              int threads) {
  std::vector<std::string> pythons;
  if (const char* given = std::getenv("LUMINAL_PEER_PYTHON")) pythons.emplace_back(given);
  pythons.emplace_back(".venv/bin/python");
  pythons.emplace_back("python3");
  std::string name = (std::filesystem::temp_directory_path() / "luminal-peer-XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) return std::nullopt;
  ::close(descriptor);
  std::ofstream(name) << script;
  std::optional<PeerSpeed> result;
  for (const auto& python : pythons) {
    if (python.find('\'') != std::string::npos) continue;
    const std::string command =
        cat("timeout 60 '", python, "' '", name, "' ", config.vocabulary, " ", config.size, " ",
            config.layers, " ", config.heads, " ", config.kv_heads, " ", config.hidden, " ", batch, " ",
            positions, " ", first_answer, " ", threads, " 2>/dev/null");
    std::FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) continue;
    std::string output;
    std::array<char, 256> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) output += part.data();
    ::pclose(pipe);
    std::istringstream words(output);
    std::string word;
    PeerSpeed speed;
    if (words >> word >> speed.version >> speed.tokens_per_second && word == "speed") {
      result = speed;
      break;
    }
  }
  std::filesystem::remove(name);
  return result;
}

}  // namespace luminal::cli
