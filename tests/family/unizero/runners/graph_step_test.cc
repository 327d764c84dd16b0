// A captured step on a backend that replays on the CPU: warm-up and capture of every bucket, which
// bucket runs, refusals, unloading.
#include "lzero/family/unizero/runners/graph_step.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/family/unizero/runners/replay_device.h"
#include "tests/family/unizero/runners/root_scene.h"

namespace lzero::graph_step_test {
namespace {

using testing::HasSubstr;

std::shared_ptr<WorldModel> SmallModel(uint64_t seed) {
  ModelConfig config;
  config.embed_dim = 16;
  config.num_heads = 2;
  config.context_length = 5;
  config.support_size = 11;
  config.encoder_width = 16;
  return RandomModel(config, {{3}, 4}, seed);
}

void FillInputs(RandomStream& random, StepBuffers& buffers) {
  const int64_t rows = buffers.actions.size(0), window = buffers.contexts.tokens.size(1);
  buffers.contexts.tokens.normal_();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t length = random.UniformInt(window + 1);
    buffers.contexts.lengths[row].fill_(length);
    buffers.contexts.tokens[row].narrow(0, 0, window - length).zero_();
    buffers.actions[row].fill_(random.UniformInt(4));
  }
}

TEST(GraphStepTest, EveryBucketIsWarmedUpAndCapturedOnce) {
  SetTensorThreads(1);
  const EngineDevice device = MakeReplayDevice();
  ReplayBackend& backend = BackendOf(device);
  const auto model = SmallModel(1);
  {
    const auto step = MakeGraphStep(*model, 11, InferenceDtype::kFp32, device, nullptr);
    ASSERT_TRUE(step.ok()) << step.status();
    EXPECT_EQ((*step)->buffers().actions.size(0), 16);
    EXPECT_EQ(backend.num_captures, 4);
    EXPECT_EQ(backend.num_warm_ups, 12);
    EXPECT_EQ(backend.num_replays, 0);
    ASSERT_TRUE((*step)->Run(3).ok());
    EXPECT_EQ(backend.num_replays, 1);
    EXPECT_EQ(backend.num_waits + backend.num_synchronizations, 0);  // a step never waits
  }
  EXPECT_EQ(backend.num_unloads, 1);
  EXPECT_EQ(backend.num_live, 0);
}

TEST(GraphStepTest, AWarmUpWritesNothingIntoTheCache) {
  SetTensorThreads(1);
  const EngineDevice device = MakeReplayDevice();
  const auto model = SmallModel(1);
  const SceneCache scene(*model, 3);
  const auto step = MakeGraphStep(*model, 3, InferenceDtype::kFp32, device, scene.cache.get());
  ASSERT_TRUE(step.ok()) << step.status();
  const auto* numbers = static_cast<const float*>(scene.cache->storage_address());
  const int64_t count = scene.cache->stats().bytes / static_cast<int64_t>(sizeof(float));
  EXPECT_TRUE(std::all_of(numbers, numbers + count, [](float x) { return x == 0.0f; }));
}

TEST(GraphStepTest, ReplaysGiveTheNumbersOfEagerForEveryBatch) {
  SetTensorThreads(1);
  const EngineDevice device = MakeReplayDevice();
  const auto model = SmallModel(2), other = SmallModel(3);
  auto step = MakeGraphStep(*model, 9, InferenceDtype::kFp32, device, nullptr).value();
  EagerStep eager(*model, 16);
  RandomStream random(1, "graph step");
  for (int round = 0; round < 20; ++round) {
    if (round == 10) {  // in place: the next replay reads them
      model->CopyWeightsFrom(*other);
      step->OnWeightsChanged();
    }
    const int64_t batch = 1 + random.UniformInt(9);
    FillInputs(random, step->buffers());
    eager.buffers().contexts.tokens.copy_(step->buffers().contexts.tokens);
    eager.buffers().contexts.lengths.copy_(step->buffers().contexts.lengths);
    eager.buffers().actions.copy_(step->buffers().actions);
    step->buffers().values.fill_(std::nanf(""));
    ASSERT_TRUE(step->Run(batch).ok());
    ASSERT_TRUE(eager.Run(16).ok());
    const auto close = [&](const at::Tensor& got, const at::Tensor& expected) {
      return at::allclose(got.narrow(0, 0, batch), expected.narrow(0, 0, batch), 1e-5, 1e-5);
    };
    EXPECT_TRUE(close(step->buffers().values, eager.buffers().values));
    EXPECT_TRUE(close(step->buffers().rewards, eager.buffers().rewards));
    EXPECT_TRUE(close(step->buffers().prior_logits, eager.buffers().prior_logits));
    EXPECT_TRUE(close(step->buffers().tokens, eager.buffers().tokens));
  }
}

TEST(GraphStepTest, MoreRowsThanWereCapturedAreRefused) {
  const EngineDevice device = MakeReplayDevice();
  const auto model = SmallModel(4);
  const auto step = MakeGraphStep(*model, 3, InferenceDtype::kFp32, device, nullptr).value();
  EXPECT_TRUE(step->Run(4).ok());
  EXPECT_EQ(step->Run(5), absl::InvalidArgumentError("a step of 5 rows; captured for 1 .. 4"));
  EXPECT_FALSE(step->Run(0).ok());
}

TEST(GraphStepTest, AFailedCaptureIsToldWithItsBatchAndLeavesNothing) {
  const EngineDevice device = MakeReplayDevice();
  ReplayBackend& backend = BackendOf(device);
  backend.fail_capture = 2;
  const auto model = SmallModel(5);
  const auto step = MakeGraphStep(*model, 8, InferenceDtype::kFp32, device, nullptr);
  EXPECT_EQ(step.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(step.status().message(), HasSubstr("recording a step of 2: capture failed: busy"));
  EXPECT_EQ(backend.num_live, 0);
}

}  // namespace
}  // namespace lzero::graph_step_test
