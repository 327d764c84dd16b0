// Replaces operator new in this test program by one that counts. Not in the same file as what it
// counts: the compiler would see through it. Thread-safe.
#ifndef LZERO_TESTS_SUPPORT_COUNTED_NEW_H_
#define LZERO_TESTS_SUPPORT_COUNTED_NEW_H_

#include <cstdint>

namespace lzero {

// Calls of operator new since the program began.
int64_t NumAllocations();
// Bytes that they asked for; what was freed since is not taken off.
int64_t AllocatedBytes();

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_COUNTED_NEW_H_
