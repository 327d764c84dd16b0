// Evaluates the roots of a search and stores their contexts: the initial inference behind a step
// runner. Eager ones run libtorch's operations on any device, packed ones lzero's own code on the
// CPU, and on a CUDA device graphs replay what eager ones ask for. No gradients. Belongs to one
// thread.
#ifndef LZERO_FAMILY_UNIZERO_ENGINE_ROOT_RUNNER_H_
#define LZERO_FAMILY_UNIZERO_ENGINE_ROOT_RUNNER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

// Past steps of a root (observation and action each) that determine its context exactly: L (W - 1)
// tokens, the reach of L stacked bands.
int64_t NumRootPastSteps(const ModelConfig& config);

// Where the roots at `rows` are written: root r to row r of both.
struct RootOutputs {
  absl::Span<float> prior_logits;  // [num_roots, policy size] float32
  absl::Span<float> values;        // [num_roots] float32
};

class RootRunner {
 public:
  virtual ~RootRunner() = default;

  // Evaluates the roots at `rows` [n], indices into `roots`, from their past steps alone; each
  // context replaces the one of its environment. InvalidArgument for an action out of range; errors
  // of the cache.
  virtual absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                               const RootOutputs& outputs) = 0;
  // The same from the cached context of the step before, which must be there (HasInit), by the
  // newest past action and the root's observation.
  virtual absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                                const RootOutputs& outputs) = 0;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ENGINE_ROOT_RUNNER_H_
