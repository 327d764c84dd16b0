// A recorded update beside an eager one, for every family and encoder: what it asks of the device,
// what it computes, and what it leaves there. Counts, and equality to the last bit, are those of
// the null GPU; skipped where there is no device.
#include <cmath>
#include <limits>

#include "ATen/Context.h"
#include "gtest/gtest.h"
#include "lzero/graph/cuda_graph_library.h"
#include "tests/null_gpu/count.h"
#include "tests/train/cuda/update_cases.h"
#include "tests/train/trainer_testing.h"

namespace lzero::cuda_update_test {
namespace {

using null_gpu::CountOf;

class CudaUpdateTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto backend = MakeCudaGraphBackend(0);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
  }
};

ExperimentConfig Eager(ExperimentConfig config) {
  config.inference.graphs = Graphs::kOff;
  return config;
}

// An update with a learning rate of its own.
MetricMap Update(Learner& learner, const UpdateCase& which, unsigned number,
                 std::vector<float>* priorities = nullptr) {
  const double learning_rate = 1e-3 / (1.0 + number);
  const absl::Status status =
      learner.Update(FilledBatch(which.Batch(), number), learning_rate, priorities);
  EXPECT_TRUE(status.ok()) << which.name << ": " << status;
  return learner.ReadMetrics();
}

void ExpectClose(const MetricMap& actual, const MetricMap& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, value] : expected) {
    EXPECT_NEAR(actual.at(name), value, tolerance * std::max(1.0, std::abs(value))) << name;
  }
}

// The same update from the same weights: a device may sum in another order, the null GPU does not.
void ExpectSameUpdate(Learner& recorded, Learner& eager, const UpdateCase& which, unsigned number) {
  SCOPED_TRACE(which.name);
  std::vector<float> priorities, expected;
  const MetricMap metrics = Update(recorded, which, number, &priorities);
  ExpectClose(metrics, Update(eager, which, number, &expected), null_gpu::IsUnder() ? 0.0 : 1e-3);
  if (!null_gpu::IsUnder()) return;
  EXPECT_EQ(priorities, expected);
  ExpectSameBytes(recorded.Export(), eager.Export());
}

TEST_F(CudaUpdateTest, IsTheEagerOneStepByStep) {
  for (const UpdateCase& which : UpdateCases()) {
    const auto recorded = MakeLearner(which, which.Config());
    const auto eager = MakeLearner(which, Eager(which.Config()));
    for (unsigned update = 0; update < 4; ++update) {
      ExpectSameUpdate(*recorded, *eager, which, update);
    }
  }
}

TEST_F(CudaUpdateTest, DropoutDrawsTheSameInAReplay) {
  const UpdateCase which = UpdateCases()[0];
  ExperimentConfig config = which.Config();
  config.model.dropout = 0.2;
  const auto recorded = MakeLearner(which, config), eager = MakeLearner(which, Eager(config));
  for (unsigned update = 0; update < 4; ++update) {
    ExpectSameUpdate(*recorded, *eager, which, update);
  }
}

TEST_F(CudaUpdateTest, IsOneLaunchOneCopyInAndOneOut) {
  if (!null_gpu::IsUnder()) return;  // a device does not count; a test that is skipped there fails
  for (const UpdateCase& which : UpdateCases()) {
    SCOPED_TRACE(which.name);
    for (const bool is_recorded : {true, false}) {
      const auto learner = MakeLearner(which, is_recorded ? which.Config() : Eager(which.Config()));
      std::vector<float> priorities;
      Update(*learner, which, 0, &priorities);
      const int64_t launches = CountOf("graph_launches"), copies = CountOf("copies"),
                    waits = CountOf("waits"), of_others = CountOf("work_of_default_stream");
      Update(*learner, which, 1, &priorities);
      EXPECT_EQ(CountOf("graph_launches") - launches, is_recorded ? 1 : 0);
      EXPECT_EQ(CountOf("copies") - copies, 2);
      EXPECT_EQ(CountOf("waits") - waits, 1);
      EXPECT_EQ(CountOf("work_of_default_stream"), of_others);
    }
  }
}

TEST_F(CudaUpdateTest, ObservationsOfBytesTravelAsBytes) {
  if (!null_gpu::IsUnder()) return;
  for (const UpdateCase& which : UpdateCases()) {
    if (which.type != ObservationType::kUint8) continue;
    SCOPED_TRACE(which.name);
    const auto learner = MakeLearner(which, which.Config());
    const TrainBatch batch = FilledBatch(which.Batch(), 0);
    const size_t bytes = batch.observation_bytes.size() + batch.bootstrap_observation_bytes.size();
    ASSERT_TRUE(learner->Prepare(which.Batch()).ok());
    const int64_t before = CountOf("copied_bytes");
    Update(*learner, which, 0);
    EXPECT_LT(CountOf("copied_bytes") - before, 2 * static_cast<int64_t>(bytes));
  }
}

TEST_F(CudaUpdateTest, PreparingLearnsNothing) {
  for (const UpdateCase& which : UpdateCases()) {
    SCOPED_TRACE(which.name);
    const auto learner = MakeLearner(which, which.Config());
    const auto before = learner->Export();
    ASSERT_TRUE(learner->Prepare(which.Batch()).ok());
    ExpectSameBytes(learner->Export(), before);
    // It is the update that is replayed: none is recorded later.
    const int64_t graphs = CountOf("graphs");
    Update(*learner, which, 0);
    EXPECT_EQ(CountOf("graphs"), graphs);
  }
}

// On the null GPU's level "control" with libtorch's own kernels, where it has them: not cuDNN's.
TEST_F(CudaUpdateTest, TheDevicesOwnKernelsCanBeRecorded) {
  for (const UpdateCase& which : UpdateCases()) {
    if (which.encoder != EncoderKind::kVector) continue;
    for (const TrainDtype dtype : {TrainDtype::kFp32, TrainDtype::kTf32, TrainDtype::kBf16}) {
      SCOPED_TRACE(which.name);
      ExperimentConfig config = which.Config();
      config.train.dtype = dtype;
      const absl::Status prepared = MakeLearner(which, config)->Prepare(which.Batch());
      EXPECT_TRUE(prepared.ok()) << prepared;
    }
  }
}

// In between the model computes other lengths than a graph has seen, and other work takes memory.
TEST_F(CudaUpdateTest, OtherWorkBetweenReplaysLeavesThemRight) {
  const UpdateCase which = UpdateCases()[0];
  const auto recorded = MakeLearner(which, which.Config());
  const auto eager = MakeLearner(which, Eager(which.Config()));
  for (unsigned update = 0; update < 3; ++update) {
    ExpectSameUpdate(*recorded, *eager, which, update);
    const MetricMap errors = recorded->MeasureOpenLoop().value();
    EXPECT_FALSE(errors.empty());
    ExpectClose(errors, eager->MeasureOpenLoop().value(), null_gpu::IsUnder() ? 0.0 : 1e-3);
  }
}

TEST_F(CudaUpdateTest, ABatchOfAnotherShapeIsRecordedAnew) {
  UpdateCase which = UpdateCases()[0];
  const auto recorded = MakeLearner(which, which.Config());
  const auto eager = MakeLearner(which, Eager(which.Config()));
  for (const int context : {2, 0, 2}) {
    which.num_context_steps = context;
    for (unsigned update = 0; update < 2; ++update) {
      ExpectSameUpdate(*recorded, *eager, which, update);
    }
  }
}

TEST_F(CudaUpdateTest, WeightsThatAreBroughtBackGoOnAlike) {
  for (const UpdateCase& which : UpdateCases()) {
    const auto unbroken = MakeLearner(which, which.Config());
    for (unsigned update = 0; update < 3; ++update) Update(*unbroken, which, update);
    const auto resumed = MakeLearner(which, which.Config());
    ASSERT_TRUE(resumed->Prepare(which.Batch()).ok());
    ASSERT_TRUE(resumed->Import(unbroken->Export(), 3).ok());
    for (unsigned update = 3; update < 5; ++update) {
      ExpectSameUpdate(*resumed, *unbroken, which, update);
    }
  }
}

TEST_F(CudaUpdateTest, UnloadingGivesAllMemoryBack) {
  for (const UpdateCase& which : UpdateCases()) {
    SCOPED_TRACE(which.name);
    const int64_t device = CountOf("device_bytes"), pinned = CountOf("pinned_bytes"),
                  graphs = CountOf("graphs");
    {
      const auto learner = MakeLearner(which, which.Config());
      std::vector<float> priorities;
      for (unsigned update = 0; update < 2; ++update) Update(*learner, which, update, &priorities);
      Update(*learner, which, 2);  // without priorities: another graph
      EXPECT_TRUE(learner->MeasureOpenLoop().ok());
    }
    EXPECT_EQ(CountOf("device_bytes"), device);
    EXPECT_EQ(CountOf("pinned_bytes"), pinned);
    EXPECT_EQ(CountOf("graphs"), graphs);
  }
}

// How far metrics may lie from those of the CPU in float32, after one update and after four: TF32
// keeps 10 bits of a product's operands, bfloat16 7.
struct Tolerance {
  TrainDtype dtype;
  double first, fourth;
};

TEST_F(CudaUpdateTest, EveryDtypeIsCloseToTheCpu) {
  constexpr Tolerance kTolerances[] = {{TrainDtype::kFp32, 1e-4, 1e-2},
                                       {TrainDtype::kTf32, 1e-2, 3e-2},
                                       {TrainDtype::kBf16, 4e-2, 1e-1}};
  for (const Tolerance& tolerance : kTolerances) {
    for (const UpdateCase& which : UpdateCases()) {
      SCOPED_TRACE(absl::StrCat(which.name, " dtype ", static_cast<int>(tolerance.dtype)));
      ExperimentConfig config = which.Config();
      config.train.dtype = tolerance.dtype;
      const auto recorded = MakeLearner(which, config), eager = MakeLearner(which, Eager(config));
      config.inference.device = Device::kCpu;
      config.inference.graphs = Graphs::kOff;
      config.train.dtype = TrainDtype::kFp32;
      const auto on_cpu = MakeLearner(which, config);
      for (unsigned update = 0; update < 4; ++update) {
        const MetricMap metrics = Update(*recorded, which, update);
        ExpectClose(metrics, Update(*on_cpu, which, update),
                    update == 0 ? tolerance.first : tolerance.fourth);
        ExpectClose(metrics, Update(*eager, which, update),
                    null_gpu::IsUnder() ? 0.0 : tolerance.fourth);
      }
    }
  }
}

TEST_F(CudaUpdateTest, Bfloat16IsUsedForProductsAndLeavesFloat32Weights) {
  const UpdateCase which = UpdateCases()[0];
  ExperimentConfig config = which.Config();
  const auto exact = MakeLearner(which, config);
  config.train.dtype = TrainDtype::kBf16;
  const auto rounded = MakeLearner(which, config);
  EXPECT_NE(Update(*rounded, which, 0), Update(*exact, which, 0));
  for (const at::Tensor& weight : rounded->model().parameters()) {
    EXPECT_EQ(weight.scalar_type(), at::kFloat);
    EXPECT_FALSE(weight.grad().defined());  // those of a graph are its own
  }
}

TEST_F(CudaUpdateTest, APrecisionIsTheLearnersAlone) {
  const at::Context& context = at::globalContext();
  const bool products = context.allowTF32CuBLAS(), convolutions = context.allowTF32CuDNN();
  const UpdateCase which = UpdateCases()[0];
  for (const TrainDtype dtype : {TrainDtype::kFp32, TrainDtype::kTf32, TrainDtype::kBf16}) {
    for (const Graphs graphs : {Graphs::kRequired, Graphs::kOff}) {
      ExperimentConfig config = which.Config();
      config.train.dtype = dtype;
      config.inference.graphs = graphs;
      Update(*MakeLearner(which, config), which, 0);
      EXPECT_EQ(context.allowTF32CuBLAS(), products);
      EXPECT_EQ(context.allowTF32CuDNN(), convolutions);
    }
  }
}

TEST_F(CudaUpdateTest, ARunResumesExactly) {
  if (!null_gpu::IsUnder()) return;  // a device may sum in another order
  ExperimentConfig config = TinyConfig();
  config.inference.device = Device::kCuda;
  config.replay.prioritized = true;
  config.train.learning_rate_schedule = LearningRateSchedule::kCosine;
  ExpectExactResume(config, 3);
}

}  // namespace
}  // namespace lzero::cuda_update_test
