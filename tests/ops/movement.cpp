#include "suite.h"

namespace luminal::ops {

Family movement_family() {
  return {
      "movement",
      "Movements",
      {
          {"permute", "torch.permute",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).permute(args.integers("axes"))};
           }},
          {"transpose", "torch.transpose",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).transpose(args.axis("a"), args.axis("b"))};
           }},
          {"reshape", "torch.reshape",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).reshape(Shape(args.sizes("shape")))};
           }},
          {"merge_dims", "torch.flatten",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).merge_dims(args.axis())};
           }},
          {"split_dims", "torch.unflatten",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).split_dims(args.axis(), args.size("inner"))};
           }},
          {"flatten", "torch.flatten",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).flatten(args.axis("first", 0), args.axis("last", -1))};
           }},
          {"squeeze", "torch.squeeze",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {args.has("axis") ? tensor(in, 0).squeeze(args.axis()) : tensor(in, 0).squeeze()};
           },
           "an axis of another size is refused; without an axis, those known to be 1 go."},
          {"unsqueeze", "torch.unsqueeze",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).unsqueeze(args.axis())};
           }},
          {"expand", "Tensor.expand",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).expand(Shape(args.sizes("shape")))};
           }},
          {"expand_dim", "x.unsqueeze(axis).expand(…)",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).expand_dim(args.axis(), args.size("size"))};
           }},
          {"repeat", "Tensor.repeat",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).repeat(args.sizes("times"))};
           }},
          {"tile", "torch.tile",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).tile(args.sizes("times"))};
           }},
          {"concat", "torch.cat",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {concat(tensors(in), args.axis())};
           },
           "empty vectors are not skipped."},
          {"stack", "torch.stack",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {stack(tensors(in), args.axis())};
           }},
          {"split", "torch.split",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return tensor(in, 0).split(args.sizes("sizes"), args.axis());
           }},
          {"chunk", "torch.chunk",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return tensor(in, 0).chunk(static_cast<int>(args.integer("count")), args.axis());
           }},
          {"slice", "x[start:end:step]",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).slice(args.axis(), args.integer("start"), args.integer("end"),
                                         args.integer("step", 1))};
           }},
          {"pad", "F.pad",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).pad(args.axis(), args.size("before"), args.size("after"),
                                       Number(args.real("fill")))};
           },
           "one axis at a time."},
          {"pad_reflect", "F.pad(mode='reflect')",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {
                 tensor(in, 0).pad(args.axis(), args.size("before"), args.size("after"), PadMode::reflect)};
           }},
          {"pad_edge", "F.pad(mode='replicate')",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).pad(args.axis(), args.size("before"), args.size("after"), PadMode::edge)};
           }},
          {"flip", "torch.flip",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).flip(args.axes())};
           }},
          {"roll", "torch.roll",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).roll(args.size("shift"), args.axis())};
           }},
          {"unfold", "Tensor.unfold",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).unfold(args.axis(), args.size("size"), args.size("stride", 1))};
           },
           "also with a dilation."},
          {"tril", "torch.tril",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).tril(args.size("diagonal"))};
           }},
          {"triu", "torch.triu",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).triu(args.size("diagonal"))};
           }},
          {"diagonal", "torch.diagonal",
           [](Graph&, const Inputs& in, const Args& args) -> Outputs {
             return {tensor(in, 0).diagonal(args.axis("offset", 0), args.axis("first", 0),
                                            args.axis("second", 1))};
           }},
      }};
}

}  // namespace luminal::ops
