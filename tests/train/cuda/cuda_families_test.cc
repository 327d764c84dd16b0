// Engines of all families on a real device, beside the CPU's: what they compute while a collector
// plays, where their memory is, and what is left when they go; skipped where there is no device.
#include "gtest/gtest.h"
#include "lzero/env/env_rules.h"
#include "lzero/family/tensor_families.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "tests/null_gpu/count.h"
#include "tests/train/cuda/engine_twin.h"
#include "tests/train/trainer_testing.h"

namespace lzero::cuda_families_test {
namespace {

struct Case {
  const char* name;
  ExperimentConfig config;
  double tolerance = 1e-4;
};

ExperimentConfig Latent(ExperimentConfig config, Family family) {
  config.model.family = family;
  if (family != Family::kAlphaZero) config.model.latent_loss = LatentLoss::kNone;
  return config;
}

ExperimentConfig UniZero(Runner runner, CacheStorage storage, RootContext context) {
  ExperimentConfig config = TinyConfig();
  config.inference.runner = runner;
  config.inference.cache_storage = storage;
  config.inference.root_context = context;
  return config;
}

std::vector<Case> Cases() {
  ExperimentConfig game = Latent(TinyConfig(), Family::kStochasticMuZero);
  game.env.id = "2048";
  game.env.max_episode_steps = 20;
  ExperimentConfig film = FilmConfig();
  film.inference.runner = Runner::kCudaGraph;
  ExperimentConfig rounded = film;
  rounded.inference.dtype = InferenceDtype::kTf32;
  const auto fixed = CacheStorage::kStatic;
  ExperimentConfig growing = UniZero(Runner::kEager, CacheStorage::kGrowing, RootContext::kRebuild);
  growing.search.num_simulations = 40;  // more nodes than it begins with
  return {
      {"unizero", UniZero(Runner::kCudaGraph, fixed, RootContext::kRebuild)},
      {"unizero, one graph a search",
       UniZero(Runner::kCudaSearchGraph, fixed, RootContext::kRebuild)},
      {"unizero, growing", growing},
      {"unizero, carried contexts", UniZero(Runner::kCudaGraph, fixed, RootContext::kCarry)},
      {"unizero, pictures", film},
      {"unizero, pictures in tf32", rounded, 0.02},
      {"unizero, boards", BoardConfig()},
      {"muzero", Latent(TinyConfig(), Family::kMuZero)},
      {"muzero, boards", Latent(BoardConfig(), Family::kMuZero)},
      {"stochastic_muzero", game},
      {"alphazero", Latent(BoardConfig(), Family::kAlphaZero)},
  };
}

class CudaFamiliesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeCudaGraphBackend(0);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    backend_ = *std::move(made);
  }
  std::unique_ptr<GraphBackend> backend_;
};

EngineOptions OptionsOf(const ExperimentConfig& config, const EnvRegistry& registry) {
  EngineOptions options =
      BuildEngineOptions(config, BuildEnvSpec(config, registry).value(), config.env.num_collectors,
                         config.search.num_simulations);
  options.inference.device = Device::kCuda;
  return options;
}

// A collector whose searches `model` answers; null `search`: on the host.
std::unique_ptr<Collector> MakeCollector(const ExperimentConfig& config,
                                         const EnvRegistry& registry, ThreadPool* pool,
                                         InferenceModel* model,
                                         std::unique_ptr<Searcher> search = nullptr) {
  const auto num_envs = static_cast<int>(config.env.num_collectors);
  auto envs = registry.MakeGroup(config.env.id, EnvOptionsOf(config.env), num_envs).value();
  auto vector_env = VectorEnv::Create(std::move(envs), pool).value();
  if (search == nullptr) {
    search =
        Search::Create(config.search, model->num_actions(), num_envs, model->num_chance_outcomes())
            .value();
  }
  auto agent = std::make_unique<Agent>(
      std::move(search), AgentOptions{7, true, vector_env->spec().action.num_actions});
  const CollectorOptions options = {7, FamilyOf(config.model).num_root_past_steps(config.model),
                                    config.replay.discount};
  return std::make_unique<Collector>(options, std::move(vector_env), std::move(agent), model);
}

double MetricOf(const InferenceEngine& engine, const std::string& name) {
  for (const auto& [found, value] : engine.metrics(/*same_every_run=*/false)) {
    if (found == name) return value;
  }
  return 0.0;
}

// Eight steps of the collector, with new weights in the middle.
TEST_F(CudaFamiliesTest, EnginesGiveTheNumbersOfTheCpu) {
  for (const auto& [name, config, tolerance] : Cases()) {
    SCOPED_TRACE(name);
    const EnvRegistry registry = ProbeRegistry(config);
    ThreadPool pool(1);
    EngineTwin twin(OptionsOf(config, registry), BuildEnvFactory(config, registry), tolerance);
    const double mebibytes = MetricOf(twin.device(), "cache/mebibytes");
    const auto collector = MakeCollector(config, registry, &pool, &twin);
    for (int step = 0; step < 8; ++step) {
      if (step % 4 == 0) twin.TakeWeights(static_cast<uint64_t>(step));
      const absl::Status status = collector->Step(step);
      ASSERT_TRUE(status.ok()) << status;
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(twin.num_compared(), 0);
    EXPECT_EQ(MetricOf(twin.device(), "cache/mebibytes") > mebibytes,
              config.inference.cache_storage == CacheStorage::kGrowing);
    EXPECT_EQ(MetricOf(twin.device(), "cache/roots_carried") > 0,
              config.inference.root_context == RootContext::kCarry);
  }
}

// Work of a stream that uses memory of another one may come too late for whoever gets it next.
TEST_F(CudaFamiliesTest, EnginesPutNothingOnTheDefaultStream) {
  for (const auto& [name, config, tolerance] : Cases()) {
    SCOPED_TRACE(name);
    const EnvRegistry registry = ProbeRegistry(config);
    const EngineOptions options = OptionsOf(config, registry);
    ThreadPool pool(1);
    const auto weights = RandomNetwork(options, 1, at::kCUDA);
    const int64_t before = null_gpu::CountOf("work_of_default_stream");
    const auto engine = MakeEngine(options, BuildEnvFactory(config, registry)).value();
    ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    const auto collector = MakeCollector(config, registry, &pool, engine.get());
    for (int step = 0; step < 4; ++step) ASSERT_TRUE(collector->Step(step).ok());
    EXPECT_EQ(null_gpu::CountOf("work_of_default_stream"), before);
  }
}

// All roles, each with an engine, and the learner at the same time.
TEST_F(CudaFamiliesTest, TenRunsLeaveNothing) {
  std::vector<Case> cases = Cases();
  ExperimentConfig box = TinyConfig();
  box.env.id = "pendulum";
  box.search.num_sampled_actions = 3;
  cases.push_back({"unizero, sampled actions", box});
  for (auto& [name, config, tolerance] : cases) {
    SCOPED_TRACE(name);
    config.deterministic = false;
    config.inference.device = Device::kCuda;
    config.replay.reanalyze_ratio = config.model.family == Family::kAlphaZero ? 0.0 : 0.5;
    config.evaluate.episodes = 1;
    config.stop.max_env_steps = 45;
    std::vector<int64_t> reserved;
    for (int cycle = 0; cycle < 10; ++cycle) {
      TestRun run(config);
      const auto outcome = run.Run();
      ASSERT_TRUE(outcome.ok()) << outcome.status();
      EXPECT_GT(outcome->state.updates, 0);
      reserved.push_back(backend_->MemoryUse().value().reserved_bytes);
      for (const char* count : {"device_bytes", "pinned_bytes", "graphs"}) {
        EXPECT_EQ(null_gpu::CountOf(count), 0) << count << ", cycle " << cycle + 1;
      }
    }
    EXPECT_EQ(reserved, std::vector<int64_t>(10, reserved[0]));
  }
}

TEST_F(CudaFamiliesTest, AnEngineThatFindsNoMemoryLeavesNone) {
  for (const auto& [name, config, tolerance] : Cases()) {
    if (config.model.family == Family::kAlphaZero) continue;  // makes an environment a root first
    SCOPED_TRACE(name);
    const EnvRegistry registry = ProbeRegistry(config);
    EngineOptions options = OptionsOf(config, registry);
    options.num_envs = int64_t{1} << 31;
    ASSERT_TRUE(backend_->TrimMemory().ok());
    const int64_t before = backend_->MemoryUse().value().reserved_bytes;
    const auto engine = MakeEngine(options, BuildEnvFactory(config, registry));
    EXPECT_EQ(engine.status().code(), absl::StatusCode::kResourceExhausted) << engine.status();
    EXPECT_EQ(backend_->MemoryUse().value().reserved_bytes, before);
  }
}

}  // namespace
}  // namespace lzero::cuda_families_test
