#pragma once
#include <optional>

#include "luminal/frontend/convolution.h"
#include "luminal/nn/module.h"

namespace luminal::nn {

struct ConvOptions {
  Convolution convolution;
  bool bias = true;
};

/// A convolution over the last `axes` axes of [batch, channels, …]: PyTorch's Conv1d, 2d, 3d and their
/// transposed forms, with PyTorch's first values.
struct Conv {
  enum class Form : std::uint8_t { plain, transposed };

  Conv(const Scope& scope, Form form, std::int64_t inputs, std::int64_t outputs,
       const std::vector<std::int64_t>& window, const ConvOptions& options, Location where);
  Tensor operator()(const Tensor& x, Location where = Location::current()) const { return forward(x, where); }
  Tensor forward(const Tensor& x, Location where = Location::current()) const;
  void visit(Visitor& v);

  State weight;
  std::optional<State> bias;
  Convolution convolution;
  Form form;
};

/// One window size for all axes; `Conv` takes one an axis.
Conv conv1d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options = {}, Location where = Location::current());
Conv conv2d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options = {}, Location where = Location::current());
Conv conv3d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
            const ConvOptions& options = {}, Location where = Location::current());
Conv conv_transpose1d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options = {}, Location where = Location::current());
Conv conv_transpose2d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options = {}, Location where = Location::current());
Conv conv_transpose3d(const Scope& scope, std::int64_t inputs, std::int64_t outputs, std::int64_t window,
                      const ConvOptions& options = {}, Location where = Location::current());

}  // namespace luminal::nn
