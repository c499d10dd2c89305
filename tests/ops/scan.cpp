#include "suite.h"

namespace luminal::ops {
namespace {

Outputs both(const Ranked& ranked) {
  return {ranked.values, ranked.indices};
}

}  // namespace

Family scan_family() {
  return {"scan",
          "Scans and sorting",
          {
              {"cumsum", "torch.cumsum",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).cumsum(args.axis())};
               }},
              {"cumprod", "torch.cumprod",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).cumprod(args.axis())};
               }},
              {"cummax", "torch.cummax",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return both(tensor(in, 0).cummax(args.axis()));
               }},
              {"sort", "torch.sort(stable=True)",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return both(tensor(in, 0).sort(args.axis(), args.flag("descending")));
               }},
              {"argsort", "torch.argsort(stable=True)",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).argsort(args.axis(), args.flag("descending"))};
               }},
              {"topk", "torch.topk",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return both(
                     tensor(in, 0).topk(args.size("count"), args.axis(), args.integer("largest", 1) != 0));
               },
               "of equal elements those that stand first, which PyTorch leaves open."},
          }};
}

}  // namespace luminal::ops
