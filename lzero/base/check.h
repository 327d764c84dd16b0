// Checks for our own bugs: on in every build, they print what was expected and stop the program.
// Not for mistakes that come from outside (files, configs, environments): those are absl::Status.
// Thread-safe.
#ifndef LZERO_BASE_CHECK_H_
#define LZERO_BASE_CHECK_H_

#include <string>

#include "absl/strings/str_cat.h"

namespace lzero::internal {

// Prints "file:line: check failed: expression message" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* expression,
                              const std::string& message);

}  // namespace lzero::internal

// LZ_CHECK(n > 0, "batch of ", n): the message parts go through absl::StrCat.
#define LZ_CHECK(condition, ...)                                                                   \
  do {                                                                                             \
    if (!(condition)) [[unlikely]] {                                                               \
      ::lzero::internal::CheckFailed(__FILE__, __LINE__, #condition, ::absl::StrCat(__VA_ARGS__)); \
    }                                                                                              \
  } while (false)

// The same in loops measured to matter: off unless NDEBUG is undefined.
#ifdef NDEBUG
#define LZ_DCHECK(condition, ...) \
  do {                            \
  } while (false)
#else
#define LZ_DCHECK(condition, ...) LZ_CHECK(condition, __VA_ARGS__)
#endif

#endif  // LZERO_BASE_CHECK_H_
