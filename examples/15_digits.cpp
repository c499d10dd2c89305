// Lesson 15: a convolutional net reads digits of 28×28 pixels. They are drawn here (strokes, shifted, turned,
// slanted, with noise); with paths to MNIST's files it learns those instead. usage: 15_digits [--steps N]
// [IMAGES LABELS TEST_IMAGES TEST_LABELS]
#include <luminal/luminal.h>
#include <luminal/train/drawn_digits.h>

#include <cstdlib>
#include <iostream>
#include <string>

using namespace luminal;

namespace {

struct Net {
  nn::Conv conv1;
  nn::Conv conv2;
  nn::Linear head;

  explicit Net(const nn::Scope& scope)
      : conv1(nn::conv2d(scope / "conv1", 1, 8, 3, {.convolution = {.padding = 1}})),
        conv2(nn::conv2d(scope / "conv2", 8, 16, 3, {.convolution = {.padding = 1}})),
        head(scope / "head", 784, 10) {}
  Tensor operator()(const Tensor& image) const {
    const Tensor half = max_pool(conv1(image).relu(), 2, 2);
    const Tensor quarter = max_pool(conv2(half).relu(), 2, 2);
    return head(quarter.flatten(1, -1));
  }
  void visit(nn::Visitor& v) {
    v.module("conv1", conv1);
    v.module("conv2", conv2);
    v.module("head", head);
  }
};

/// What an image looks like, in characters.
void show(const train::Dataset& digits, std::int64_t index) {
  std::vector<float> image(784);
  std::int64_t label = 0;
  const std::array<std::span<std::byte>, 2> into = {std::as_writable_bytes(std::span(image)),
                                                    std::as_writable_bytes(std::span(&label, 1))};
  digits.read(index, into);
  std::cout << "a " << label << ":\n";
  for (std::size_t y = 2; y < 28; y += 2) {
    for (std::size_t x = 0; x < 28; ++x) std::cout << " .:oO"[static_cast<int>(image[y * 28 + x] * 4.99F)];
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t steps = 600;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--steps" && k + 1 < argc)
      steps = std::atoll(argv[++k]);
    else
      files.emplace_back(argv[k]);
  }
  std::shared_ptr<const train::Dataset> digits = std::make_shared<train::DrawnDigits>(50000, 1);
  std::shared_ptr<const train::Dataset> held_out = std::make_shared<train::DrawnDigits>(2000, 2);
  if (files.size() == 4) {
    digits = train::idx_images(files[0], files[1]);
    held_out = train::idx_images(files[2], files[3]);
  }
  show(*digits, 0);
  const train::Build build = [](const train::BuildContext& context) {
    nn::Scope scope = context.scope;
    Net net(scope);
    const Tensor image = scope.graph().tensor({context.batch, 1, 28, 28});
    const Tensor label = scope.graph().tensor({context.batch}, DType::i64);
    const Tensor scores = net(image);
    const Tensor right = argmax(scores, 1).eq(label).cast(DType::f32).mean();
    return train::Model{{image, label}, nn::cross_entropy(scores, label), right, nn::params(net)};
  };
  train::TrainerOptions options;
  options.steps = steps;
  options.schedule =
      optim::linear_warm_up(20, optim::cosine(0.004, std::max<std::int64_t>(1, steps - 20)), 0.05);
  options.loader = {.batch = 64, .drop_partial = true};
  options.on_step = train::progress_bar(std::cout, false, std::max<std::int64_t>(1, steps / 6));
  train::Trainer trainer(build, digits, held_out, options, best_device());
  std::cout << "a step is " << trainer.executable().kernel_count() << " kernels\n";
  const double right = trainer.run().evaluation->correct.value();
  std::cout << "right: " << right * 100 << " % of digits it never saw\n";
  return right >= (steps >= 600 ? 0.98 : 0.5) ? 0 : 1;
}
