#pragma once
#include "luminal/graph/node.h"
#include "luminal/support/sink.h"

namespace luminal {

/// Runs a `print` or `diff` node on the array it reads: print shows the number of elements, the first, middle
/// and last five, and the shape; diff compares with a file of raw f32 values and tells how the two differ. An
/// unreadable file is an `Error`; a difference is not, it is reported.
void run_effect(const Node& node, const Array& array, const Sink& sink);

}  // namespace luminal
