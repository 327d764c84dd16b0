// Initial and recurrent inference of AlphaZero [Silver et al. 2018] for one role: its own copy of
// the weights, and environments of its own that every step of a search is played in
// (env_simulator.h). All new positions of a simulation are evaluated in one batch. Implements the
// interface that search needs; roots carry saved states. Spans have the shapes of InferenceModel,
// float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_
#define LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/env.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/env_simulator.h"
#include "lzero/inference/engine_device.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class AlphaZeroInference : public InferenceEngine {
 public:
  // The weights are those of a fresh network of seed 0. `make_env` makes options.num_envs
  // environments; it is not kept. Errors of the encoder, the device and EnvSimulator::Create.
  static absl::StatusOr<std::unique_ptr<AlphaZeroInference>> Create(const EngineOptions& options,
                                                                    const EnvFactory& make_env);
  // Bytes of weights, buffers and states. Errors as Create, but for those of the device.
  static absl::StatusOr<int64_t> PlannedBytes(const EngineOptions& options,
                                              const EnvFactory& make_env);
  ~AlphaZeroInference() override;

  int num_actions() const override { return static_cast<int>(options_.shape.num_actions); }
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

  absl::Status CopyWeightsFrom(const Network& source) override;
  const Network& network() const override { return *network_; }
  std::string runner_name() const override { return "eager"; }
  double network_seconds() const override { return network_time_.seconds(); }
  // Time inside the environments.
  double copy_seconds() const override { return simulator_time_.seconds(); }

 private:
  struct Parts {
    EngineDevice device;
    std::shared_ptr<AlphaZeroNetwork> network;
    std::unique_ptr<EnvSimulator> simulator;
    Staging observations, policies, values;
  };
  AlphaZeroInference(const EngineOptions& options, Parts parts);
  static absl::StatusOr<std::unique_ptr<AlphaZeroInference>> CreateOn(const EngineOptions& options,
                                                                      const EnvFactory& make_env,
                                                                      EngineDevice device);
  // Evaluates host_observations_, a row for each of `rows`, and writes to those of the outputs,
  // prior_logits [B, A] and values [B].
  absl::Status Evaluate(absl::Span<const size_t> rows, absl::Span<float> prior_logits,
                        absl::Span<float> values);

  EngineOptions options_;
  EngineDevice device_;  // destroyed last: it owns the stream of all the rest
  std::shared_ptr<AlphaZeroNetwork> network_;
  std::unique_ptr<EnvSimulator> simulator_;
  Staging observations_;  // [num_envs, observation size]
  Staging policies_;      // [num_envs, A] logits
  Staging values_;        // [num_envs]
  Stopwatch network_time_, simulator_time_;
  std::vector<size_t> rows_;
  std::vector<float> host_observations_, host_policies_, host_values_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_
