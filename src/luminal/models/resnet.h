#pragma once
#include <array>
#include <optional>
#include <vector>

#include "luminal/nn/convolution.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal::models {

/// A residual network of bottleneck blocks: 50, 101 and 152 layers are {3, 4, 6, 3}, {3, 4, 23, 3} and
/// {3, 8, 36, 3} blocks. Parameter paths follow torchvision's names.
class ResNet {
 public:
  struct Options {
    std::array<std::int64_t, 4> blocks = {3, 4, 6, 3};
    std::int64_t width = 64;  // channels of the stem
    std::int64_t channels = 3;
    std::int64_t classes = 1000;
  };
  explicit ResNet(const nn::Scope& scope) : ResNet(scope, Options()) {}
  ResNet(const nn::Scope& scope, const Options& options, Location where = Location::current());

  /// x [batch, channels, height, width] → scores [batch, classes].
  Tensor operator()(const Tensor& x, Location where = Location::current()) const;
  void visit(nn::Visitor& v);

 private:
  /// 1×1 down, 3×3 with the stride, 1×1 up by four; beside it the input, projected where its shape changes.
  struct Block {
    Block(const nn::Scope& scope, std::int64_t inputs, std::int64_t width, std::int64_t stride,
          Location where);
    Tensor operator()(const Tensor& x, Location where) const;
    void visit(nn::Visitor& v);

    nn::Conv conv1;
    nn::BatchNorm bn1;
    nn::Conv conv2;
    nn::BatchNorm bn2;
    nn::Conv conv3;
    nn::BatchNorm bn3;
    std::optional<nn::Conv> shortcut;
    std::optional<nn::BatchNorm> shortcut_norm;
  };

  nn::Conv stem_;
  nn::BatchNorm stem_norm_;
  std::array<std::vector<Block>, 4> stages_;
  nn::Linear head_;
};

}  // namespace luminal::models
