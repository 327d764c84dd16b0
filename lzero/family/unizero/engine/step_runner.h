// What steps the nodes of an engine's searches: parents' contexts and actions in; rewards, values
// and policies out, and the children's tokens into the cache. Packed on the CPU, or through
// libtorch
// (../runners). Floats are float32. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_STEP_RUNNER_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_STEP_RUNNER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/stopwatch.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// One step of an engine: B parents, whose contexts are read from its cache, and their children,
// whose tokens are stored there.
struct NodeStep {
  absl::Span<const ContextKey> parents;  // [B]
  absl::Span<const ChildKey> children;   // [B]
  ChosenActions actions;                 // [B]
  absl::Span<float> rewards;             // out: [B]
  absl::Span<float> values;              // out: [B], of the children
  absl::Span<float> policies;            // out: [B, policy size], of the children
};

// What the time of a NodeStep is added to.
struct StepTimes {
  Stopwatch* copy;
  Stopwatch* network;
};

class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual std::string name() const = 0;
  // Runs a step of the engine that `cache` belongs to, outputs and all. Errors as CloneInto and
  // StoreRecurrent.
  virtual absl::Status RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                                const StepTimes& times) = 0;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_STEP_RUNNER_H_
