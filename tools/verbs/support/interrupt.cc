#include "tools/verbs/support/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstring>

namespace lzero {
namespace {

std::atomic<bool> interrupted{false};
std::atomic<const InterruptTexts*> interrupt_texts{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<const InterruptTexts*>::is_always_lock_free);

// Async-signal-safe. The line begins anew behind the ^C that a terminal shows.
void Say(const char* text) {
  for (const char* part : {"\n", text, "\n"}) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, part, std::strlen(part));
  }
}

void OnSignal(int signal) {
  const InterruptTexts& texts = *interrupt_texts.load();
  if (!interrupted.exchange(true)) return Say(texts.first);
  if (signal == SIGHUP) return;  // a closed terminal sends several
  Say(texts.second);
  _exit(kExitInterrupted);
}

}  // namespace

const std::atomic<bool>* WatchInterrupts(const InterruptTexts& texts) {
  interrupt_texts = &texts;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A closed terminal; under nohup it stays ignored.
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  return &interrupted;
}

}  // namespace lzero
