// What engines share whose nodes are latent states alone: a copy of the weights, the latents of all
// nodes of the running searches addressed by (root, NodeId), and the device they lie on. The family
// says which network leads from one latent to the next. All tensors float32 unless said; no
// gradients. Belongs to one thread.
#ifndef LZERO_INFERENCE_LATENT_ENGINE_H_
#define LZERO_INFERENCE_LATENT_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/stopwatch.h"
#include "lzero/inference/engine_device.h"
#include "lzero/inference/policy_engine.h"
#include "lzero/model/network.h"
#include "lzero/tensor/staging.h"

namespace lzero {

class LatentEngine : public PolicyEngine {
 public:
  ~LatentEngine() override;

  absl::Status CopyWeightsFrom(const Network& source) override;
  const Network& network() const override { return *network_; }
  std::string runner_name() const override { return "eager"; }
  double network_seconds() const override { return network_time_.seconds(); }
  double copy_seconds() const override { return copy_time_.seconds(); }

 protected:
  // Room for the observations of all roots: [num_envs, observation size]. Errors as Staging.
  static absl::StatusOr<Staging> MakeObservations(const EngineOptions& options, at::Device device);
  // `latent_size` is S: numbers a node.
  LatentEngine(const EngineOptions& options, EngineDevice device, std::shared_ptr<Network> network,
               int64_t latent_size, Staging observations);
  // Bytes of weights, latents and observations.
  static int64_t BytesFor(const EngineOptions& options, int64_t num_parameters,
                          int64_t latent_size);

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

  Stopwatch network_time_, copy_time_;

 private:
  EngineDevice device_;  // destroyed last: it owns the stream of all the rest
  std::shared_ptr<Network> network_;
  at::Tensor latents_;
  Staging observations_;                  // [num_envs, observation size]
  std::vector<float> host_observations_;  // scratch
  size_t num_roots_ = 0;                  // of the last StageObservations
};

}  // namespace lzero

#endif  // LZERO_INFERENCE_LATENT_ENGINE_H_
