#include "tools/interrupt.h"

#include <unistd.h>

#include <csignal>

namespace lzero {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void OnSignal(int) {
  if (interrupted.exchange(true)) _exit(kExitInterrupted);
  constexpr char kMessage[] = "\ninterrupted: finishing this step (again to stop at once)\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
}

}  // namespace

const std::atomic<bool>* WatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return &interrupted;
}

}  // namespace lzero
