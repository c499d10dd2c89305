#pragma once
#include <memory>
#include <vector>

#include "luminal/luminal.h"
#include "luminal/train/sums.h"

namespace luminal::train {

/// A small net that adds numbers of four bits; quick to compile.
struct TinyNet {
  nn::Linear first;
  nn::Linear second;
  nn::Dropout drop;
  explicit TinyNet(const nn::Scope& scope, std::int64_t width, double dropout)
      : first(scope / "first", 8, width), second(scope / "second", width, 5), drop(scope / "drop", dropout) {}
  void visit(nn::Visitor& v) {
    v.module("first", first);
    v.module("second", second);
    v.module("drop", drop);
  }
};

inline Build tiny_build(std::int64_t width = 16, double dropout = 0.1) {
  return [width, dropout](const BuildContext& context) {
    nn::Scope scope = context.scope;
    TinyNet net(scope, width, dropout);
    nn::set_mode(net, context.mode);
    const Tensor x = scope.graph().named_tensor("input", {context.batch, 8});
    const Tensor y = scope.graph().named_tensor("target", {context.batch, 5});
    const Tensor scores = net.second(net.drop(net.first(x).tanh()));
    const Tensor wrong = scores.gt(0).cast(DType::f32).ne(y).cast(DType::f32).max(1);
    return Model{{x, y}, nn::binary_cross_entropy_with_logits(scores, y), 1 - wrong.mean(), nn::params(net)};
  };
}

inline std::shared_ptr<const Dataset> tiny_data() {
  return std::make_shared<BinarySums>(4);
}

inline TrainerOptions tiny_options(std::int64_t steps) {
  TrainerOptions options;
  options.steps = steps;
  options.seed = 11;
  options.schedule = optim::linear_warm_up(5, optim::cosine(0.02, 200));
  options.loader.batch = 24;  // 256 is no multiple: partial batches take part
  return options;
}

}  // namespace luminal::train
