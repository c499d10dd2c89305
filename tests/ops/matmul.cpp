#include "suite.h"

namespace luminal::ops {
namespace {

Attention options(const Inputs& in, const Args& args) {
  Attention result;
  result.causal = args.flag("causal");
  if (in.size() > 3) result.mask = tensor(in, 3);
  if (args.has("scale")) result.scale = args.real("scale");
  return result;
}

}  // namespace

Family matmul_family() {
  return {"matmul",
          "Products",
          {
              {"matmul", "torch.matmul",
               [](Graph&, const Inputs& in, const Args&) -> Outputs {
                 return {tensor(in, 0).matmul(tensor(in, 1))};
               },
               "takes integers and bools too; dtypes promote."},
              {"dot", "torch.dot",
               [](Graph&, const Inputs& in, const Args&) -> Outputs {
                 return {tensor(in, 0).dot(tensor(in, 1))};
               }},
              {"outer", "torch.outer",
               [](Graph&, const Inputs& in, const Args&) -> Outputs {
                 return {tensor(in, 0).outer(tensor(in, 1))};
               }},
              {"einsum", "torch.einsum",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {einsum(args.text("formula"), tensors(in))};
               }},
              {"scaled_dot_product_attention", "F.scaled_dot_product_attention",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {scaled_dot_product_attention(tensor(in, 0), tensor(in, 1), tensor(in, 2),
                                                      options(in, args))};
               },
               "grouped heads without a flag; a mask and `causal` may go together."},
              {"flash_attention", "F.scaled_dot_product_attention",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {flash_attention(tensor(in, 0), tensor(in, 1), tensor(in, 2), args.flag("causal"),
                                         options(in, args).mask, options(in, args).scale)};
               }},
          }};
}

}  // namespace luminal::ops
