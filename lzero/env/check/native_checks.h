// What is asked of native environments beyond the suite for all (conformance.h): they draw
// themselves, and refuse a negative step cap. One list for `lzero envs check` and the tests. Blocks
// for a moment; one thread.
#ifndef LZERO_ENV_CHECK_NATIVE_CHECKS_H_
#define LZERO_ENV_CHECK_NATIVE_CHECKS_H_

#include <string>
#include <vector>

#include "lzero/env/check/conformance.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// Whether this is asked of the environments of `entry`: no plugin, no worker process.
bool IsNative(const EnvRegistry::Entry& entry);

// draws_text, draws_pictures and negative_cap_refused of the environment `id` with `options`, which
// `registry` can make. `on_check` as in ConformanceOptions.
std::vector<ConformanceCheck> RunNativeChecks(
    const EnvRegistry& registry, const std::string& id, const EnvOptions& options,
    const std::function<void(const ConformanceCheck&)>& on_check = nullptr);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_NATIVE_CHECKS_H_
