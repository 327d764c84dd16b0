// What a run will need, and what this machine cannot hold.
#include "lzero/train/run_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/machine.h"
#include "lzero/family/packed/families.h"
#include "lzero/mcts/search.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/run/progress.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"
#include "lzero/train/plan_text.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/train/train_testing.h"

namespace lzero::run_plan_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMebibyte = 1 << 20;

int64_t CountBytes(const ArrayFiles& files) {
  int64_t bytes = 0;
  for (const auto& [name, content] : BytesOf(files)) bytes += static_cast<int64_t>(content.size());
  return bytes;
}

TEST(RunPlanTest, EveryPartIsCounted) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig config = TinyConfig();
  config.evaluate.num_simulations = 9;
  const EnvSpec spec = BuildEnvSpec(config, registry).value();
  const auto plan = PlanMemory(config, spec, registry);
  ASSERT_TRUE(plan.ok()) << plan.status();

  // A checkpoint of the learner holds everything but the gradients, and a count for each tensor.
  const auto learner = Learner::Create(config, BuildWorldModelShape(spec)).value();
  const int64_t num_tensors = static_cast<int64_t>(learner->model().parameters().size());
  EXPECT_EQ(plan->learner, CountBytes(learner->Export()) - 4 * num_tensors +
                               4 * learner->model().num_parameters());
  // N 4, C 0, U 2, obs 4, A 2: observations, actions, seven arrays of a number a step, policies,
  // bootstrap observations, weights, masks of a byte, positions.
  EXPECT_EQ(plan->batch, 2 * (4 * (4 * 3 * 4 + 8 + 7 * 8 + 16 + 32 + 4) + 16 + 4 * 8));
  EXPECT_EQ(plan->replay, PlannedBytes(config.replay, BuildReplayShape(config, spec)));
  EXPECT_EQ(plan->inference, AnyUniZeroBytes(BuildEngineOptions(config, spec, 3, 4)) +
                                 AnyUniZeroBytes(BuildEngineOptions(config, spec, 2, 9)));
  const auto tree_bytes = [](int simulations, int num_envs) {
    SearchConfig search;
    search.num_simulations = simulations;
    return Search::Create(search, 2, num_envs).value()->tree().num_bytes();
  };
  EXPECT_EQ(plan->search, tree_bytes(4, 3) + tree_bytes(9, 2));
  EXPECT_EQ(plan->update, UniZeroFamily().update_bytes(config, BuildWorldModelShape(spec)));
  EXPECT_GT(plan->program, ResidentBytes() / 2);
  EXPECT_EQ(plan->total(), plan->learner + plan->batch + plan->inference + plan->search +
                               plan->replay + plan->update + plan->program + plan->workers +
                               plan->checkpoint);
  EXPECT_EQ(plan->checkpoint, 4 * 4 * learner->model().num_parameters());
  EXPECT_EQ(plan->workers, 0);
}

// Stacked pictures: a batch is held as bytes twice, and once as numbers.
TEST(RunPlanTest, PicturesAreCountedAsBytes) {
  ExperimentConfig config = TinyConfig();
  config.model.encoder = EncoderKind::kImage;
  RunPlan plan;
  plan.envs = {BuildEnvSpec(TinyConfig(), NativeRegistry()).value()};
  plan.envs[0].observation.shape = {4, 96, 96};
  plan.envs[0].observation.type = ObservationType::kUint8;
  plan.envs[0].observation.frame_stack = 4;
  plan.memory = PlanMemory(config, plan.envs[0], NativeRegistry()).value();
  // N 4, U 2: three observations and two of the bootstrap of each sample; the rest as above.
  EXPECT_EQ(plan.memory.batch,
            4 * (3 + 2) * 36864 * (1 + 1 + 4) + 2 * (4 * (8 + 7 * 8 + 16 + 4) + 16 + 4 * 8));
  EXPECT_EQ(plan.memory.replay,
            PlannedBytes(config.replay, BuildReplayShape(config, plan.envs[0])));
  // Segments of 12 steps: 9,216 bytes a frame, 12 of steps, 4 of the first observation, and of the
  // two steps before it.
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/true),
              HasSubstr("\nreplay        up to 1000 transitions, 13.6 KiB each in long episodes: "
                        "uint8, each of 4 stacked frames once\n"));
  plan.envs[0].observation.type = ObservationType::kFloat32;
  plan.envs[0].observation.frame_stack = 1;
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/true),
              HasSubstr(" KiB each in long episodes: float32\n"));
}

// An engine and trees like the collector's.
TEST(RunPlanTest, TheReanalyzerIsCounted) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig config = TinyConfig();
  config.evaluate.num_simulations = 9;
  const EnvSpec spec = BuildEnvSpec(config, registry).value();
  const MemoryPlan without = PlanMemory(config, spec, registry).value();
  config.replay.reanalyze_ratio = 0.01;
  const MemoryPlan with = PlanMemory(config, spec, registry).value();
  EXPECT_EQ(with.inference - without.inference,
            AnyUniZeroBytes(BuildEngineOptions(config, spec, 3, 4)));
  EXPECT_EQ(with.search - without.search, Search::PlannedBytes(config.search, 2, 3));
}

// What lies on a device is counted there, and what does not stays with the machine.
TEST(RunPlanTest, TheMemoryOfEachDeviceIsPlannedApart) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig config = TinyConfig();
  config.search.num_sampled_actions = 2;
  const EnvSpec spec = BuildEnvSpec(config, registry).value();
  const MemoryPlan on_cpu = PlanMemory(config, spec, registry).value();
  EXPECT_TRUE(on_cpu.devices.empty());
  // The learner alone.
  config.train.device = Device::kCuda;
  const MemoryPlan learns = PlanMemory(config, spec, registry).value();
  ASSERT_EQ(learns.devices.size(), 1u);
  EXPECT_EQ(learns.learner + learns.update, 0);
  EXPECT_EQ(learns.inference, on_cpu.inference);
  EXPECT_EQ(learns.batch, on_cpu.batch);  // sampled, and pinned for the copy
  EXPECT_EQ(learns.checkpoint, on_cpu.checkpoint);
  EXPECT_EQ(5 * learns.devices[0].learner, 4 * on_cpu.learner);  // gradients are an update's
  EXPECT_EQ(2 * learns.devices[0].batch, on_cpu.batch);
  EXPECT_GT(learns.devices[0].update, 2 * on_cpu.update);  // as it warms up, and recorded
  EXPECT_EQ(learns.devices[0].inference, 0);
  // The searches alone: drawn actions stay on the host.
  config.train.device = Device::kCpu;
  config.inference.device = {Device::Kind::kCuda, 1};
  config.inference.runner = Runner::kEager;
  const MemoryPlan searches = PlanMemory(config, spec, registry).value();
  ASSERT_EQ(searches.devices.size(), 1u);
  EXPECT_EQ(searches.devices[0].device.index, 1);
  EXPECT_EQ(searches.learner, on_cpu.learner);
  EXPECT_EQ(searches.update, on_cpu.update);
  EXPECT_GT(searches.inference, 0);
  EXPECT_LT(searches.inference, on_cpu.inference);
  EXPECT_EQ(searches.devices[0].learner + searches.devices[0].update, 0);
  EXPECT_GT(searches.devices[0].inference, 0);
  // Both: on two devices, or on one.
  config.train.device = Device::kCuda;
  EXPECT_EQ(PlanMemory(config, spec, registry)->devices.size(), 2u);
  config.train.device.reset();
  const MemoryPlan together = PlanMemory(config, spec, registry).value();
  ASSERT_EQ(together.devices.size(), 1u);
  EXPECT_EQ(together.devices[0].workspaces,
            learns.devices[0].workspaces + searches.devices[0].workspaces);
  EXPECT_EQ(together.devices[0].context, 704 << 20);
}

TEST(RunPlanTest, ThePlanNamesMachineAndDevices) {
  const ExperimentConfig config = TinyConfig();
  RunPlan plan = PlanRun(config, NativeRegistry()).value();
  plan.memory = {};
  plan.memory.replay = 12 * kMebibyte;
  plan.memory.devices = {{.device = Device::kCuda, .learner = 3 * kMebibyte},
                         {.device = {Device::Kind::kCuda, 1}, .graphs = 2 * kMebibyte}};
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/false),
              HasSubstr("\nmemory        12.0 MiB of this machine, 3.0 MiB of cuda:0, 2.0 MiB of "
                        "cuda:1 planned\n"));
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/true),
              HasSubstr("; of cuda:0: learner 3.0 MiB; of cuda:1: graphs 2.0 MiB (assumed: 2 KiB a "
                        "node)\n"));
}

// Cartpole as if it were stepped by another process.
class FarEnv : public Env, public EnvBatch {
 public:
  static constexpr int64_t kBytes = 5000;

  FarEnv() : near_(NativeRegistry().Make("cartpole", {}).value()), spec_(near_->spec()) {
    spec_.id = "far";
  }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t seed) override {
    has_begun_ = true;
    return near_->Reset(seed);
  }
  absl::StatusOr<TimeStep> Step(const Action& action) override { return near_->Step(action); }
  EnvBatch* batch() override { return this; }
  void Begin(absl::Span<Env* const>, absl::Span<const Action>) override {}
  void Finish(absl::Span<absl::StatusOr<TimeStep>>) override {}
  int64_t ProcessBytes() const override { return has_begun_ ? kBytes : 1; }

 private:
  std::unique_ptr<Env> near_;
  EnvSpec spec_;
  bool has_begun_ = false;
};

TEST(RunPlanTest, WorkersAreCounted) {
  EnvRegistry registry;
  EnvRegistry::Entry entry;
  entry.id = "far";
  entry.factory = [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::make_unique<FarEnv>();
  };
  entry.group = [](const EnvOptions&, int count) {
    std::vector<std::unique_ptr<Env>> envs;
    for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<FarEnv>());
    return envs;
  };
  registry.Register(std::move(entry));
  ExperimentConfig config = TinyConfig();
  config.env.id = "far";
  config.env.num_workers = 2;
  config.env.num_collectors = 5;
  config.env.num_evaluators = 1;  // has one worker
  RunPlan plan;
  plan.envs = {BuildEnvSpec(config, registry).value()};
  plan.memory = PlanMemory(config, plan.envs[0], registry).value();
  EXPECT_EQ(plan.memory.workers, 3 * FarEnv::kBytes);
  plan.memory.workers = 3 * kMebibyte;
  EXPECT_THAT(DescribePlan(config, plan, "eager", /*detailed=*/true),
              HasSubstr(", workers of Python 3.0 MiB\n"));
}

// A family that keeps saved states counts them by their size.
TEST(RunPlanTest, StatesOfASimulatingFamilyAreCounted) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig config = BoardConfig();
  config.model.family = Family::kAlphaZero;
  config.inference.runner = Runner::kEager;  // keeps no more of a node
  const EnvSpec spec = BuildEnvSpec(config, registry).value();
  const auto inference = [&](int64_t num_simulations) {
    config.search.num_simulations = num_simulations;
    return PlanMemory(config, spec, registry)->inference;
  };
  const auto env = registry.Make("tictactoe", {}).value();
  env->Reset(0);
  const auto state = static_cast<int64_t>(env->Save().value().size());
  const int64_t num_roots = config.env.num_collectors + config.env.num_evaluators;
  const int64_t a_node = (inference(104) - inference(4)) / (100 * num_roots);
  EXPECT_GE(a_node, state);
  EXPECT_LE(a_node, state + 128);
}

TEST(RunPlanTest, WhatDoesNotFitIsRefusedWithItsLargestPart) {
  const MemoryPlan plan = {3 * kMebibyte, 2 * kMebibyte, kMebibyte,    kMebibyte / 4,
                           kMebibyte / 4, kMebibyte,     kMebibyte / 2};
  EXPECT_TRUE(CheckMemoryPlan(plan, plan.total()).ok());
  EXPECT_EQ(CheckMemoryPlan(plan, plan.total() - 1),
            absl::ResourceExhaustedError(
                "the run needs 8.0 MiB of memory, this machine has 8.0 MiB: learner 3.0 MiB, batch "
                "2.0 MiB, an update up to 1.0 MiB, inference 1.0 MiB, search 256.0 KiB, replay up "
                "to 256.0 KiB, a checkpoint 0.0 KiB, the program and its libraries 512.0 KiB; "
                "lower model.embed_dim or model.num_layers or "
                "model.head_dim"));
  const auto advice = [](const MemoryPlan& large) {
    return std::string(CheckMemoryPlan(large, 1).message());
  };
  EXPECT_THAT(advice({1, 2, 1, 1, 1}), HasSubstr("lower train.batch_size"));
  EXPECT_THAT(advice({1, 1, 2, 1, 1}), HasSubstr("lower env.num_collectors"));
  EXPECT_THAT(advice({1, 1, 1, 2, 1}), HasSubstr("lower search.num_simulations or evaluate.num"));
  EXPECT_THAT(advice({1, 1, 1, 1, 2}), HasSubstr("lower replay.max_mebibytes"));
  EXPECT_THAT(advice({1, 1, 1, 1, 1, 2}), HasSubstr("lower train.batch_size or replay.num_unroll"));
  EXPECT_THAT(advice({1, 1, 1, 1, 1, 1, 1, 2}), HasSubstr("lower env.num_workers"));
}

// In range, each of them, and far beyond any machine: refused in words before anything is made.
TEST(RunPlanTest, ConfigsBeyondAnyMachineAreRefused) {
  const EnvRegistry registry = NativeRegistry();
  std::vector<ExperimentConfig> configs(3, TinyConfig());
  configs[0].model.embed_dim = 65536;
  configs[0].model.num_layers = 256;
  configs[1].model.support_size = 100001;
  configs[1].model.head_dim = 1048576;
  configs[2].env.num_collectors = 4096;
  configs[2].replay.capacity = 1000000;
  configs[2].replay.max_mebibytes = 100000;
  configs[2].model.context_length = 65536;
  configs[2].model.embed_dim = 2048;
  for (const ExperimentConfig& config : configs) {
    const absl::Status status = PlanRun(config, registry).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("this machine has"));
  }
}

TEST(RunPlanTest, BatchAndReplayCountTooWhateverTheirSize) {
  const EnvRegistry registry = NativeRegistry();
  ExperimentConfig config = TinyConfig();
  const EnvSpec spec = BuildEnvSpec(config, registry).value();
  const int64_t small = PlanMemory(config, spec, registry)->total();
  config.train.batch_size = 65536;
  config.replay.num_unroll_steps = 10000;
  EXPECT_GT(PlanMemory(config, spec, registry)->batch, int64_t{65536} * 10000 * 4 * 8);
  config = TinyConfig();
  config.replay.capacity = 1 << 30;
  config.replay.max_mebibytes = 10000000;
  EXPECT_GT(PlanMemory(config, spec, registry)->replay, small + (int64_t{1} << 32));
}

TEST(RunPlanTest, ATargetReturnOfAGameForTwoPlayersIsRefused) {
  ExperimentConfig config = BoardConfig();
  config.stop.target_return = 0.5;
  const absl::Status status = PlanRun(config, NativeRegistry()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("stop.target_return: got 0.5"));
}

// 3 environments with segments of 12 and targets 4 steps later: 48 transitions.
TEST(RunPlanTest, AReplayThatIsTooSmallIsRefused) {
  ExperimentConfig config = TinyConfig();
  config.replay.capacity = 48;
  EXPECT_TRUE(PlanRun(config, NativeRegistry()).ok());
  config.replay.capacity = 47;
  const absl::Status status = PlanRun(config, NativeRegistry()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("replay.capacity: got 47"));
}

}  // namespace
}  // namespace lzero::run_plan_test
