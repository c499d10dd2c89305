#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "luminal/graph/array.h"
#include "luminal/io/format.h"

namespace luminal::io {

/// The formats that `encode_tensor` writes.
bool can_encode(Format format);

/// A tensor of any dtype in a stored format. Q8_0 and Q4_0 give the blocks of ggml's reference; Q4_K and Q6_K
/// choose each group's scale for the least weighted square error. `Error` for a format that cannot be
/// written, a last dim that is not whole blocks, and, in block formats, values that are not finite or
/// whose scale f16 cannot hold.
std::vector<std::byte> encode_tensor(Format format, const Array& array);

}  // namespace luminal::io
