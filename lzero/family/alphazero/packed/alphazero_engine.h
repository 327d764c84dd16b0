// Initial and recurrent inference of AlphaZero [Silver et al. 2018] for one role: environments of
// its own that every step of a search is played in (env_simulator.h). All new positions of a
// simulation are evaluated in one batch; roots carry saved states. How the network is run is a
// subclass's. Its copy_seconds are those inside the environments. Spans have the shapes of
// InferenceModel, float32. An engine belongs to one thread.
#ifndef LZERO_FAMILY_ALPHAZERO_PACKED_ALPHAZERO_ENGINE_H_
#define LZERO_FAMILY_ALPHAZERO_PACKED_ALPHAZERO_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/family/alphazero/packed/env_simulator.h"
#include "lzero/inference/policy_engine.h"

namespace lzero {

class AlphaZeroEngine : public PolicyEngine {
 public:
  AlphaZeroEngine(const EngineOptions& options, std::unique_ptr<EnvSimulator> simulator);

  bool NeedsState() const override { return true; }
  // Reads the newest observation of each root alone; -infinity where the root's mask says illegal.
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  // Errors as EnvSimulator::Step.
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;

 protected:
  size_t width() const { return static_cast<size_t>(options().shape.num_actions); }
  // Prior logits [n, A] and values [n] of n positions [n, observation size].
  virtual absl::Status EvaluatePositions(const std::vector<float>& observations,
                                         std::vector<float>* policies,
                                         std::vector<float>* values) = 0;

 private:
  void AddPosition(size_t row, absl::Span<const float> observation);
  // Evaluates host_observations_, a row for each of rows_, and writes to those of the outputs,
  // policies [B, A] and values [B].
  absl::Status Evaluate(absl::Span<float> policies, absl::Span<float> values);

  std::unique_ptr<EnvSimulator> simulator_;
  std::vector<size_t> rows_;
  std::vector<int32_t> actions_;  // [B] of the environment
  std::vector<float> host_observations_, host_policies_, host_values_;
};

// `make_env` makes options.num_envs environments; it is not kept.
absl::StatusOr<std::unique_ptr<EnvSimulator>> MakeSimulator(const EngineOptions& options,
                                                            const EnvFactory& make_env);
// Bytes of its states. Errors as EnvSimulator::Create.
absl::StatusOr<int64_t> AlphaZeroStateBytes(const EngineOptions& options,
                                            const EnvFactory& make_env);

// The packed engine, on the CPU: its weights are zeros until the first CopyWeightsFrom. Errors as
// CheckEncoder and EnvSimulator::Create.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedAlphaZero(const EngineOptions& options,
                                                                     const EnvFactory& make_env);
// Bytes of weights, buffers and states. Errors as MakePackedAlphaZero.
absl::StatusOr<int64_t> PackedAlphaZeroBytes(const EngineOptions& options,
                                             const EnvFactory& make_env);

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_PACKED_ALPHAZERO_ENGINE_H_
