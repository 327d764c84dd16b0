#include "tools/bench/device_counts.h"

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/agent/agent.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/thread_pool.h"
#include "lzero/env/env_rules.h"
#include "lzero/env/vector_env.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/replay/batch/batch_writer.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"

namespace lzero {
namespace {

constexpr int kCountedSearches = 8;
constexpr int kCountedUpdates = 2;
constexpr int kMostSteps = 10000;  // before anything can be learned

using Counter = int64_t (*)(const char* what);

Counter FindCounter() {
  return reinterpret_cast<Counter>(dlsym(RTLD_DEFAULT, "lz_null_gpu_count"));
}

DeviceCounts CountsNow() {
  static const Counter counter = FindCounter();
  DeviceCounts counts;
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i] = static_cast<double>(counter(kCountedCalls[i].counter));
  }
  return counts;
}

// Adds what was counted since `before`.
void AddSince(const DeviceCounts& before, DeviceCounts* sum) {
  const DeviceCounts now = CountsNow();
  for (size_t i = 0; i < now.size(); ++i) (*sum)[i] += now[i] - before[i];
}

DeviceCounts Divided(DeviceCounts counts, double by) {
  for (double& count : counts) count /= by;
  return counts;
}

// The engine, which counts apart what roots ask for.
class CountedRoots : public InferenceModel {
 public:
  explicit CountedRoots(InferenceModel* model) : model_(*model) {}

  DeviceCounts counts = {};

  int num_actions() const override { return model_.num_actions(); }
  int num_chance_outcomes() const override { return model_.num_chance_outcomes(); }
  const SampledActions* sampled_actions() const override { return model_.sampled_actions(); }
  int32_t ReadSlot(NodeId node, int32_t slot, absl::Span<float> values) const override {
    return model_.ReadSlot(node, slot, values);
  }
  bool NeedsState() const override { return model_.NeedsState(); }
  void BeginSearch(const SearchRequest& request) override { model_.BeginSearch(request); }
  void EndEpisode(EnvId env) override { model_.EndEpisode(env); }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const DeviceCounts before = CountsNow();
    LZ_RETURN_IF_ERROR(model_.InitialInference(roots, prior_logits, value));
    AddSince(before, &counts);
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    return model_.RecurrentInference(parents, actions, children, rewards, discounts, values,
                                     prior_logits);
  }

 private:
  InferenceModel& model_;
};

// A collector, and what it collects.
struct Player {
  std::unique_ptr<InferenceEngine> engine;
  std::unique_ptr<CountedRoots> roots;
  std::unique_ptr<Collector> collector;
  std::unique_ptr<ReplayBuffer> replay;

  absl::Status Step(int64_t env_steps) {
    LZ_RETURN_IF_ERROR(collector->Step(env_steps));
    return collector->staged().MoveTo(*replay);
  }
};

absl::StatusOr<Player> MakePlayer(const ExperimentConfig& config, const EnvRegistry& registry,
                                  const EnvSpec& spec, ThreadPool* pool) {
  const int64_t num_envs = config.env.num_collectors;
  const EngineOptions options =
      BuildEngineOptions(config, spec, num_envs, config.search.num_simulations);
  Player player;
  LZ_ASSIGN_OR_RETURN(player.engine, MakeEngine(options, BuildEnvFactory(config, registry)));
  LZ_ASSIGN_OR_RETURN(auto searcher, BuildSearcher(options, player.engine.get()));
  LZ_ASSIGN_OR_RETURN(auto envs, registry.MakeGroup(config.env.id, EnvOptionsOf(config.env),
                                                    static_cast<int>(num_envs)));
  LZ_ASSIGN_OR_RETURN(auto vector_env, VectorEnv::Create(std::move(envs), pool));
  player.roots = std::make_unique<CountedRoots>(player.engine.get());
  player.collector = std::make_unique<Collector>(
      CollectorOptions{0, MaxPastSteps(config.model, spec), config.replay.discount},
      std::move(vector_env),
      std::make_unique<Agent>(std::move(searcher), AgentOptions{0, true, spec.action.num_actions}),
      player.roots.get());
  LZ_ASSIGN_OR_RETURN(player.replay,
                      ReplayBuffer::Create(config.replay, BuildReplayShape(config, spec)));
  return player;
}

absl::StatusOr<DeviceCounts> CountUpdates(const ExperimentConfig& config, ReplayBuffer* replay,
                                          Learner* learner) {
  RandomStream sampler(0, "device_counts");
  TrainBatch batch;
  std::vector<float> priorities;
  DeviceCounts counts = {};
  // The first may prepare what the others use.
  for (int i = 0; i <= kCountedUpdates; ++i) {
    LZ_RETURN_IF_ERROR(replay->Sample(static_cast<int>(config.train.batch_size), sampler, &batch));
    const DeviceCounts before = CountsNow();
    const absl::Status updated = learner->Update(batch, config.train.learning_rate,
                                                 config.replay.prioritized ? &priorities : nullptr);
    // A runtime that computes nothing has no loss either; as much was asked of it.
    if (!absl::IsAborted(updated)) LZ_RETURN_IF_ERROR(updated);
    if (i > 0) AddSince(before, &counts);
  }
  return Divided(counts, kCountedUpdates);
}

}  // namespace

absl::StatusOr<std::vector<CountedWork>> CountDeviceWork(const ExperimentConfig& config,
                                                         const EnvRegistry& registry) {
  if (config.inference.device.is_cpu() && config.learner_device().is_cpu()) {
    return absl::InvalidArgumentError("counts are of a device; got inference.device: cpu");
  }
  if (FindCounter() == nullptr) {
    return absl::FailedPreconditionError(
        "a device does not count what it is asked to do; run this on the null GPU "
        "(tests/null_gpu/README.md)");
  }
  LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(config, registry));
  const BatchShape batch = BatchShapeFor(config.replay, BuildReplayShape(config, spec),
                                         static_cast<int>(config.train.batch_size));
  LZ_ASSIGN_OR_RETURN(auto learner, Learner::Create(config, BuildWorldModelShape(spec)));
  LZ_RETURN_IF_ERROR(learner->Prepare(batch));
  ThreadPool pool(1);
  LZ_ASSIGN_OR_RETURN(Player player, MakePlayer(config, registry, spec, &pool));
  LZ_RETURN_IF_ERROR(player.engine->CopyWeightsFrom(NetworkWeights(learner->model())));
  for (int step = 0; player.replay->stats().num_eligible == 0; ++step) {
    if (step == kMostSteps) {
      return absl::FailedPreconditionError(absl::StrCat("nothing could be learned after ",
                                                        kMostSteps, " steps of each environment"));
    }
    LZ_RETURN_IF_ERROR(player.Step(0));
  }
  // All that a search asks for but its roots is of its simulations.
  DeviceCounts simulations = {};
  player.roots->counts = {};
  for (int i = 0; i < kCountedSearches; ++i) {
    const DeviceCounts before = CountsNow();
    LZ_RETURN_IF_ERROR(player.Step(0));
    AddSince(before, &simulations);
  }
  for (size_t i = 0; i < simulations.size(); ++i) simulations[i] -= player.roots->counts[i];
  LZ_ASSIGN_OR_RETURN(const DeviceCounts updates,
                      CountUpdates(config, player.replay.get(), learner.get()));
  const double num_simulations = static_cast<double>(config.search.num_simulations);
  return std::vector<CountedWork>{
      {"roots", Divided(player.roots->counts, kCountedSearches)},
      {"simulation", Divided(simulations, kCountedSearches * num_simulations)},
      {"update", updates}};
}

}  // namespace lzero
