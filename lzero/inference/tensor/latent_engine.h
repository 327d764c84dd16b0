// What engines share when their nodes are latent states alone: the latents of all nodes of the
// running searches, addressed by (root, NodeId). The family says which network leads from one
// latent to the next. All tensors float32 unless said; no gradients. Belongs to one thread.
#ifndef LZERO_INFERENCE_TENSOR_LATENT_ENGINE_H_
#define LZERO_INFERENCE_TENSOR_LATENT_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/inference/tensor/engine_network.h"
#include "lzero/model/latent_network.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class LatentEngine : public PolicyEngine {
 public:
  ~LatentEngine() override;
  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override {
    return network_.CopyFrom(source, [] {});
  }
  std::string runner_name() const override { return "eager"; }
  // Bytes of weights, latents and observations; `network` may lie on the meta device.
  static int64_t Bytes(const EngineOptions& options, const LatentNetwork& network);

 protected:
  // Allocates latents of S = network->latent_size() numbers a node; call it inside CatchTorch.
  LatentEngine(const EngineOptions& options, EngineDevice device,
               std::shared_ptr<LatentNetwork> network);

  const EngineDevice& device() const { return network_.device(); }
  // Calls `body` with the device's stream current and without gradients.
  absl::Status OnDevice(absl::FunctionRef<absl::Status()> body) const;
  int64_t nodes_per_root() const { return options().search.NodesPerRoot(); }
  // Row of a node in latents().
  int64_t RowOf(size_t root, NodeId node) const {
    return static_cast<int64_t>(root) * nodes_per_root() + node.value;
  }
  const at::Tensor& latents() const { return latents_; }  // [num_envs * nodes_per_root, S]
  // The newest observations of the roots on the device, [n, observation size].
  absl::StatusOr<at::Tensor> StageObservations(absl::Span<const Root> roots);
  // Makes `latents` [n, S] node 0 of the roots.
  void KeepRoots(const at::Tensor& latents);
  size_t num_roots() const { return num_roots_; }

  // Copies `tensor` [n] of the device to `values` [n] on the host. Blocks.
  static absl::Status CopyOut(const char* name, const at::Tensor& tensor, absl::Span<float> values);

 private:
  EngineNetwork network_;  // destroyed last: its device owns the stream of the work
  at::Tensor latents_;
  Staging observations_;                  // [num_envs, observation size]
  std::vector<float> host_observations_;  // scratch
  size_t num_roots_ = 0;                  // of the last StageObservations
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_TENSOR_LATENT_ENGINE_H_
