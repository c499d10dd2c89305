#pragma once
#include <string>
#include <vector>

#include "luminal/frontend/graph.h"

namespace luminal::optim {

/// New values of states, not yet assigned: so that a step can be skipped, or taken every few runs only.
class Updates {
 public:
  void add(const State& state, const Tensor& value) { entries_.push_back({state, value}); }
  void add(const Updates& others);
  /// The states take their new values after every run.
  void apply(Location where = Location::current()) const;
  /// The same where `condition`, a bool scalar, is true; otherwise the states stay as they are.
  void apply_if(const Tensor& condition, Location where = Location::current()) const;

 private:
  struct Entry {
    State state;
    Tensor value;
  };
  std::vector<Entry> entries_;
};

/// What every optimiser takes: the parameters, their gradients (see `gradients`), and the learning rate: a
/// number, or a scalar tensor of f32 that a schedule sets before each run. Moments are states named after the
/// parameter; they and the update are computed in f32 at least. Formulas, defaults and order of operations
/// are PyTorch's.
struct Step {
  std::vector<State> parameters;
  std::vector<Tensor> gradients;
  Operand rate;
};

struct SgdOptions {
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
};
[[nodiscard]] Updates sgd(const Step& step, const SgdOptions& options = {},
                          Location where = Location::current());

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};
/// Weight decay is added to the gradient.
[[nodiscard]] Updates adam(const Step& step, const AdamOptions& options = {},
                           Location where = Location::current());
/// Weight decay shrinks the parameter itself.
[[nodiscard]] Updates adamw(const Step& step, const AdamOptions& options = {.weight_decay = 0.01},
                            Location where = Location::current());
/// Adam whose step is scaled by |parameter| / |step|, parameter by parameter (You et al., 2019); 1 where
/// either norm is 0.
[[nodiscard]] Updates lamb(const Step& step,
                           const AdamOptions& options = {.epsilon = 1e-6, .weight_decay = 0.01},
                           Location where = Location::current());

struct RmspropOptions {
  double alpha = 0.99;
  double epsilon = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centred = false;
};
[[nodiscard]] Updates rmsprop(const Step& step, const RmspropOptions& options = {},
                              Location where = Location::current());

struct AdagradOptions {
  double rate_decay = 0;
  double weight_decay = 0;
  double initial = 0;
  double epsilon = 1e-10;
};
[[nodiscard]] Updates adagrad(const Step& step, const AdagradOptions& options = {},
                              Location where = Location::current());

struct LionOptions {
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;
};
/// The sign of an interpolated momentum (Chen et al., 2023), with decoupled weight decay.
[[nodiscard]] Updates lion(const Step& step, const LionOptions& options = {},
                           Location where = Location::current());

/// All gradients scaled by one factor so that their common 2-norm is at most `largest`.
std::vector<Tensor> clip_by_norm(const std::vector<Tensor>& gradients, double largest,
                                 Location where = Location::current());
/// Every element cut off at ±`largest`.
std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double largest,
                                  Location where = Location::current());

/// Gradients summed over `runs` runs: what to give to an optimiser, and when its updates count.
struct Accumulated {
  std::vector<Tensor> gradients;  // the mean over the runs, once complete
  Tensor complete;                // bool scalar: this run completes a group
  Updates updates;                // of the sums; apply them always
};
Accumulated accumulate(const std::vector<State>& parameters, const std::vector<Tensor>& gradients,
                       std::int64_t runs, Location where = Location::current());

/// Exponential moving averages, in states named after the parameters: average ← decay·average + (1 −
/// decay)·value, where the first run's values start them. `values` are usually the parameters' own, or their
/// new ones.
struct Averages {
  std::vector<State> states;
  Updates updates;
};
Averages moving_average(const std::vector<State>& parameters, const std::vector<Tensor>& values, double decay,
                        Location where = Location::current());

}  // namespace luminal::optim
