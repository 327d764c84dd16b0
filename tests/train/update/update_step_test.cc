// Recording an update, with a backend that needs no device: what a refusal leads to, and that
// neither learns. Real recordings: cuda/cuda_update_test.cc.
#include "lzero/train/update/update_step.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/unizero/world_model.h"
#include "tests/graph/replay_backend.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::update_step_test {
namespace {

using testing::HasSubstr;

// A learner's parts.
struct Parts {
  explicit Parts(const ExperimentConfig& given, GraphBackend* backend)
      : config(given),
        model(WorldModel::Create(config.model, shape, 1).value()),
        target(WorldModel::Create(config.model, shape, 1).value()),
        model_weights(model),
        target_weights(target),
        optimizer(model_weights, config.train),
        step({config}, &model_weights, &target_weights, &optimizer, backend) {
    for (const at::Tensor& weight : target->parameters()) weight.set_requires_grad(false);
  }
  void Load(unsigned seed) {
    const TrainBatch batch = reference::RandomBatch(5, 1, 3, seed);
    if (!staging.has_value()) staging = BatchStaging::Create(batch.shape(), at::kCPU).value();
    ASSERT_TRUE(staging->CopyIn(batch, kLearningRate).ok());
  }
  StagedTask Staged(bool with_errors) { return {0, &*staging, with_errors}; }
  void Run() { ASSERT_TRUE(step.Run({Staged(true)}, kLearningRate, /*compares=*/false).ok()); }

  static constexpr double kLearningRate = 0.01;
  const WorldModelShape shape = {{reference::kObservationSize}, reference::kNumActions};
  ExperimentConfig config;
  std::shared_ptr<WorldModel> model, target;
  TaskWeights model_weights, target_weights;
  AdamW optimizer;
  UpdateStep step;
  std::optional<BatchStaging> staging;
};

void ExpectSameWeights(const Parts& got, const Parts& expected) {
  EXPECT_EQ(WeightsOf(*got.model), WeightsOf(*expected.model));
  EXPECT_EQ(WeightsOf(*got.target), WeightsOf(*expected.target));
}

ExperimentConfig ConfigOf(Graphs graphs) {
  ExperimentConfig config = TinyConfig();
  config.inference.graphs = graphs;
  return config;
}

TEST(UpdateStepTest, RecordsOnceAKindOfBatchAndReplays) {
  ReplayBackend backend, without;
  Parts recorded(ConfigOf(Graphs::kRequired), &backend), eager(ConfigOf(Graphs::kOff), &without);
  for (unsigned update = 0; update < 3; ++update) {
    for (Parts* parts : {&recorded, &eager}) {
      parts->Load(update);
      ASSERT_TRUE(parts->step.Record(parts->Staged(true)).ok());
      parts->Run();
    }
    ExpectSameWeights(recorded, eager);
    EXPECT_EQ(backend.num_replays, update + 1);
  }
  EXPECT_EQ(backend.num_captures, 1);
  ASSERT_TRUE(recorded.step.Record(recorded.Staged(false)).ok());
  EXPECT_EQ(backend.num_captures, 2);
  EXPECT_EQ(without.num_captures + without.num_warm_ups, 0);
  EXPECT_EQ(recorded.step.TakeGraphs().size(), 2);
  EXPECT_EQ(backend.num_live, 0);
}

TEST(UpdateStepTest, ARefusedCaptureIsToldAndUpdatesGoOnWithout) {
  ReplayBackend refusing, without;
  refusing.fail_capture = 0;
  Parts preferred(ConfigOf(Graphs::kPreferred), &refusing);
  Parts eager(ConfigOf(Graphs::kOff), &without);
  testing::internal::CaptureStderr();
  for (unsigned update = 0; update < 2; ++update) {
    for (Parts* parts : {&preferred, &eager}) {
      parts->Load(update);
      ASSERT_TRUE(parts->step.Record(parts->Staged(true)).ok());
      parts->Run();
    }
    ExpectSameWeights(preferred, eager);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("no graph, updates run one operation after the other (inference.graphs: "
                        "preferred): recording an update: capture failed: busy"));
  EXPECT_EQ(refusing.num_warm_ups, 3);  // it is tried once
}

TEST(UpdateStepTest, ARefusedCaptureIsAnErrorWhereGraphsAreNeeded) {
  ExperimentConfig rounded = ConfigOf(Graphs::kPreferred);
  rounded.train.dtype = TrainDtype::kTf32;
  rounded.deterministic = false;
  rounded.inference.device = Device::kCuda;
  const std::pair<ExperimentConfig, const char*> cases[] = {
      {ConfigOf(Graphs::kRequired), "recording an update: capture failed: busy"},
      {rounded, "train.dtype: tf32 needs graphs, inference.device cpu, or deterministic: true"}};
  for (const auto& [config, message] : cases) {
    ReplayBackend refusing;
    refusing.fail_capture = 0;
    Parts parts(config, &refusing);
    const auto before = WeightsOf(*parts.model);
    parts.Load(1);
    const absl::Status status = parts.step.Record(parts.Staged(true));
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_EQ(WeightsOf(*parts.model), before);
  }
}

}  // namespace
}  // namespace lzero::update_step_test
