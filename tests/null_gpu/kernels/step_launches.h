// The kernels of a captured step (lzero/inference/device/token_kernels.h).
#ifndef LZERO_TESTS_NULL_GPU_KERNELS_STEP_LAUNCHES_H_
#define LZERO_TESTS_NULL_GPU_KERNELS_STEP_LAUNCHES_H_

#include <optional>
#include <string>

#include "tests/null_gpu/kernels/launch.h"

namespace lzero::null_gpu {

// The work of such a kernel by its mangled name; none for another kernel.
std::optional<Work> WorkOfStep(const std::string& name, const Launch& launch);

}  // namespace lzero::null_gpu

#endif  // LZERO_TESTS_NULL_GPU_KERNELS_STEP_LAUNCHES_H_
