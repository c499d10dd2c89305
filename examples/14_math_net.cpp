// Lesson 14: the trainer. A small net learns to add numbers of four bits, the math net of the original
// Luminal: 8 bits in, 5 bits out, until all 256 sums are right. usage: 14_math_net [STEPS]
#include <luminal/luminal.h>
#include <luminal/train/sums.h>

#include <cstdlib>
#include <iostream>

using namespace luminal;

int main(int argc, char** argv) {
  const std::int64_t steps = argc > 1 ? std::atoll(argv[1]) : 1500;
  // How the model is built, for training and for evaluation: it is called once for each.
  const train::Build build = [](const train::BuildContext& context) {
    nn::Scope scope = context.scope;
    nn::Sequential net(nn::Linear(scope / "layer1", 8, 16), nn::Silu{}, nn::Linear(scope / "layer2", 16, 16),
                       nn::Silu{}, nn::Linear(scope / "layer3", 16, 5));
    const Tensor bits = scope.graph().tensor({context.batch, 8});
    const Tensor sum = scope.graph().tensor({context.batch, 5});
    const Tensor scores = net(bits);
    const Tensor wrong = scores.gt(0).cast(DType::f32).ne(sum).cast(DType::f32).max(1);
    return train::Model{
        {bits, sum}, nn::binary_cross_entropy_with_logits(scores, sum), 1 - wrong.mean(), nn::params(net)};
  };
  train::TrainerOptions options;
  options.steps = steps;
  options.schedule = optim::cosine(0.03, steps);
  options.loader = {.batch = 64, .drop_partial = true};
  options.on_step = train::progress_bar(std::cout, false, std::max<std::int64_t>(1, steps / 5));
  const auto sums = std::make_shared<train::BinarySums>(4);
  train::Trainer trainer(build, sums, sums, options, best_device());
  const train::Summary summary = trainer.run();
  const double right = summary.evaluation->correct.value();
  std::cout << "right: " << right * 100 << " % of 256 sums\n";
  return right >= (steps >= 1500 ? 0.99 : 0.2) ? 0 : 1;
}
