// Recorded updates of several tasks in one model, made apart, beside eager ones: a graph for each
// task, which merges its adapters anew. Skipped where there is no device.
#include "gtest/gtest.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/model/random_batch.h"
#include "tests/null_gpu/count.h"
#include "tests/train/train_testing.h"
#include "tests/train/trainer_testing.h"

namespace lzero::cuda_tasks_test {
namespace {

using null_gpu::CountOf;
using reference::RandomBatch;

class CudaTasksTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto backend = MakeCudaGraphBackend(0);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
  }
};

std::unique_ptr<Learner> MakeLearner(Graphs graphs, int64_t adapter_rank,
                                     UpdateTasks updates = UpdateTasks::kApart) {
  ExperimentConfig config = TinyConfig();
  config.inference.device = Device::kCuda;
  config.inference.graphs = graphs;
  config.train.log_every_updates = 100;  // recorded updates do not compare gradients
  config.multitask.updates = updates;
  config.multitask.adapter_rank = adapter_rank;
  const ExperimentConfig task = config;
  for (const char* name : {"a", "b"}) {
    config.tasks.push_back(task);
    config.tasks.back().name = name;
  }
  const WorldModelShape shape = {{reference::kObservationSize}, reference::kNumActions};
  auto learner = Learner::Create(config, std::vector<WorldModelShape>(2, shape));
  EXPECT_TRUE(learner.ok()) << learner.status();
  return std::move(learner).value();
}

TEST_F(CudaTasksTest, UpdatesMadeApartAreReplayedTaskByTask) {
  const TrainBatch batches[] = {RandomBatch(5, 1, 3, 1), RandomBatch(4, 0, 2, 2)};
  for (const int64_t rank : {0, 2}) {
    const auto recorded = MakeLearner(Graphs::kRequired, rank);
    const auto eager = MakeLearner(Graphs::kOff, rank);
    for (int update = 0; update < 6; ++update) {
      SCOPED_TRACE(absl::StrCat("rank ", rank, ", update ", update));
      const size_t task = update % 3 == 0 ? 0 : 1;
      const int64_t launches = CountOf("graph_launches");
      ASSERT_TRUE(recorded->Update({TaskBatch{task, &batches[task]}}, 1e-3).ok());
      EXPECT_EQ(CountOf("graph_launches") - launches, null_gpu::IsUnder() ? 1 : 0);
      ASSERT_TRUE(eager->Update({TaskBatch{task, &batches[task]}}, 1e-3).ok());
      const MetricMap metrics = recorded->ReadMetrics(), expected = eager->ReadMetrics();
      ASSERT_EQ(metrics.size(), expected.size());
      for (const auto& [name, value] : expected) {
        EXPECT_NEAR(metrics.at(name), value, null_gpu::IsUnder() ? 0.0 : 1e-3) << name;
      }
      // The views too: searches read what the adapters became.
      for (const size_t view : {0, 1}) {
        const auto weights = recorded->model(view).parameters();
        const auto others = eager->model(view).parameters();
        for (size_t i = 0; i < weights.size(); ++i) {
          EXPECT_TRUE(at::allclose(weights[i], others[i], 1e-3, 1e-4)) << view << " " << i;
        }
      }
    }
    if (null_gpu::IsUnder()) ExpectSameBytes(recorded->Export(), eager->Export());
  }
}

TEST_F(CudaTasksTest, UpdatesMadeTogetherSayThatNoneIsRecorded) {
  testing::internal::CaptureStderr();
  MakeLearner(Graphs::kPreferred, /*adapter_rank=*/0, UpdateTasks::kTogether);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "no graph, updates of all tasks together run one operation after the other"),
            std::string::npos);
}

// Preparing for one task leaves what was recorded for the others.
TEST_F(CudaTasksTest, EachTaskIsPreparedOnce) {
  const TrainBatch batches[] = {RandomBatch(5, 1, 3, 1), RandomBatch(4, 0, 2, 2)};
  const auto learner = MakeLearner(Graphs::kRequired, /*adapter_rank=*/0);
  for (const size_t task : {0, 1}) {
    ASSERT_TRUE(learner->Prepare(batches[task].shape(), task).ok());
  }
  const int64_t graphs = CountOf("graphs");
  for (const size_t task : {0, 1}) {
    ASSERT_TRUE(learner->Update({TaskBatch{task, &batches[task]}}, 1e-3).ok());
  }
  EXPECT_EQ(CountOf("graphs"), graphs);
}

}  // namespace
}  // namespace lzero::cuda_tasks_test
