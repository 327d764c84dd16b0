// What a device is asked to do in a search and in an update, counted instead of timed: the same
// numbers on every machine, so that a test can hold them. The CUDA runtime must count its calls,
// which the null GPU does (tests/null_gpu).
#ifndef LZERO_TOOLS_BENCH_DEVICE_COUNTS_H_
#define LZERO_TOOLS_BENCH_DEVICE_COUNTS_H_

#include <array>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// What is counted: its name in JSON, and what the runtime calls it.
struct CountedCall {
  const char* name;
  const char* counter;
};

inline constexpr std::array<CountedCall, 6> kCountedCalls = {{
    {"kernels", "kernels"},              // launched one by one
    {"graphs", "graph_launches"},        // launched
    {"graph_kernels", "graph_kernels"},  // kernels in these
    {"graph_copies", "graph_copies"},    // copies and fills in these
    {"copies", "copies"},                // between host and device, or within the device
    {"waits", "waits"},                  // of the host, for a stream, an event or the device
}};

// Calls by kCountedCalls.
using DeviceCounts = std::array<double, kCountedCalls.size()>;

struct CountedWork {
  std::string what;  // "roots", "simulation", "update"
  DeviceCounts counts;
};

// Plays `config` with a collector until updates can be made, then counts eight more searches and
// two updates: means for the roots of a search, one simulation for all roots and one update. The
// config must name a device. FailedPrecondition where the runtime counts nothing.
absl::StatusOr<std::vector<CountedWork>> CountDeviceWork(const ExperimentConfig& config,
                                                         const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_DEVICE_COUNTS_H_
