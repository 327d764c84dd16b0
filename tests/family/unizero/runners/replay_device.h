// A device whose graphs are replayed on the CPU and whose functions are compiled for the host.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_REPLAY_DEVICE_H_
#define LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_REPLAY_DEVICE_H_

#include <memory>

#include "lzero/inference/tensor/engine_device.h"
#include "tests/graph/replay_backend.h"
#include "tests/kv_cache/plain_contexts.h"
#include "tests/support/plain_functions.h"
#include "tests/support/plain_step_functions.h"

namespace lzero {

inline EngineDevice MakeReplayDevice() {
  EngineDevice device;
  device.backend = std::make_unique<ReplayBackend>();
  device.search_functions = &PlainFunctions();
  device.context_functions = &PlainContextFunctions();
  device.step_functions = &PlainStepFunctions();
  return device;
}

// What the device of MakeReplayDevice counts.
inline ReplayBackend& BackendOf(const EngineDevice& device) {
  return static_cast<ReplayBackend&>(*device.backend);
}

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_REPLAY_DEVICE_H_
