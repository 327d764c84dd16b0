// Initial and recurrent inference of a MuZero network for one role: one latent state a node. Plain
// libtorch on any device; nothing is kept between searches. Spans have the shapes of
// InferenceModel, float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_
#define LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/inference/latent_engine.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class MuZeroInference : public LatentEngine {
 public:
  // Allocates weights, latents and buffers. The weights are of no use until the first
  // CopyWeightsFrom. Errors as MuZeroNetwork::Create and MakeEngineDevice.
  static absl::StatusOr<std::unique_ptr<MuZeroInference>> Create(const EngineOptions& options);
  // Bytes that Create keeps for good. Nothing is allocated.
  static absl::StatusOr<int64_t> PlannedBytes(const EngineOptions& options);
  ~MuZeroInference() override;

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override;
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override;

 private:
  // Between host and device. Axes: M = num_envs rows.
  struct Buffers {
    Staging observations;       // [M, observation size]
    Staging actions;            // [M] int64; box: [M, D] float32
    Staging parents, children;  // [M] int64, rows of latents()
  };
  static absl::StatusOr<Buffers> MakeBuffers(const EngineOptions& options, at::Device device);
  MuZeroInference(const EngineOptions& options, EngineDevice device,
                  std::shared_ptr<MuZeroNetwork> network, Buffers buffers);

  absl::Status StageRows(absl::Span<const NodeId> nodes, Staging* staging);
  // Value [B] and policy [B, policy size] of latents [B, S] to the host.
  absl::Status ReadPredictions(const at::Tensor& latents, absl::Span<float> values,
                               absl::Span<float> policies);

  std::shared_ptr<MuZeroNetwork> model_;
  Staging actions_, parents_, children_;
  std::vector<int64_t> rows_;  // scratch
};

}  // namespace lzero

#endif  // LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_
