#include "refusal.h"

namespace luminal {
namespace {

REFUSED(too_many_elements, "shape [1099511627776, 1099511627776]: the number of elements exceeds 2^63 - 1") {
  g.tensor({1LL << 40, 1LL << 40}).reshape({-1});
}
REFUSED(permute_count, "permute: 1 axes for a tensor of rank 2") {
  g.tensor({2, 3}).permute({0});
}
REFUSED(permute_twice, "permute: axis 0 is given twice") {
  g.tensor({2, 3}).permute({0, -2});
}
REFUSED(permute_range, "permute: axis 2 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).permute({0, 2});
}
REFUSED(transpose_range, "transpose: axis -3 is out of range for a tensor of rank 2") {
  g.tensor({2, 3}).transpose(0, -3);
}
REFUSED(reshape_count, "reshape: [2, 3] has 6 elements, [4] has 4") {
  g.tensor({2, 3}).reshape({4});
}
REFUSED(reshape_two_unknown, "reshape: [-1, -1] has more than one dim of -1") {
  g.tensor({2, 3}).reshape({-1, -1});
}
REFUSED(reshape_not_multiple, "reshape: [2, 3] has 6 elements, not a multiple of 4 as [-1, 4] needs") {
  g.tensor({2, 3}).reshape({-1, 4});
}
REFUSED(reshape_ambiguous, "reshape: the dim of -1 in [0, -1] could be anything") {
  g.tensor({0, 3}).reshape({0, -1});
}
REFUSED(expand_rank, "expand: [2, 3] has a higher rank than [3]") {
  g.tensor({2, 3}).expand({3});
}
REFUSED(expand_size, "expand: [2, 3] does not fit [4, 3] at axis 0: 2 against 4") {
  g.tensor({2, 3}).expand({4, 3});
}
REFUSED(squeeze_size, "squeeze: axis 1 of [2, 3] has 3 elements, expected 1") {
  g.tensor({2, 3}).squeeze(-1);
}
REFUSED(unsqueeze_range, "unsqueeze: axis 4 is out of range for a tensor of rank 3") {
  g.tensor({2, 3}).unsqueeze(4);
}
REFUSED(merge_last, "merge_dims: axis 1 of [2, 3] is the last one") {
  g.tensor({2, 3}).merge_dims(1);
}
REFUSED(split_not_multiple, "split_dims: axis 1 of [2, 3] is not a multiple of 2") {
  g.tensor({2, 3}).split_dims(1, 2);
}
REFUSED(split_zero, "split_dims: the inner dim is 0, expected at least 1") {
  g.tensor({2, 3}).split_dims(1, 0);
}
REFUSED(slice_step, "slice: the step is -1, expected at least 1") {
  g.tensor({4}).slice(0, 0, 4, -1);
}
REFUSED(slice_axis, "slice: axis 1 is out of range for a tensor of rank 1") {
  g.tensor({4}).slice(1, 0, 4);
}
REFUSED(flip_range, "flip: axis 0 is out of range for a tensor of rank 0") {
  g.tensor({}).flip(0);
}
REFUSED(dims_rank, "dims2: the tensor has shape [2, 3, 4], of rank 3") {
  g.tensor({2, 3, 4}).dims2();
}

}  // namespace
}  // namespace luminal
