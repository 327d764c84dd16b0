// Ctrl-C and SIGTERM as a flag that long-running verbs poll. A second signal ends the program at
// once with exit code 130.
#ifndef LZERO_TOOLS_INTERRUPT_H_
#define LZERO_TOOLS_INTERRUPT_H_

#include <atomic>

namespace lzero {

// Installs the handlers (once) and returns the flag, false until the first signal.
const std::atomic<bool>* WatchInterrupts();

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitThreshold = 3;
inline constexpr int kExitInterrupted = 130;

}  // namespace lzero

#endif  // LZERO_TOOLS_INTERRUPT_H_
