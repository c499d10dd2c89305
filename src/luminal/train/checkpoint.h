#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/train/loader.h"

namespace luminal::train {

/// Everything that a run needs to go on as if it had not stopped, beside the states of the graph.
struct Progress {
  std::int64_t step = 0;  // steps that were taken
  double rate = 0;        // of the last one
  std::uint64_t seed = 0;
  LoaderPosition loader;
  std::optional<double> best;  // the best evaluation, and when it was
  std::int64_t best_step = 0;
  std::int64_t since_best = 0;  // evaluations since
  std::optional<double> loss_scale;
};

struct Checkpoint {
  Progress progress;
  std::map<std::string, Array> states;
};

/// A folder of checkpoints, each a folder of its own, "step-00000120", that holds `state.safetensors` and
/// `state.json`. One is there whole or not at all, whenever the process or the machine stops.
class CheckpointFolder {
 public:
  /// `Error` if the folder cannot be made or written to. Removes what an interrupted save left behind.
  CheckpointFolder(std::string path, int keep_last);

  /// Adds a checkpoint, then removes old ones: the last `keep_last` and the best stay. `Error` if it cannot
  /// be written, for want of space say: then those that were there stay, and the message names the last.
  void save(const Checkpoint& checkpoint);
  /// Steps of the complete checkpoints, in order.
  std::vector<std::int64_t> steps() const;
  /// `Error` naming the file if it is damaged.
  Checkpoint load(std::int64_t step) const;
  std::optional<Checkpoint> load_last() const;
  /// The folder of a checkpoint.
  std::string path_of(std::int64_t step) const;
  const std::string& path() const { return path_; }

 private:
  void remove_unfinished() const;
  void prune(const Progress& progress) const;

  std::string path_;
  int keep_last_;
};

}  // namespace luminal::train
