// Initial and recurrent inference of a Stochastic MuZero network for one role: latent states of
// decision nodes and of afterstates, which alternate along every path, addressed by (EnvId,
// NodeId). Plain libtorch on any device; nothing is kept between searches. Spans have the shapes of
// InferenceModel, float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_
#define LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"
#include "lzero/inference/latent_engine.h"

namespace lzero {

class StochasticMuZeroInference : public LatentEngine {
 public:
  // Errors as StochasticMuZeroNetwork::Create and MakeEngineDevice.
  static absl::StatusOr<std::unique_ptr<StochasticMuZeroInference>> Create(
      const EngineOptions& options);
  // Bytes that Create keeps for good. Nothing is allocated.
  static absl::StatusOr<int64_t> PlannedBytes(const EngineOptions& options);
  ~StochasticMuZeroInference() override;

  int num_chance_outcomes() const override {
    return static_cast<int>(options().shape.num_chance_outcomes);
  }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  // An action leads to an afterstate: reward 0, discount 1. A chance outcome leads on: the reward
  // of the step, and its discount.
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;

 private:
  // The rows of a step whose parents are of one kind: their numbers, the rows of their nodes in
  // latents(), and the action or outcome between those.
  struct Rows {
    std::vector<int64_t> rows, parents, children, edges;
    void Clear();
  };
  // Where a step writes, [B] and [B, width()].
  struct Outputs {
    absl::Span<float> values;
    absl::Span<float> logits;
  };
  StochasticMuZeroInference(const EngineOptions& options, EngineDevice device,
                            std::shared_ptr<StochasticMuZeroNetwork> network, Staging observations);

  // Steps by_action_ and by_chance_.
  absl::Status RunActions(const Outputs& outputs);
  absl::Status RunChances(absl::Span<float> rewards, const Outputs& outputs);
  // Values [n] and logits [n, columns] to the rows' places; -infinity in the columns after them.
  absl::Status Scatter(const Rows& rows, const at::Tensor& values, const at::Tensor& logits,
                       const Outputs& outputs);
  // `numbers` [n] as an int64 tensor [n] on the device; they must live as long as the tensor.
  at::Tensor ToDevice(std::vector<int64_t>& numbers) const;
  // Length of a row of logits: the number of actions or of outcomes, whichever is larger.
  size_t width() const;

  std::shared_ptr<StochasticMuZeroNetwork> model_;
  std::vector<uint8_t> is_afterstate_;  // [M nodes_per_root], 1: what follows is chance
  Rows by_action_, by_chance_;          // scratch
  std::vector<float> numbers_;          // scratch
};

}  // namespace lzero

#endif  // LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_
