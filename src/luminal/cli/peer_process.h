#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/cli/bench_rows.h"

namespace luminal::cli {

/// PyTorch and onnxruntime in a process of their own: benches/peers/server.py, run by LUMINAL_PEER_PYTHON or
/// .venv/bin/python (made by './luminal setup --references').
class PeerProcess {
 public:
  /// `Error` if it cannot be started.
  PeerProcess();
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// The peers that can run this kind on the graph's values. They stay usable until the next call.
  std::vector<BenchPeer> peers(const std::string& kind, const Graph& graph, int threads);

 private:
  nlohmann::json ask(const nlohmann::json& request);

  int child_ = -1;
  int to_ = -1;
  FILE* from_ = nullptr;
  std::filesystem::path folder_;
};

}  // namespace luminal::cli
