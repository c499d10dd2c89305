#include "suite.h"

namespace luminal::ops {

Family reduce_family() {
  return {"reduce",
          "Reductions",
          {
              {"sum", "torch.sum",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).sum(args.axes(), args.flag("keep"))};
               }},
              {"mean", "torch.mean",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).mean(args.axes(), args.flag("keep"))};
               }},
              {"max", "torch.amax",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).max(args.axes(), args.flag("keep"))};
               }},
              {"min", "torch.amin",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).min(args.axes(), args.flag("keep"))};
               }},
              {"prod", "torch.prod",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).prod(args.axes(), args.flag("keep"))};
               },
               "over several axes too."},
              {"any", "torch.any",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).any(args.axes(), args.flag("keep"))};
               },
               "gives bool for u8 too."},
              {"all", "torch.all",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).all(args.axes(), args.flag("keep"))};
               },
               "gives bool for u8 too."},
              {"logsumexp", "torch.logsumexp",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).logsumexp(args.axes(), args.flag("keep"))};
               }},
              {"var", "torch.var",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).var(args.axes(), args.axis("correction", 1), args.flag("keep"))};
               }},
              {"std", "torch.std",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).std(args.axes(), args.axis("correction", 1), args.flag("keep"))};
               }},
              {"argmax", "torch.argmax",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {args.has("axis") ? tensor(in, 0).argmax(args.axis(), args.flag("keep"))
                                          : tensor(in, 0).argmax()};
               },
               "of ties the first, which PyTorch leaves open."},
              {"argmin", "torch.argmin",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {args.has("axis") ? tensor(in, 0).argmin(args.axis(), args.flag("keep"))
                                          : tensor(in, 0).argmin()};
               },
               "of ties the first, which PyTorch leaves open."},
              {"norm", "torch.linalg.vector_norm",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).norm(args.real("p", 2), args.axes(), args.flag("keep"))};
               }},
          }};
}

}  // namespace luminal::ops
