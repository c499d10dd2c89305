#pragma once
#include "luminal/backend/cpu/device.h"

namespace luminal::test {

/// This machine's processor with a page that cannot be touched after (or before) every buffer: a kernel that
/// reads or writes outside of its buffers does not get through a test.
inline std::shared_ptr<runtime::Device> guarded_cpu() {
  static const auto device = cpu::make_device({.guarded = true});
  return device;
}

}  // namespace luminal::test
