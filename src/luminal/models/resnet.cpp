#include "luminal/models/resnet.h"

#include <string>

#include "luminal/frontend/activation.h"
#include "luminal/frontend/formula.h"
#include "luminal/frontend/pooling.h"
#include "luminal/frontend/reduce.h"

namespace luminal::models {
namespace {

constexpr std::int64_t expansion = 4;

/// Convolutions here have no bias (a norm follows) and keep the size, but for the stride.
nn::Conv convolution(const nn::Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                     std::int64_t stride, Location where) {
  const std::int64_t padding = window / 2;
  return nn::conv2d(
      scope, inputs, outputs, window,
      {.convolution = {.stride = {stride, stride}, .padding = {padding, padding}}, .bias = false}, where);
}

}  // namespace

ResNet::Block::Block(const nn::Scope& scope, std::int64_t inputs, std::int64_t width, std::int64_t stride,
                     Location where)
    : conv1(convolution(scope / "conv1", inputs, width, 1, 1, where)),
      bn1(scope / "bn1", width, 1e-5, 0.1, where),
      conv2(convolution(scope / "conv2", width, width, 3, stride, where)),
      bn2(scope / "bn2", width, 1e-5, 0.1, where),
      conv3(convolution(scope / "conv3", width, width * expansion, 1, 1, where)),
      bn3(scope / "bn3", width * expansion, 1e-5, 0.1, where) {
  if (stride == 1 && inputs == width * expansion) return;
  const nn::Scope projection = scope / "downsample";
  shortcut = convolution(projection / "0", inputs, width * expansion, 1, stride, where);
  shortcut_norm.emplace(projection / "1", width * expansion, 1e-5, 0.1, where);
}

Tensor ResNet::Block::operator()(const Tensor& x, Location where) const {
  const Line at{where};
  Tensor y = bn1(conv1(x, where), where).relu(where);
  y = bn2(conv2(y, where), where).relu(where);
  y = bn3(conv3(y, where), where);
  const Tensor beside = shortcut ? (*shortcut_norm)((*shortcut)(x, where), where) : x;
  return relu(at(y) + at(beside), where);
}

void ResNet::Block::visit(nn::Visitor& v) {
  v.module("conv1", conv1);
  v.module("bn1", bn1);
  v.module("conv2", conv2);
  v.module("bn2", bn2);
  v.module("conv3", conv3);
  v.module("bn3", bn3);
  if (!shortcut) return;
  v.module("downsample/0", *shortcut);
  v.module("downsample/1", *shortcut_norm);
}

ResNet::ResNet(const nn::Scope& scope, const Options& options, Location where)
    : stem_(convolution(scope / "conv1", options.channels, options.width, 7, 2, where)),
      stem_norm_(scope / "bn1", options.width, 1e-5, 0.1, where),
      head_(scope / "fc", options.width * 8 * expansion, options.classes, {}, where) {
  std::int64_t inputs = options.width;
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    const std::int64_t width = options.width << stage;
    for (std::int64_t k = 0; k < options.blocks[stage]; ++k) {
      const std::int64_t stride = k == 0 && stage > 0 ? 2 : 1;
      stages_[stage].emplace_back(scope / ("layer" + std::to_string(stage + 1)) / std::to_string(k), inputs,
                                  width, stride, where);
      inputs = width * expansion;
    }
  }
}

Tensor ResNet::operator()(const Tensor& x, Location where) const {
  Tensor y = stem_norm_(stem_(x, where), where).relu(where);
  y = max_pool(y, {3, 3}, 2, {.stride = Spatial(2), .padding = 1}, where);
  for (const auto& stage : stages_)
    for (const auto& block : stage) y = block(y, where);
  return head_(y.mean({2, 3}, false, where), where);
}

void ResNet::visit(nn::Visitor& v) {
  v.module("conv1", stem_);
  v.module("bn1", stem_norm_);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    v.module("layer" + std::to_string(stage + 1), stages_[stage]);
  v.module("fc", head_);
}

}  // namespace luminal::models
