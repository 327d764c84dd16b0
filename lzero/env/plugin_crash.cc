#include "lzero/env/plugin_crash.h"

#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

// The machine code of a library, and what is said when it crashes.
struct Code {
  uintptr_t begin = 0, end = 0;
  std::string text;
};

std::vector<Code>& AllCode() {
  static auto& all = *new std::vector<Code>();  // never destroyed
  return all;
}

std::atomic<void (*)(const char* line)> crash_act{nullptr};

constexpr int kFrames = 64;

// Async-signal-safe once backtrace was called before: it finds unwind tables without a lock.
void Tell(int signal) {
  void* frames[kFrames];
  const int num_frames = backtrace(frames, kFrames);
  const Code* blamed = nullptr;
  for (int i = 0; i < num_frames && blamed == nullptr; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(frames[i]);
    for (const Code& code : AllCode()) {
      if (address >= code.begin && address < code.end) blamed = &code;
    }
  }
  if (blamed != nullptr) {
    [[maybe_unused]] const ssize_t size =
        write(STDERR_FILENO, blamed->text.data(), blamed->text.size());
    if (const auto act = crash_act.load(); act != nullptr) act(blamed->text.c_str());
  }
  raise(signal);
}

// Finds the machine code that holds `code->begin`.
int FindCode(dl_phdr_info* library, size_t /*size*/, void* code_pointer) {
  auto* const code = static_cast<Code*>(code_pointer);
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = library->dlpi_phdr[i];
    const uintptr_t begin = library->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
    const bool runs = part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0;
    if (!runs || code->begin < begin || code->begin >= end) continue;
    code->begin = begin;
    code->end = end;
    return 1;
  }
  return 0;
}

}  // namespace

void SetCrashAct(void (*act)(const char* line)) { crash_act = act; }

void TellCrashesOf(const void* function, const std::string& name) {
  Code code = {reinterpret_cast<uintptr_t>(function), 0,
               absl::StrCat("error: the program crashed in ", name, "\n")};
  if (dl_iterate_phdr(FindCode, &code) == 0) return;
  for (const Code& known : AllCode()) {
    if (known.begin == code.begin) return;
  }
  AllCode().push_back(std::move(code));
  void* frames[1];
  backtrace(frames, 1);  // loads what it needs
  struct sigaction action = {};
  action.sa_handler = Tell;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // and then it ends as it would have
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace lzero
