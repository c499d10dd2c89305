#include "suite.h"

namespace luminal::ops {
namespace {

std::optional<double> epsilon(const Args& args) {
  return args.has("epsilon") ? std::optional(args.real("epsilon")) : std::nullopt;
}

}  // namespace

Family normalise_family() {
  return {
      "normalise",
      "Normalisation",
      {
          {"softmax", "torch.softmax",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).softmax(args.axis())};
           }},
          {"log_softmax", "torch.log_softmax",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).log_softmax(args.axis())};
           }},
          {"layer_norm", "F.layer_norm",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {in.size() == 1 ? tensor(in, 0).layer_norm(args.axes(), args.real("epsilon", 1e-5))
                                    : layer_norm(tensor(in, 0), args.axes(), tensor(in, 1),
                                                 in.size() > 2 ? std::optional(tensor(in, 2)) : std::nullopt,
                                                 args.real("epsilon", 1e-5))};
           },
           "over any axes."},
          {"rms_norm", "F.rms_norm",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {in.size() == 1 ? tensor(in, 0).rms_norm(args.axes(), epsilon(args))
                                    : rms_norm(tensor(in, 0), args.axes(), tensor(in, 1), epsilon(args))};
           },
           "over any axes."},
          {"mean_norm", "x - x.mean(axes)",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).mean_norm(args.axes())};
           }},
          {"std_norm", "x / (x*x).mean(axes).add(epsilon).sqrt()",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).std_norm(args.axes(), args.real("epsilon", 1e-5))};
           }},
          {"normalize", "F.normalize",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).normalize(args.real("p", 2), args.axes(), args.real("epsilon", 1e-12))};
           },
           "over one or several axes."},
      }};
}

}  // namespace luminal::ops
