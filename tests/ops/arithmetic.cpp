#include "suite.h"

namespace luminal::ops {
namespace {

Tensor added(const Inputs& in) {
  Tensor x = tensor(in, 0);
  x += in[1];
  return x;
}
Tensor subtracted(const Inputs& in) {
  Tensor x = tensor(in, 0);
  x -= in[1];
  return x;
}
Tensor multiplied(const Inputs& in) {
  Tensor x = tensor(in, 0);
  x *= in[1];
  return x;
}
Tensor divided(const Inputs& in) {
  Tensor x = tensor(in, 0);
  x /= in[1];
  return x;
}

}  // namespace

Family arithmetic_family() {
  return {
      "arithmetic",
      "Arithmetic",
      {
          {"add", "+", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {in[0] + in[1]}; }},
          {"sub", "-", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {in[0] - in[1]}; }},
          {"mul", "*", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {in[0] * in[1]}; }},
          {"div", "/", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {in[0] / in[1]}; }},
          {"pow", "torch.pow",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {pow(in[0], in[1])}; },
           "f16 and bf16 compute in f32 and round once."},
          {"fmod", "torch.fmod",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {fmod(in[0], in[1])}; },
           "exact for floats with huge quotients too, where PyTorch is not."},
          {"remainder", "torch.remainder",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {remainder(in[0], in[1])}; }},
          {"floor_divide", "torch.floor_divide",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {floor_divide(in[0], in[1])}; },
           "f16 and bf16 divide in f32; PyTorch rounds the quotient first."},
          {"maximum", "torch.maximum",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {maximum(in[0], in[1])}; }},
          {"minimum", "torch.minimum",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {minimum(in[0], in[1])}; }},
          {"atan2", "torch.atan2",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {atan2(in[0], in[1])}; }},
          {"add_assign", "+=", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {added(in)}; }},
          {"sub_assign",
           "-=", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {subtracted(in)}; }},
          {"mul_assign",
           "*=", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {multiplied(in)}; }},
          {"div_assign",
           "/=", [](Graph&, const Inputs& in, const Args&) -> Outputs { return {divided(in)}; }},
      }};
}

}  // namespace luminal::ops
