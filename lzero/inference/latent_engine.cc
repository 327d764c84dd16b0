#include "lzero/inference/latent_engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/host_memory.h"
#include "lzero/tensor/shape_check.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<Staging> LatentEngine::MakeObservations(const EngineOptions& options,
                                                       at::Device device) {
  return Staging::Create("observations of roots",
                         {options.num_envs, options.shape.observation_size()}, at::kFloat, device);
}

LatentEngine::LatentEngine(const EngineOptions& options, EngineDevice device,
                           std::shared_ptr<Network> network, int64_t latent_size,
                           Staging observations)
    : PolicyEngine(options),
      device_(std::move(device)),
      network_(std::move(network)),
      latents_(at::zeros({options.num_envs * options.search.NodesPerRoot(), latent_size},
                         at::TensorOptions().device(device_.device()))),
      observations_(std::move(observations)) {
  network_->eval();
}

int64_t LatentEngine::BytesFor(const EngineOptions& options, int64_t num_parameters,
                               int64_t latent_size) {
  const int64_t root =
      options.shape.observation_size() + options.search.NodesPerRoot() * latent_size;
  return (num_parameters + options.num_envs * root) * static_cast<int64_t>(sizeof(float)) +
         SamplerBytes(options);
}

// On a device: wait, then every tensor, then give the memory back.
LatentEngine::~LatentEngine() {
  GraphBackend* backend = device_.backend.get();
  absl::Status unloaded = backend == nullptr ? absl::OkStatus() : backend->Synchronize();
  observations_ = Staging::Wrap("", at::empty({0}));
  latents_.reset();
  network_.reset();
  if (backend != nullptr) unloaded.Update(backend->Unload({}));
  ReleaseTensorMemory();
  if (!unloaded.ok()) LZ_LOG_ERROR("unloading an engine: ", unloaded.message());
}

absl::Status LatentEngine::OnDevice(absl::FunctionRef<absl::Status()> body) const {
  const auto run = [&]() -> absl::Status {
    return CatchTorch([&]() -> absl::Status {
      const c10::InferenceMode inference;
      return body();
    });
  };
  if (device_.backend == nullptr) return run();
  absl::Status status;
  LZ_RETURN_IF_ERROR(device_.backend->OnStream([&] { status = run(); }));
  return status;
}

absl::Status LatentEngine::CopyWeightsFrom(const Network& source) {
  for (const auto& weight : source.named_parameters()) {
    LZ_CHECK_DEVICE(weight.value(), network_->device(), absl::StrCat("weight ", weight.key()));
  }
  if (device_.backend == nullptr) {
    network_->CopyWeightsFrom(source);
    return absl::OkStatus();
  }
  // The source was written on a stream of its owner, and may change as soon as this returns.
  LZ_RETURN_IF_ERROR(device_.backend->Synchronize());
  LZ_RETURN_IF_ERROR(device_.backend->OnStream([&] { network_->CopyWeightsFrom(source); }));
  return device_.backend->Wait();
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
  LZ_RETURN_IF_ERROR(observations_.CopyIn(absl::MakeConstSpan(host_observations_)));
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
