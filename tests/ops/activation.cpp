#include "suite.h"

namespace luminal::ops {

Family activation_family() {
  return {
      "activation",
      "Activations",
      {
          {"relu", "F.relu",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).relu()}; }},
          {"leaky_relu", "F.leaky_relu",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).leaky_relu(args.real("slope", 0.01))};
           }},
          {"elu", "F.elu",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).elu(args.real("alpha", 1))};
           }},
          {"selu", "F.selu",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).selu()}; }},
          {"gelu", "F.gelu",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).gelu()}; },
           "inf gives inf, where PyTorch gives NaN in f32 and inf in f64."},
          {"gelu_tanh", "F.gelu(approximate='tanh')",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).gelu(Gelu::tanh)}; }},
          {"silu", "F.silu",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).silu()}; }},
          {"swish", "F.silu",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).swish()}; }},
          {"sigmoid", "torch.sigmoid",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).sigmoid()}; }},
          {"log_sigmoid", "F.logsigmoid",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).log_sigmoid()}; }},
          {"hardsigmoid", "F.hardsigmoid",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).hardsigmoid()}; }},
          {"hardswish", "F.hardswish",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).hardswish()}; },
           "does not overflow before it is divided."},
          {"softplus", "F.softplus",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).softplus(args.real("beta", 1), args.real("threshold", 20))};
           }},
          {"mish", "F.mish",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).mish()}; }},
      }};
}

}  // namespace luminal::ops
