#include "lzero/inference/tensor/latent_engine.h"

#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

LatentEngine::LatentEngine(const EngineOptions& options, EngineDevice engine_device,
                           std::shared_ptr<LatentNetwork> network)
    : PolicyEngine(options),
      network_(std::move(engine_device), network),
      latents_(at::zeros({options.num_envs * nodes_per_root(), network->latent_size()},
                         at::TensorOptions().device(device().device()))),
      observations_(Staging::Wrap(
          "observations of roots",
          at::zeros({options.num_envs, options.shape.observation_size()}, latents_.options()))) {}

int64_t LatentEngine::Bytes(const EngineOptions& options, const LatentNetwork& network) {
  const int64_t root =
      options.shape.observation_size() + options.search.NodesPerRoot() * network.latent_size();
  return (network.num_parameters() + options.num_envs * root) *
             static_cast<int64_t>(sizeof(float)) +
         SamplerBytes(options);
}

LatentEngine::~LatentEngine() {
  network_.Unload([this] {
    observations_ = Staging::Wrap("", at::empty({0}));
    latents_.reset();
  });
}

absl::Status LatentEngine::OnDevice(absl::FunctionRef<absl::Status()> body) const {
  return device().OnStream([&] {
    return CatchTorch([&]() -> absl::Status {
      const c10::InferenceMode inference;
      return body();
    });
  });
}

absl::StatusOr<at::Tensor> LatentEngine::StageObservations(absl::Span<const Root> roots) {
  LZ_CHECK(static_cast<int64_t>(roots.size()) <= options().num_envs, roots.size(), " roots");
  const size_t size = static_cast<size_t>(options().shape.observation_size());
  num_roots_ = roots.size();
  host_observations_.clear();
  for (const Root& root : roots) {
    LZ_CHECK(root.observations.size() >= size, root.observations.size(), " numbers of ", size);
    const absl::Span<const float> newest = root.observations.last(size);
    host_observations_.insert(host_observations_.end(), newest.begin(), newest.end());
  }
  LZ_RETURN_IF_ERROR(observations_.CopyInAsync(absl::MakeConstSpan(host_observations_)));
  return observations_.tensor().narrow(0, 0, static_cast<int64_t>(roots.size()));
}

void LatentEngine::KeepRoots(const at::Tensor& latents) {
  latents_.view({-1, nodes_per_root(), latents.size(1)})
      .select(1, 0)
      .narrow(0, 0, latents.size(0))
      .copy_(latents);
}

absl::Status LatentEngine::CopyOut(const char* name, const at::Tensor& tensor,
                                   absl::Span<float> values) {
  return Staging::Wrap(name, tensor.contiguous()).CopyOut(values);
}

}  // namespace lzero
