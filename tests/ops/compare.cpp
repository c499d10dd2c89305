#include "suite.h"

namespace luminal::ops {

Family compare_family() {
  return {
      "compare",
      "Comparison, logic, choice",
      {
          {"lt", "torch.lt",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {lt(in[0], in[1])}; }},
          {"gt", "torch.gt",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {gt(in[0], in[1])}; }},
          {"le", "torch.le",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {le(in[0], in[1])}; }},
          {"ge", "torch.ge",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {ge(in[0], in[1])}; }},
          {"eq", "torch.eq",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {eq(in[0], in[1])}; }},
          {"ne", "torch.ne",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {ne(in[0], in[1])}; }},
          {"logical_and", "torch.logical_and",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {logical_and(in[0], in[1])}; }},
          {"logical_or", "torch.logical_or",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {logical_or(in[0], in[1])}; }},
          {"logical_xor", "torch.logical_xor",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {logical_xor(in[0], in[1])}; }},
          {"logical_not", "torch.logical_not",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).logical_not()}; }},
          {"bit_and", "torch.bitwise_and",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {bit_and(in[0], in[1])}; }},
          {"bit_or", "torch.bitwise_or",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {bit_or(in[0], in[1])}; }},
          {"bit_xor", "torch.bitwise_xor",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {bit_xor(in[0], in[1])}; }},
          {"bit_not", "torch.bitwise_not",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {tensor(in, 0).bit_not()}; }},
          {"shift_left", "torch.bitwise_left_shift",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {shift_left(in[0], in[1])}; },
           "a negative shift gives 0, as one of at least the width."},
          {"shift_right", "torch.bitwise_right_shift",
           [](Graph&, const Inputs& in, const Args&) -> Outputs { return {shift_right(in[0], in[1])}; }},
          {"where", "torch.where",
           [](Graph&, const Inputs& in, const Args&) -> Outputs {
             return {where(tensor(in, 0), in[1], in[2])};
           }},
          {"masked_fill", "Tensor.masked_fill",
           [](Graph&, const Inputs& in, const Args&) -> Outputs {
             return {tensor(in, 0).masked_fill(tensor(in, 1), in[2])};
           },
           "the mask may also broadcast the tensor."},
          {"clip", "torch.clamp",
           [](Graph&, const Inputs& in, const Args&) -> Outputs {
             return {tensor(in, 0).clip(in[1], in[2])};
           }},
          {"clip_low", "torch.clamp(min=)",
           [](Graph&, const Inputs& in, const Args&) -> Outputs {
             return {tensor(in, 0).clip(in[1], std::nullopt)};
           }},
          {"clip_high", "torch.clamp(max=)",
           [](Graph&, const Inputs& in, const Args&) -> Outputs {
             return {tensor(in, 0).clip(std::nullopt, in[1])};
           }},
      }};
}

}  // namespace luminal::ops
