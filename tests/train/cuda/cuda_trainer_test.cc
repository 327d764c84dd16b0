// Whole runs on a real device: all roles beside the learner, a run that goes on, and what is left
// when a run is over; skipped where there is no device.
#include "gtest/gtest.h"
#include "lzero/family/tensor_families.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/player/agent_loader.h"
#include "tests/null_gpu/count.h"
#include "tests/train/trainer_testing.h"

namespace lzero::cuda_trainer_test {
namespace {

class CudaTrainerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeCudaGraphBackend(0);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    backend_ = *std::move(made);
  }
  std::unique_ptr<GraphBackend> backend_;
};

// Collector, evaluator and reanalyzer, each with an engine, and the learner at the same time.
ExperimentConfig BusyConfig(Runner runner) {
  ExperimentConfig config = TinyConfig();
  config.deterministic = false;
  config.inference.device = Device::kCuda;
  config.inference.runner = runner;
  config.replay.reanalyze_ratio = 0.5;
  return config;
}

TEST_F(CudaTrainerTest, AllRolesRunBesideTheLearner) {
  for (const Runner runner : {Runner::kEager, Runner::kCudaGraph, Runner::kCudaSearchGraph}) {
    const ExperimentConfig config = BusyConfig(runner);
    TestRun run(config);
    const auto outcome = run.Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->state.env_steps, config.stop.max_env_steps);
    EXPECT_GT(outcome->state.evaluations, 0);
    EXPECT_GT(outcome->state.tasks[0].reanalyzed, 0);
    EXPECT_TRUE(run.Metrics().back().at("loss/total").has_value());
  }
}

TEST_F(CudaTrainerTest, ARunThatGoesOnEndsWhereOneEndsThatNeverStopped) {
  ExperimentConfig config = TinyConfig();
  config.inference.device = Device::kCuda;
  TestRun straight(config), resumed(config);
  const auto outcome = straight.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  resumed.CopyFrom(straight);
  const auto second = resumed.Resume(ListCheckpoints(resumed.dir()).value()[2].path);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->state.updates, outcome->state.updates);
  // A real device may round sums in another order each time.
  if (null_gpu::IsUnder()) ExpectSameEnd(resumed, straight, /*compare_metrics=*/true);
}

// The search of `auto` keeps its trees on the device.
TEST_F(CudaTrainerTest, TreesThatAreShownAreInTheMemoryOfTheHost) {
  ExperimentConfig config = TinyConfig();
  config.inference.device = Device::kCuda;
  TestRun run(config);
  ASSERT_TRUE(run.Run().ok());
  ThreadPool pool(1);
  for (const bool shows : {false, true}) {
    LoadAgentOptions options;
    options.make_engine = MakeEngine;
    options.shows_trees = shows;
    const auto agent = LoadAgent(run.dir(), ProbeRegistry(config), options, &pool);
    ASSERT_TRUE(agent.ok()) << agent.status();
    Evaluator& evaluator = *agent->role.evaluator;
    ASSERT_TRUE(evaluator.Run(std::vector<uint64_t>{1}).ok());
    EXPECT_EQ(evaluator.agent()->host_tree() != nullptr, shows);
  }
}

}  // namespace
}  // namespace lzero::cuda_trainer_test
