#include "suite.h"

namespace luminal::ops {
namespace {

Pooling options(const Args& args) {
  Pooling result;
  if (args.has("stride")) result.stride = args.spatial("stride", 1);
  result.padding = args.spatial("padding", 0);
  result.dilation = args.spatial("dilation", 1);
  result.ceil_mode = args.flag("ceil_mode");
  result.count_include_pad = args.integer("count_include_pad", 1) != 0;
  return result;
}

}  // namespace

Family pooling_family() {
  return {"pooling",
          "Pooling and resampling",
          {
              {"max_pool", "F.max_pool1d, 2d, 3d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {max_pool(tensor(in, 0), args.spatial("window", 1), args.sizes("window").size(),
                                  options(args))};
               }},
              {"avg_pool", "F.avg_pool1d, 2d, 3d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {avg_pool(tensor(in, 0), args.spatial("window", 1), args.sizes("window").size(),
                                  options(args))};
               }},
              {"adaptive_avg_pool", "F.adaptive_avg_pool1d, 2d, 3d",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {adaptive_avg_pool(tensor(in, 0), args.sizes("sizes"))};
               }},
              {"interpolate_nearest", "F.interpolate(mode='nearest')",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {interpolate(tensor(in, 0), args.sizes("sizes"))};
               },
               "places are exact whole numbers; PyTorch computes them in f32."},
              {"interpolate_bilinear", "F.interpolate(mode='linear', 'bilinear', 'trilinear')",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {interpolate(tensor(in, 0), args.sizes("sizes"), Interpolation::bilinear,
                                     args.flag("align_corners"))};
               }},
          }};
}

}  // namespace luminal::ops
