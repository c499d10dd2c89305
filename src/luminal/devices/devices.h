#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/runtime/device.h"

namespace luminal {

/// The devices of this machine that this build can use, the fastest first.
std::vector<std::string> device_names();
/// One of them. `Error` naming those there are, if there is no such one. Made once a process.
std::shared_ptr<runtime::Device> device(std::string_view name);
std::shared_ptr<runtime::Device> best_device();

}  // namespace luminal
