#pragma once
#include <string>
#include <vector>

#include "luminal/graph/dag.h"

namespace luminal {

/// Cuts an execution order into intervals such that repeated layers, forward, backward or both, are intervals
/// of their own: regions that are equal but for what they read are then compiled once. Found by isomorphism,
/// never by names. At least three repetitions; one interval if there are none. Inputs, states, constants and
/// iotas belong to no interval.
std::vector<std::vector<NodeId>> roll_layers(const Dag& dag, const std::vector<NodeId>& order);

}  // namespace luminal
