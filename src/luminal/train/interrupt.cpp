#include "luminal/train/interrupt.h"

#include <csignal>

namespace luminal::train {
namespace {

// A signal handler can reach nothing but a global.
volatile std::sig_atomic_t noted = 0;
struct sigaction before_interrupt;
struct sigaction before_terminate;

void note(int signal) {
  if (noted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  noted = 1;
}

}  // namespace

InterruptGuard::InterruptGuard(bool active) : active_(active) {
  if (!active) return;
  noted = 0;
  struct sigaction action{};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &before_interrupt);
  ::sigaction(SIGTERM, &action, &before_terminate);
}

InterruptGuard::~InterruptGuard() {
  if (!active_) return;
  ::sigaction(SIGINT, &before_interrupt, nullptr);
  ::sigaction(SIGTERM, &before_terminate, nullptr);
}

bool InterruptGuard::interrupted() const {
  return active_ && noted != 0;
}

}  // namespace luminal::train
