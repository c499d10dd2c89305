#include "suite.h"

namespace luminal::ops {
namespace {

std::optional<Tensor> bias(const Inputs& in) {
  return in.size() > 2 ? std::optional(tensor(in, 2)) : std::nullopt;
}

Convolution options(const Args& args) {
  Convolution result;
  result.stride = args.spatial("stride", 1);
  result.padding = args.spatial("padding", 0);
  result.dilation = args.spatial("dilation", 1);
  result.output_padding = args.spatial("output_padding", 0);
  result.groups = static_cast<int>(args.integer("groups", 1));
  return result;
}

}  // namespace

Family convolution_family() {
  return {"convolution",
          "Convolution",
          {
              {"conv1d", "F.conv1d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv1d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
              {"conv2d", "F.conv2d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv2d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
              {"conv3d", "F.conv3d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv3d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
              {"conv_transpose1d", "F.conv_transpose1d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv_transpose1d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
              {"conv_transpose2d", "F.conv_transpose2d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv_transpose2d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
              {"conv_transpose3d", "F.conv_transpose3d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {conv_transpose3d(tensor(in, 0), tensor(in, 1), bias(in), options(args))};
               }},
          }};
}

}  // namespace luminal::ops
