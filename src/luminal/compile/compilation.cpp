#include "luminal/compile/compilation.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>

namespace luminal {

Compilation::Compilation(std::shared_ptr<runtime::Device> device, std::vector<runtime::Plan> plans,
                         runtime::BinaryStore* store)
    : device_(std::move(device)), plans_(std::move(plans)), store_(store), made_(plans_.size()) {}

Compilation::~Compilation() {
  end_helpers(true);
}

bool Compilation::compile_next() {
  if (quit_) return false;
  const std::size_t k = next_++;
  if (k >= plans_.size()) return false;
  try {
    made_[k].runner = std::make_shared<runtime::Runner>(
        device_, std::make_shared<const runtime::Plan>(std::move(plans_[k])), store_);
  } catch (const std::exception& error) {
    made_[k].problem = error.what();
  }
  return true;
}

void Compilation::begin() {
  threads_.emplace_back([this] {
    // On Linux a thread has a priority of its own.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 10);
    while (compile_next()) {
    }
  });
}

void Compilation::start_helpers() {
  const int workers = device_->machine().workers;
  for (int k = 1 + static_cast<int>(threads_.size()); k < workers; ++k)
    threads_.emplace_back([this] {
      while (compile_next()) {
      }
    });
}

void Compilation::end_helpers(bool now) {
  if (now) quit_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace luminal
