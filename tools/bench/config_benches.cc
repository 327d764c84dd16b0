// `lzero bench run --config FILE,...`: what a config's run is made of, on fresh random weights: the
// network in a search of its collector, and an update of its learner on what the collector stored.
#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/base/thread_pool.h"
#include "lzero/config/load.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_rules.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"
#include "lzero/train/run_rules.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/table/model_cases.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

constexpr double kRoundSeconds = 0.3;  // of a round
constexpr int kFewestRuns = 2;
constexpr int kMostRunSteps = 10000;  // until something can be learned

absl::StatusOr<ExperimentConfig> ConfigOf(const BenchCase& bench) {
  const EnvRegistry native = MakeRegistry();
  std::vector<std::string> settings = {
      absl::StrCat("inference.runner=", bench.Word("runner")),
      absl::StrCat("inference.num_threads=", bench.Word("threads")),
      absl::StrCat("train.num_threads=", bench.Word("threads"))};
  LZ_ASSIGN_OR_RETURN(LoadedConfig loaded,
                      LoadConfig(bench.Word("config"), settings, RunRule(native)));
  if (loaded.config.tasks.size() > 1) {
    return absl::InvalidArgumentError("bench run: a config of one task; this one has more");
  }
  return TaskConfigs(loaded.config)[0];
}

// What a run is made of, less its evaluator.
struct BenchRun {
  ExperimentConfig config;
  EnvRegistry registry;
  std::unique_ptr<ThreadPool> pool;
  std::unique_ptr<Learner> learner = nullptr;
  std::unique_ptr<ReplayBuffer> replay = nullptr;
  CollectorRole role = {};
  TrainBatch batch = {};
  RandomStream sampler = RandomStream(0, "bench_run_sampler");
  int64_t num_steps = 0;

  absl::Status TakeWeights() {
    return role.inference->CopyWeightsFrom(NetworkWeights(learner->model()));
  }
  absl::Status Step() {
    ++num_steps;
    LZ_RETURN_IF_ERROR(role.collector->Step(0));
    return role.collector->staged().MoveTo(*replay);
  }
  absl::Status Update() {
    LZ_RETURN_IF_ERROR(replay->Sample(static_cast<int>(config.train.batch_size), sampler, &batch));
    return learner->Update(batch, config.train.learning_rate, nullptr);
  }
};

absl::StatusOr<std::shared_ptr<BenchRun>> MakeRun(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(ExperimentConfig config, ConfigOf(bench));
  SetTensorThreads(static_cast<int>(bench.Int("threads")));
  const EnvRegistry native = MakeRegistry();
  LZ_ASSIGN_OR_RETURN(EnvRegistry registry, RegistryWithPlugins(config, native));
  const auto run = std::make_shared<BenchRun>(
      BenchRun{std::move(config), std::move(registry), std::make_unique<ThreadPool>(1)});
  LZ_ASSIGN_OR_RETURN(const EnvSpec spec, BuildEnvSpec(run->config, run->registry));
  LZ_ASSIGN_OR_RETURN(run->learner, Learner::Create(run->config, BuildWorldModelShape(spec)));
  LZ_ASSIGN_OR_RETURN(run->role, BuildCollector(run->config, run->registry, run->pool.get()));
  LZ_RETURN_IF_ERROR(run->TakeWeights());
  LZ_ASSIGN_OR_RETURN(
      run->replay, ReplayBuffer::Create(run->config.replay, BuildReplayShape(run->config, spec)));
  return run;
}

// Products of one simulated step with weights, for all environments; 0 where sizes alone do not say
// it: for UniZero, for steps of two kinds by turns, and for AlphaZero's encoders of images.
int64_t StepFlops(const BenchRun& run) {
  const ModelConfig& model = run.config.model;
  const bool is_alphazero = model.family == Family::kAlphaZero;
  if (model.family == Family::kUniZero || model.family == Family::kStochasticMuZero ||
      (is_alphazero && model.encoder == EncoderKind::kImage)) {
    return 0;
  }
  int64_t cells = 1;
  const Network& network = run.learner->model();
  if (model.encoder != EncoderKind::kVector) {
    const std::vector<int64_t>& shape = network.shape().observation_shape;
    cells = shape[1] * shape[2];
    if (model.encoder == EncoderKind::kImage) {
      const at::Tensor table = network.named_parameters()["action_table"];
      cells = table.size(1);
    }
  }
  int64_t flops = 0;
  for (const auto& entry : network.named_parameters()) {
    const std::string& name = entry.key();
    const at::Tensor& weight = entry.value();
    const bool is_of_step = absl::StrContains(name, is_alphazero ? "encoder." : "dynamics.") ||
                            absl::StrContains(name, "policy_head.") ||
                            absl::StrContains(name, "value_head.") ||
                            (!is_alphazero && absl::StrContains(name, "reward_head."));
    if (!is_of_step || weight.dim() < 2 || absl::StrContains(name, "norm")) continue;
    const bool is_of_cells = weight.dim() == 4 || absl::StrContains(name, "squeeze") ||
                             (model.policy_cells && absl::StrContains(name, "policy_head."));
    flops += 2 * weight.numel() * (is_of_cells ? cells : 1);
  }
  return flops * run.config.env.num_collectors;
}

// A round is the mean time of the network in a simulated step.
absl::StatusOr<BenchSubject> PrepareCollector(std::shared_ptr<BenchRun> run, int64_t threads) {
  LZ_RETURN_IF_ERROR(run->Step());
  BenchSubject subject;
  subject.work.flops = StepFlops(*run);
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    SetTensorThreads(static_cast<int>(threads));
    const double begun = MonotonicSeconds(), before = run->role.inference->network_seconds();
    int64_t searches = 0;
    for (; searches < kFewestRuns || MonotonicSeconds() - begun < kRoundSeconds; ++searches) {
      LZ_RETURN_IF_ERROR(run->TakeWeights());  // new ones, as in training: nothing is known of them
      LZ_RETURN_IF_ERROR(run->Step());
    }
    const auto simulations = static_cast<double>(searches * run->config.search.num_simulations);
    seconds->push_back((run->role.inference->network_seconds() - before) / simulations);
    return absl::OkStatus();
  };
  subject.metrics = [=]() -> BenchCase {
    return {{"envs", run->config.env.num_collectors},
            {"sims", run->config.search.num_simulations},
            {"runs", run->role.inference->runner_name()}};
  };
  return subject;
}

// A round is the time of each of its updates.
absl::StatusOr<BenchSubject> PrepareLearner(std::shared_ptr<BenchRun> run, int64_t threads) {
  while (run->replay->stats().num_eligible < run->config.train.batch_size) {
    if (run->num_steps == kMostRunSteps) {
      return absl::FailedPreconditionError(absl::StrCat(
          "nothing can be learned after ", kMostRunSteps, " steps of each environment"));
    }
    LZ_RETURN_IF_ERROR(run->Step());
  }
  for (int i = 0; i < kFewestRuns; ++i) LZ_RETURN_IF_ERROR(run->Update());
  BenchSubject subject;
  subject.run_round = [=](std::vector<double>* seconds) -> absl::Status {
    SetTensorThreads(static_cast<int>(threads));
    const double begun = MonotonicSeconds();
    for (int i = 0; i < kFewestRuns || MonotonicSeconds() - begun < kRoundSeconds; ++i) {
      const double start = MonotonicSeconds();
      LZ_RETURN_IF_ERROR(run->Update());
      seconds->push_back(MonotonicSeconds() - start);
    }
    return absl::OkStatus();
  };
  subject.metrics = [=]() -> BenchCase { return {{"batch", run->config.train.batch_size}}; };
  return subject;
}

absl::StatusOr<BenchSubject> PrepareRun(const BenchCase& bench) {
  LZ_ASSIGN_OR_RETURN(std::shared_ptr<BenchRun> run, MakeRun(bench));
  const int64_t threads = bench.Int("threads");
  return bench.Word("part") == "search" ? PrepareCollector(std::move(run), threads)
                                        : PrepareLearner(std::move(run), threads);
}

}  // namespace

BenchTable RunTable() {
  BenchTable table;
  table.verb = "run";
  table.help =
      "The network in a simulated step of a config's collector, for all its environments, with the "
      "step's share of encoding the roots, and an update of its learner";
  table.unit = "us";
  table.axes = ModelAxes("config part runner=auto threads");
  table.check = [](const BenchCase& bench) { return ConfigOf(bench).status(); };
  table.prepare = PrepareRun;
  return table;
}

}  // namespace lzero
