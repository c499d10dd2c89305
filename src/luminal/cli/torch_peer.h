#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "luminal/models/llama.h"

namespace luminal::cli {

struct PeerSpeed {
  double tokens_per_second = 0;
  std::string version;
};
/// How many tokens a second PyTorch trains the same model with, as it comes: AdamW,
/// f32, as many threads. Nothing if no Python with PyTorch is there. Looks at LUMINAL_PEER_PYTHON, .venv
/// here, and python3.
std::optional<PeerSpeed> torch_training_speed(const models::LlamaConfig& config, std::int64_t batch,
                                              std::int64_t positions, std::int64_t first_answer, int threads);

}  // namespace luminal::cli
