// The functions of a device search on the host: the same steps over blocks in the memory of the
// host, at once instead of on a stream. For tests without a device.
#ifndef LZERO_TESTS_SUPPORT_PLAIN_FUNCTIONS_H_
#define LZERO_TESTS_SUPPORT_PLAIN_FUNCTIONS_H_

#include "lzero/mcts/device/device_functions.h"

namespace lzero {

const DeviceFunctions& PlainFunctions();

// How many memories are not destroyed.
int NumPlainMemories();

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_PLAIN_FUNCTIONS_H_
