#pragma once

namespace luminal::train {

/// While it lives, Ctrl-C and SIGTERM are noted instead of ending the process; the second one ends it after
/// all.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool active);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();
  bool interrupted() const;

 private:
  bool active_;
};

}  // namespace luminal::train
