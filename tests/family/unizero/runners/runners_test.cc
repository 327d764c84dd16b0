// The choice of a runner from the config.
#include "lzero/family/unizero/runners/runners.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/family/unizero/runners/replay_device.h"

namespace lzero::runners_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kMaxBatch = 5;

std::shared_ptr<WorldModel> SmallModel() {
  ModelConfig config;
  config.embed_dim = 8;
  config.num_heads = 2;
  config.support_size = 11;
  config.encoder_width = 8;
  return RandomModel(config, {{2}, 4}, 1);
}

TEST(RunnersTest, TheConfigChoosesTheRunner) {
  const auto model = SmallModel();
  const std::pair<Runner, const char*> cases[] = {
      {Runner::kAuto, "packed"}, {Runner::kPacked, "packed"}, {Runner::kEager, "eager"}};
  for (const auto& [runner, name] : cases) {
    for (const Graphs graphs : {Graphs::kPreferred, Graphs::kOff}) {
      InferenceConfig config;
      config.runner = runner;
      config.graphs = graphs;
      const auto step = MakeRecurrentStep(config, *model, kMaxBatch);
      ASSERT_TRUE(step.ok()) << step.status();
      EXPECT_EQ((*step)->name(), name);
      EXPECT_EQ((*step)->buffers().actions.size(0), kMaxBatch);
    }
  }
}

TEST(RunnersTest, ARunnerOfWholeSearchesHasNoStep) {
  InferenceConfig config;
  config.device = Device::kCuda;
  config.runner = Runner::kCudaSearchGraph;
  const auto model = SmallModel();
  EXPECT_EQ(MakeRecurrentStep(config, *model, kMaxBatch).status(),
            absl::InvalidArgumentError("inference.runner: cuda_search_graph runs whole searches "
                                       "and has no step of its own"));
}

// A refused capture: an error where graphs are required, otherwise an eager step and a warning.
TEST(RunnersTest, AFailedCaptureFallsBackOnlyWhereTheConfigAllowsIt) {
  const auto model = SmallModel();
  InferenceConfig config;
  config.device = Device::kCuda;
  const EngineDevice device = MakeReplayDevice();
  ReplayBackend& backend = BackendOf(device);
  auto step = MakeRecurrentStep(config, *model, kMaxBatch, device);
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ((*step)->name(), "cuda_graph");
  step->reset();
  backend.fail_capture = backend.num_captures;
  config.dtype = InferenceDtype::kBf16;
  testing::internal::CaptureStderr();
  step = MakeRecurrentStep(config, *model, kMaxBatch, device);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("no graphs, steps run one operation after the other, in fp32 "
                        "(inference.graphs: preferred): recording a step of 8: "));
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ((*step)->name(), "eager");
  config.graphs = Graphs::kRequired;
  EXPECT_THAT(MakeRecurrentStep(config, *model, kMaxBatch, device).status().message(),
              HasSubstr("capture failed: busy"));
}

TEST(RunnersTest, GraphsThatNoRunnerRecordsAreRefusedInWords) {
  const auto model = SmallModel();
  for (const Runner runner : {Runner::kAuto, Runner::kEager, Runner::kPacked}) {
    InferenceConfig config;
    config.runner = runner;
    config.graphs = Graphs::kRequired;
    const auto step = MakeRecurrentStep(config, *model, kMaxBatch);
    EXPECT_THAT(std::string(step.status().message()),
                HasSubstr("inference.graphs: no graph runner on device cpu; got required"));
  }
}

TEST(RunnersDeathTest, AStepForNoRowsIsACallersBug) {
  const auto model = SmallModel();
  EXPECT_DEATH(MakeRecurrentStep({}, *model, 0).IgnoreError(), "batch of 0");
}

}  // namespace
}  // namespace lzero::runners_test
