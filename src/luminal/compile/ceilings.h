#pragma once
#include "luminal/runtime/device.h"
#include "luminal/search/cost.h"

namespace luminal {

/// What the device reaches at best, measured with programs that do nothing else: bytes a second from memory,
/// floating-point operations a second in fused multiply-adds of f32, element-wise operations a second on data
/// that is close, and what starting a kernel takes. Takes about half a second.
search::MachineModel measure_ceilings(runtime::Device& device);

/// A program of which each task sums so many bytes of buffer 0, a piece of its own, several times, into
/// buffer 1.
codegen::Source reading_program(const runtime::Device& device, std::size_t bytes, int times);
/// One that writes to buffer 0 what is there, in words of eight bytes: a task `dims[0]` words of `dims[1]`.
/// Buffer 1 begins with a word of zeros.
codegen::Source rewriting_program(const runtime::Device& device);

/// Of what was measured twice, the best: others may have used the machine at one of the times.
search::MachineModel highest(const search::MachineModel& once, const search::MachineModel& again);

}  // namespace luminal
