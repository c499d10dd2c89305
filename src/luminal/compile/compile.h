#pragma once
#include <memory>

#include "luminal/compile/executable.h"
#include "luminal/compile/options.h"
#include "luminal/frontend/graph.h"

namespace luminal {

/// Turns a graph into code for a device. Values that the graph holds are the executable's first ones. The
/// graph may change afterwards without the executable noticing. Throws `Error` for what the user gave, and
/// `InternalError`, with the printed IR, if a stage broke a promise.
Executable compile(const Graph& graph, std::shared_ptr<runtime::Device> device,
                   const CompileOptions& options = {}, Location where = Location::current());

}  // namespace luminal
