#include "lzero/family/unizero/unizero_inference.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/family/unizero/runners/search_graph.h"
#include "lzero/mcts/device/device_search.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

KVCacheManagerConfig CacheConfig(const EngineOptions& options, at::Device device) {
  KVCacheManagerConfig cache;
  cache.shape = {options.model.num_layers, options.model.embed_dim};
  cache.context_length = options.model.context_length;
  cache.num_envs = options.num_envs;
  cache.nodes_per_env = options.search.NodesPerRoot();
  cache.storage = options.inference.cache_storage;
  cache.root_context = options.inference.root_context;
  cache.device = device;
  cache.owner = options.owner;
  return cache;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UniZeroInference>> UniZeroInference::Create(
    const EngineOptions& options) {
  // A choice that cannot be is told before anything is allocated.
  LZ_RETURN_IF_ERROR(ChooseRunner(options.inference, &options.search).status());
  LZ_ASSIGN_OR_RETURN(EngineDevice device, MakeEngineDevice(options.inference));
  return CreateOn(options, std::move(device));
}

absl::StatusOr<std::unique_ptr<UniZeroInference>> UniZeroInference::CreateOn(
    const EngineOptions& options, EngineDevice engine_device) {
  using Made = absl::StatusOr<std::unique_ptr<UniZeroInference>>;
  return MakeOnDevice(engine_device, [&](const EngineDevice& engine_device) -> Made {
    const at::Device device = engine_device.device();
    LZ_ASSIGN_OR_RETURN(auto model,
                        WorldModel::Create(options.model, options.shape, /*seed=*/0, device));
    model->eval();
    LZ_ASSIGN_OR_RETURN(auto cache, KVCacheManager::Create(CacheConfig(options, device)));
    auto contexts = std::make_unique<RootContexts>(cache.get());
    LZ_ASSIGN_OR_RETURN(const RunnerChoice choice,
                        ChooseRunner(options.inference, &options.search));
    LZ_ASSIGN_OR_RETURN(Runners runners, MakeRunners(choice, options.inference, *model, cache.get(),
                                                     contexts.get(), engine_device));
    if (engine_device.backend != nullptr) LogRecorded(options.owner, *engine_device.backend);
    return absl::WrapUnique(new UniZeroInference(options, engine_device, std::move(model),
                                                 std::move(cache), std::move(contexts),
                                                 std::move(runners)));
  });
}

absl::StatusOr<int64_t> UniZeroInference::PlannedBytes(const EngineOptions& options) {
  LZ_ASSIGN_OR_RETURN(const auto counted,
                      WorldModel::Create(options.model, options.shape, /*seed=*/0, at::kMeta));
  LZ_ASSIGN_OR_RETURN(const int64_t cache_bytes,
                      KVCacheManager::PlannedBytes(CacheConfig(options, at::kCPU)));
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
         runner_bytes + SamplerBytes(options);
}

int64_t UniZeroInference::GraphNodes(const EngineOptions& options) {
  const absl::StatusOr<RunnerChoice> choice = ChooseRunner(options.inference, &options.search);
  if (!choice.ok()) return 0;  // Create says why
  const int64_t num_layers = options.model.num_layers;
  const int64_t nodes = RunnersGraphNodes(choice->runner, num_layers, options.num_envs);
  if (choice->runner != Runner::kCudaSearchGraph) return nodes;
  return nodes + SearchGraphNodes(num_layers, options.num_envs, options.search.num_simulations);
}

UniZeroInference::UniZeroInference(const EngineOptions& options, EngineDevice engine_device,
                                   std::shared_ptr<WorldModel> model,
                                   std::unique_ptr<KVCacheManager> cache,
                                   std::unique_ptr<RootContexts> contexts, Runners runners)
    : PolicyEngine(options, std::move(engine_device), model),
      model_(*model),
      cache_(std::move(cache)),
      contexts_(std::move(contexts)),
      step_(std::move(runners.step)),
      roots_(std::move(runners.roots)) {}

UniZeroInference::~UniZeroInference() {
  Unload([this] {
    step_.reset();
    search_network_.reset();
    roots_.reset();
    contexts_.reset();
    cache_.reset();
  });
}

void UniZeroInference::OnWeightsChanged() {
  contexts_->OnWeightsChanged();
  step_->OnWeightsChanged();
  if (search_network_ != nullptr) search_network_->OnWeightsChanged();
}

absl::StatusOr<std::vector<NamedArray>> UniZeroInference::ExportRoots() const {
  absl::StatusOr<std::vector<NamedArray>> arrays;
  LZ_RETURN_IF_ERROR(device().OnStream([&] {
    arrays = contexts_->Export();
    return arrays.status();
  }));
  return arrays;
}

absl::Status UniZeroInference::ImportRoots(absl::Span<const NamedArray> arrays) {
  return device().OnStream([&] { return contexts_->Import(arrays); });
}

std::vector<std::pair<std::string, double>> UniZeroInference::metrics(bool same_every_run) const {
  std::vector<std::pair<std::string, double>> metrics = {
      {"cache/mebibytes", static_cast<double>(cache_->stats().bytes) / (1 << 20)}};
  if (same_every_run) return metrics;
  metrics.emplace_back("cache/roots_rebuilt", static_cast<double>(root_stats_.rebuilt));
  metrics.emplace_back("cache/roots_continued", static_cast<double>(root_stats_.continued));
  metrics.emplace_back("cache/roots_carried", static_cast<double>(root_stats_.carried));
  return metrics;
}

std::string UniZeroInference::runner_name() const {
  return search_network_ != nullptr ? "cuda_search_graph" : step_->name();
}

absl::StatusOr<std::unique_ptr<Searcher>> UniZeroInference::MakeDeviceSearcher() {
  LZ_ASSIGN_OR_RETURN(const RunnerChoice choice,
                      ChooseRunner(options().inference, &options().search));
  if (choice.runner != Runner::kCudaSearchGraph) return nullptr;
  LZ_CHECK(search_network_ == nullptr, "an engine has one searcher of its device");
  LZ_RETURN_IF_ERROR(CheckDeviceCanSearch(*this));
  LZ_RETURN_IF_ERROR(device().OnStream([&]() -> absl::Status {
    LZ_ASSIGN_OR_RETURN(search_network_,
                        DeviceNetwork::Create(model_, BucketsUpTo(options().num_envs).back(),
                                              options().inference.dtype, *device().step_functions));
    return absl::OkStatus();
  }));
  auto graph = CatchTorch([&] {
    return MakeSearchGraph(
        options().search, SignedDiscount(),
        {&model_, cache_.get(), &device(), search_network_.get(), &network_time_});
  });
  if (graph.ok()) {
    LogRecorded(options().owner, *device().backend);
    return graph;
  }
  search_network_.reset();
  if (options().inference.graphs == Graphs::kRequired) return graph;
  LogWithoutGraphs("searches", options().inference, graph.status());
  // Those of the roots have lost the workspaces of their stream.
  LZ_RETURN_IF_ERROR(device().OnStream([&] {
    roots_ = std::make_unique<EagerRoots>(model_, cache_.get(), contexts_.get());
    return absl::OkStatus();
  }));
  return nullptr;
}

bool UniZeroInference::CanContinue(const Root& root) const {
  return root.step > 0 && !root.actions.empty() && cache_->HasInit(root.env, root.step - 1);
}

absl::Status UniZeroInference::InitialInference(absl::Span<const Root> roots,
                                                absl::Span<float> prior_logits,
                                                absl::Span<float> value) {
  LZ_CHECK(static_cast<int64_t>(roots.size()) <= options().num_envs, roots.size(), " roots");
  envs_.clear();
  rebuilt_.clear();
  continued_.clear();
  for (size_t i = 0; i < roots.size(); ++i) {
    envs_.push_back(roots[i].env);
    (CanContinue(roots[i]) ? continued_ : rebuilt_).push_back(static_cast<int>(i));
  }
  cache_->BeginSearch(envs_);
  const ScopedTimer timer(&network_time_);
  const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
  LZ_RETURN_IF_ERROR(device().OnStream([&] { return EvaluateRoots(roots, {policies, value}); }));
  FinishRoots(roots, policies, prior_logits);
  return absl::OkStatus();
}

absl::Status UniZeroInference::EvaluateRoots(absl::Span<const Root> roots,
                                             const RootOutputs& outputs) {
  if (!rebuilt_.empty()) LZ_RETURN_IF_ERROR(roots_->Rebuild(roots, rebuilt_, outputs));
  if (!continued_.empty()) {
    const int64_t carried_before = cache_->stats().carried_reads;
    LZ_RETURN_IF_ERROR(roots_->Continue(roots, continued_, outputs));
    root_stats_.carried += cache_->stats().carried_reads - carried_before;
  }
  root_stats_.rebuilt += static_cast<int64_t>(rebuilt_.size());
  root_stats_.continued += static_cast<int64_t>(continued_.size());
  return absl::OkStatus();
}

absl::Status UniZeroInference::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  LZ_CHECK(parents.size() == envs_.size(), parents.size(), " rows for ", envs_.size(), " roots");
  // Where contexts are read and where the new tokens go.
  parent_keys_.clear();
  child_keys_.clear();
  for (size_t i = 0; i < parents.size(); ++i) {
    parent_keys_.push_back({envs_[i], parents[i]});
    child_keys_.push_back({envs_[i], parents[i], children[i]});
  }
  const absl::Span<float> policies = PolicyOutputs(parents.size(), prior_logits);
  // Actions in, one step, its outputs out.
  LZ_RETURN_IF_ERROR(device().OnStream([&] {
    return step_->RunNodes(
        {parent_keys_, child_keys_, ActionsOf(parents, actions), rewards, values, policies},
        cache_.get(), {&copy_time_, &network_time_});
  }));
  // Prior logits and discounts.
  FinishNodes(children, policies, prior_logits);
  std::fill(discounts.begin(), discounts.end(), static_cast<float>(SignedDiscount()));
  return absl::OkStatus();
}

}  // namespace lzero
