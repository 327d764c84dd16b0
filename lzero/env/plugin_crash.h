// One line when the program crashes in the code of a plugin, which would else end it without a
// word.
#ifndef LZERO_ENV_PLUGIN_CRASH_H_
#define LZERO_ENV_PLUGIN_CRASH_H_

#include <string>

namespace lzero {

// From now on a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) below code of the library that
// holds `function` is told on standard error, "error: the program crashed in NAME"; then the signal
// does what it does. For plugins, which are never unloaded; by one thread, before others run their
// code.
void TellCrashesOf(const void* function, const std::string& name);

// Called with that line after it is told; must be async-signal-safe. One for the program.
void SetCrashAct(void (*act)(const char* line));

}  // namespace lzero

#endif  // LZERO_ENV_PLUGIN_CRASH_H_
