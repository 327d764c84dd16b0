#include "lzero/family/unizero/unizero_engine.h"

#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/tensor_families.h"
#include "lzero/family/unizero/device/device_network.h"
#include "lzero/family/unizero/engine/runner_choice.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/family/unizero/runners/runners.h"
#include "lzero/family/unizero/runners/search_graph.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/tensor/engine_network.h"
#include "lzero/mcts/device/device_search.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

KVCacheManagerConfig CacheConfig(const EngineOptions& options, at::Device device) {
  KVCacheManagerConfig cache = UniZeroCacheConfig(options);
  if (device.is_cpu()) return cache;
  cache.device = {Device::Kind::kCuda, device.index()};
  cache.make_pool = TensorTokenPools(device);
  return cache;
}

class TensorUniZero : public UniZeroInference {
 public:
  TensorUniZero(const EngineOptions& options, EngineDevice device,
                std::shared_ptr<WorldModel> model, std::unique_ptr<KVCacheManager> cache)
      : UniZeroInference(options, std::move(cache)),
        network_(std::move(device), model),
        model_(*model) {}
  ~TensorUniZero() override {
    network_.Unload([this] {
      search_network_.reset();
      Drop();
    });
  }

  // Step and roots, as `choice` says.
  absl::Status MakeParts(const RunnerChoice& choice) {
    LZ_ASSIGN_OR_RETURN(Runners runners,
                        MakeRunners(choice, options().inference, model_, cache_.get(),
                                    contexts_.get(), network_.device()));
    recurrent_ = runners.step.get();
    step_ = std::move(runners.step);
    roots_ = std::move(runners.roots);
    return absl::OkStatus();
  }

  // Contexts of older weights are dropped (root_context: carry keeps the roots').
  absl::Status CopyWeightsFrom(const packed::WeightSource& source) override {
    return network_.CopyFrom(source, [this] {
      contexts_->OnWeightsChanged();
      recurrent_->OnWeightsChanged();
      if (search_network_ != nullptr) search_network_->OnWeightsChanged();
    });
  }
  // Runner cuda_search_graph. A capture that fails is an error only where graphs are required; else
  // it is logged, and the searcher is null.
  absl::StatusOr<std::unique_ptr<Searcher>> MakeDeviceSearcher() override;

  std::string runner_name() const override {
    return search_network_ != nullptr ? "cuda_search_graph" : step_->name();
  }

 protected:
  absl::Status OnStream(absl::FunctionRef<absl::Status()> body) const override {
    return network_.device().OnStream(body);
  }

 private:
  EngineNetwork network_;
  const WorldModel& model_;
  RecurrentStep* recurrent_ = nullptr;             // step_
  std::unique_ptr<DeviceNetwork> search_network_;  // of the searcher of MakeDeviceSearcher
};

absl::StatusOr<std::unique_ptr<Searcher>> TensorUniZero::MakeDeviceSearcher() {
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice,
                      ChooseRunner(options().inference, &options().search));
  if (choice.runner != Runner::kCudaSearchGraph) return nullptr;
  LZ_CHECK(search_network_ == nullptr, "an engine has one searcher of its device");
  LZ_RETURN_IF_ERROR(CheckDeviceCanSearch(*this));
  LZ_RETURN_IF_ERROR(network_.device().OnStream([&]() -> absl::Status {
    LZ_ASSIGN_OR_RETURN(
        search_network_,
        DeviceNetwork::Create(model_, BucketsUpTo(options().num_envs).back(),
                              options().inference.dtype, *network_.device().step_functions));
    return absl::OkStatus();
  }));
  auto graph = CatchTorch([&] {
    return MakeSearchGraph(
        options().search, SignedDiscount(),
        {&model_, cache_.get(), &network_.device(), search_network_.get(), &network_time_});
  });
  if (graph.ok()) {
    LogRecorded(options().owner, *network_.device().backend);
    return graph;
  }
  search_network_.reset();
  if (options().inference.graphs == Graphs::kRequired) return graph;
  LogWithoutGraphs("searches", options().inference, graph.status());
  // Those of the roots have lost the workspaces of their stream.
  LZ_RETURN_IF_ERROR(network_.device().OnStream([&] {
    roots_ = std::make_unique<EagerRoots>(model_, cache_.get(), contexts_.get());
    return absl::OkStatus();
  }));
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UniZeroInference>> MakeUniZeroEngine(const EngineOptions& options) {
  // A choice that cannot be is told before anything is allocated.
  LZ_RETURN_IF_ERROR(ChooseRunner(options.inference, &options.search).status());
  LZ_ASSIGN_OR_RETURN(EngineDevice device, MakeEngineDevice(options.inference));
  return MakeUniZeroEngineOn(options, std::move(device));
}

absl::StatusOr<std::unique_ptr<UniZeroInference>> MakeUniZeroEngineOn(const EngineOptions& options,
                                                                      EngineDevice device) {
  using Made = absl::StatusOr<std::unique_ptr<UniZeroInference>>;
  return MakeOnDevice(device, [&](const EngineDevice& engine_device) -> Made {
    const at::Device place = engine_device.device();
    LZ_ASSIGN_OR_RETURN(auto model,
                        WorldModel::Create(options.model, options.shape, /*seed=*/0, place));
    LZ_ASSIGN_OR_RETURN(auto cache, KVCacheManager::Create(CacheConfig(options, place)));
    LZ_ASSIGN_OR_RETURN(const RunnerChoice choice,
                        ChooseRunner(options.inference, &options.search));
    auto engine =
        std::make_unique<TensorUniZero>(options, engine_device, std::move(model), std::move(cache));
    LZ_RETURN_IF_ERROR(engine->MakeParts(choice));
    if (engine_device.backend != nullptr) LogRecorded(options.owner, *engine_device.backend);
    return engine;
  });
}

absl::StatusOr<int64_t> UniZeroEngineBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const auto counted,
                      WorldModel::Create(options.model, options.shape, /*seed=*/0, at::kMeta));
  LZ_ASSIGN_OR_RETURN(const int64_t cache_bytes,
                      KVCacheManager::PlannedBytes(UniZeroCacheConfig(options)));
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice, ChooseRunner(options.inference, &options.search));
  int64_t runner_bytes = RunnersBytes(choice.runner, options.inference, options.model,
                                      options.shape, options.num_envs);
  if (choice.runner == Runner::kCudaSearchGraph) {
    runner_bytes +=
        SearchGraphBytes(options.search, options.model, options.shape, options.num_envs) +
        DeviceNetwork::Bytes(options.model, options.shape, BucketsUpTo(options.num_envs).back(),
                             options.inference.dtype);
  }
  return counted->num_parameters() * static_cast<int64_t>(sizeof(float)) + cache_bytes +
         runner_bytes + PolicyEngine::SamplerBytes(options);
}

int64_t UniZeroGraphNodes(const EngineOptions& options) {
  const absl::StatusOr<RunnerChoice> choice = ChooseRunner(options.inference, &options.search);
  if (!choice.ok()) return 0;  // Create says why
  const int64_t num_layers = options.model.num_layers;
  const int64_t nodes = RunnersGraphNodes(choice->runner, num_layers, options.num_envs);
  if (choice->runner != Runner::kCudaSearchGraph) return nodes;
  return nodes + SearchGraphNodes(num_layers, options.num_envs, options.search.num_simulations);
}

const TensorFamily& UniZeroTensorFamily() {
  static const TensorFamily kFamily = {
      .make_network = WorldModel::Create,
      .engine_bytes = [](const auto& options, auto&) { return UniZeroEngineBytes(options); },
      .graph_nodes = UniZeroGraphNodes,
      .make_engine = [](const auto& options, auto&) { return MakeUniZeroEngine(options); }};
  return kFamily;
}

}  // namespace lzero
