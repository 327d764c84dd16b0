// The functions of a captured step on the host: at once instead of on a stream, rows one after the
// other with one lane. For tests without a device.
#ifndef LZERO_TESTS_SUPPORT_PLAIN_STEP_FUNCTIONS_H_
#define LZERO_TESTS_SUPPORT_PLAIN_STEP_FUNCTIONS_H_

#include "lzero/inference/device/step_functions.h"

namespace lzero {

const StepFunctions& PlainStepFunctions();

}  // namespace lzero

#endif  // LZERO_TESTS_SUPPORT_PLAIN_STEP_FUNCTIONS_H_
