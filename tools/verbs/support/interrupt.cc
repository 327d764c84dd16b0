#include "tools/verbs/support/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "lzero/base/files.h"
#include "lzero/env/plugin_crash.h"
#include "lzero/run/status_file.h"

namespace lzero {
namespace {

constexpr int64_t kNever = -1;
constexpr int64_t kSameSignalMs = 1000;

std::atomic<bool> interrupted{false};
std::atomic<int64_t> first_signal_ms{kNever};
std::atomic<const char*> status_path{nullptr}, log_path{nullptr};  // of the run
std::atomic<const InterruptTexts*> interrupt_texts{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free);
static_assert(std::atomic<int64_t>::is_always_lock_free);
static_assert(std::atomic<const InterruptTexts*>::is_always_lock_free);

// Async-signal-safe. The line begins anew behind the ^C that a terminal shows.
void Say(const char* text) {
  for (const char* part : {"\n", text, "\n"}) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, part, std::strlen(part));
  }
}

int64_t NowMs() {
  struct timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

void OnSignal(int signal) {
  const InterruptTexts& texts = *interrupt_texts.load();
  const int64_t now = NowMs();
  int64_t first = kNever;
  if (first_signal_ms.compare_exchange_strong(first, now)) {
    interrupted = true;
    return Say(texts.first);
  }
  // A closed terminal sends several.
  if (signal == SIGHUP || now - first < kSameSignalMs) return;
  if (const char* path = status_path.load(); path != nullptr) MarkStopped(path);
  Say(texts.second);
  _exit(kExitInterrupted);
}

// A plugin's crash, told in `line`, ends the program.
void OnCrash(const char* line) {
  MarkStopped(status_path.load());
  const int file = open(log_path.load(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, line, std::strlen(line));
  close(file);
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

void MarkRunWhenStopped(const std::string& run_dir) {
  // They live as long as the handlers.
  status_path = (new std::string(JoinPath(run_dir, "status.json")))->c_str();
  log_path = (new std::string(JoinPath(run_dir, "log.txt")))->c_str();
  SetCrashAct(OnCrash);
}

}  // namespace lzero
