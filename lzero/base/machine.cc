#include "lzero/base/machine.h"

#include <unistd.h>

namespace lzero {

int64_t MachineMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace lzero
