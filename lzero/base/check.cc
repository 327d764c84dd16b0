#include "lzero/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lzero::internal {

void CheckFailed(const char* file, int line, const char* expression, const std::string& message) {
  std::fprintf(stderr, "%s:%d: check failed: %s %s\n", file, line, expression, message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace lzero::internal
