#pragma once
#include "luminal/backend/cpu/device.h"

namespace luminal::test {

/// This machine's processor with a page that cannot be touched after one buffer, before the next, and so on:
/// a kernel that leaves a buffer at that end by 64 bytes does not get through a test.
inline std::shared_ptr<runtime::Device> guarded_cpu() {
  static const auto device = cpu::make_device({.guarded = true});
  return device;
}

}  // namespace luminal::test
