// Updates on a real device beside those of the CPU, and one that the device leaves out; skipped
// where there is no device.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/train/learner.h"
#include "tests/model/random_batch.h"

namespace lzero::cuda_learner_test {
namespace {

using reference::RandomBatch;

class CudaLearnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto backend = MakeCudaGraphBackend(0);
    if (!backend.ok()) GTEST_SKIP() << backend.status().message();
  }
};

std::unique_ptr<Learner> MakeLearner(Device device) {
  ExperimentConfig config;
  config.model.embed_dim = 32;
  config.model.support_size = 11;
  config.inference.device = device;
  config.seed = 3;
  auto learner = Learner::Create(config, {{reference::kObservationSize}, reference::kNumActions});
  EXPECT_TRUE(learner.ok()) << learner.status();
  return std::move(learner).value();
}

TrainBatch Batch(unsigned seed) { return RandomBatch(16, 1, 4, seed); }

void ExpectClose(const MetricMap& actual, const MetricMap& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, value] : expected) {
    EXPECT_NEAR(actual.at(name), value, tolerance * std::max(1.0, std::abs(value))) << name;
  }
}

TEST_F(CudaLearnerTest, AnUpdateHasTheMetricsOfTheCpu) {
  const auto on_device = MakeLearner(Device::kCuda), on_cpu = MakeLearner(Device::kCpu);
  for (unsigned update = 0; update < 5; ++update) {
    std::vector<float> priorities, expected;
    ASSERT_TRUE(on_device->Update(Batch(update), 1e-3, &priorities).ok());
    ASSERT_TRUE(on_cpu->Update(Batch(update), 1e-3, &expected).ok());
    // Adam moves a weight without gradient by the learning rate, whatever the sign of its noise.
    const double tolerance = update == 0 ? 1e-4 : 1e-2;
    ExpectClose(on_device->ReadMetrics(), on_cpu->ReadMetrics(), tolerance);
    ASSERT_EQ(priorities.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(priorities[i], expected[i], tolerance * std::max(1.0f, expected[i]));
    }
  }
}

TEST_F(CudaLearnerTest, AnUpdateThatIsNotANumberIsLeftOutOnTheDevice) {
  const auto learner = MakeLearner(Device::kCuda);
  for (unsigned update = 0; update < 2; ++update) {
    ASSERT_TRUE(learner->Update(Batch(update), 1e-3, nullptr).ok());
  }
  const auto before = learner->Export();
  TrainBatch non_finite = Batch(2);
  non_finite.observations[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(learner->Update(non_finite, 1e-3, nullptr).code(), absl::StatusCode::kAborted);
  EXPECT_EQ(learner->num_updates(), 2);
  const auto after = learner->Export();
  for (const auto& [file, arrays] : before) {
    ASSERT_EQ(after.at(file).size(), arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(after.at(file)[i].bytes, arrays[i].bytes) << file << " " << arrays[i].name;
    }
  }
  ASSERT_TRUE(learner->Update(Batch(3), 1e-3, nullptr).ok());
  EXPECT_EQ(learner->num_updates(), 3);
}

}  // namespace
}  // namespace lzero::cuda_learner_test
