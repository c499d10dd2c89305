#pragma once
#include "luminal/rewrite/terms.h"

namespace luminal::rewriting {

/// Values that are compared with themselves, as the backward of a maximum and `argmax` do (x = max x):
/// computed twice, in another order or with another choice of terms, they would differ in their last bits and
/// equal nothing. Such a value is marked `is_single`, so that it is computed once and read from memory, and
/// the comparison's operands keep only those terms that read it.
void mark_compared(Terms& terms);

}  // namespace luminal::rewriting
