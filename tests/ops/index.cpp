#include "suite.h"

namespace luminal::ops {
namespace {

/// All inputs but the first, the tensor, and the last, the values.
std::vector<Tensor> indices(const Inputs& in) {
  std::vector<Tensor> result;
  for (std::size_t k = 1; k + 1 < in.size(); ++k) result.push_back(tensor(in, k));
  return result;
}

}  // namespace

Family index_family() {
  return {"index",
          "By index",
          {
              {"gather", "torch.gather",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).gather(args.axis(), tensor(in, 1))};
               }},
              {"scatter", "torch.scatter",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).scatter(args.axis(), tensor(in, 1), in[2])};
               },
               "of repeated positions the last counts."},
              {"scatter_add", "torch.scatter_add",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).scatter_add(args.axis(), tensor(in, 1), tensor(in, 2))};
               }},
              {"index_select", "torch.index_select",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).index_select(args.axis(), tensor(in, 1))};
               }},
              {"index_put", "torch.index_put",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).index_put(indices(in), in.back(), args.flag("accumulate"))};
               }},
              {"embedding", "F.embedding",
               [](Graph&, const Inputs& in, const Args&) -> Outputs {
                 return {embedding(tensor(in, 0), tensor(in, 1))};
               }},
              {"one_hot", "F.one_hot",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).one_hot(args.size("classes"))};
               },
               "a position outside the classes gives no 1."},
              {"take_along_axis", "torch.take_along_dim",
               [](Graph&, const Inputs& in, const Args& args) -> Outputs {
                 return {tensor(in, 0).take_along_axis(tensor(in, 1), args.axis())};
               }},
          }};
}

}  // namespace luminal::ops
