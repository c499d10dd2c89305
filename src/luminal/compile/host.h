#pragma once
#include <functional>

#include "luminal/graph/dag.h"
#include "luminal/runtime/plan.h"
#include "luminal/support/sink.h"

namespace luminal {

/// What the host does for a custom op, a sort, a print or a diff. The node is copied: the graph may go.
std::function<void(const runtime::HostCall&)> host_step(const Dag& dag, NodeId id, const Sink& sink);

}  // namespace luminal
