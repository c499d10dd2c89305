#pragma once
#include "luminal/runtime/device.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What the device reaches at best, measured with programs that do nothing else: bytes a second from memory,
/// floating-point operations a second in fused multiply-adds of f32, element-wise operations a second on data
/// that is close, and what starting a kernel takes. Takes about half a second.
search::MachineModel measure_ceilings(runtime::Device& device);

/// Of what was measured twice, the best: others may have used the machine at one of the times.
search::MachineModel highest(const search::MachineModel& once, const search::MachineModel& again);

}  // namespace luminal
