#include "suite.h"

namespace luminal::ops {

Family create_family() {
  return {
      "create",
      "Creation",
      {
          {"arange", "torch.arange",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {args.has("real") ? arange(g, args.real("start"), args.real("end"), args.real("step", 1),
                                               args.dtype("dtype"))
                                      : arange(g, args.integer("start"), args.size("end"),
                                               args.integer("step", 1), args.dtype("dtype", DType::i64))};
           }},
          {"linspace", "torch.linspace",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {
                 linspace(g, args.real("start"), args.real("end"), args.size("count"), args.dtype("dtype"))};
           },
           "computed in f64 and rounded once."},
          {"eye", "torch.eye",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {eye(g, args.size("rows"), args.size("columns"), args.dtype("dtype"))};
           }},
          {"zeros", "torch.zeros",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {zeros(g, Shape(args.sizes("shape")), args.dtype("dtype"))};
           }},
          {"ones", "torch.ones",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {ones(g, Shape(args.sizes("shape")), args.dtype("dtype"))};
           }},
          {"full", "torch.full",
           [](Graph& g, const Inputs&, const Args& args) -> Outputs {
             return {full(g, Shape(args.sizes("shape")), Number(args.real("value")), args.dtype("dtype"))};
           }},
      }};
}

}  // namespace luminal::ops
