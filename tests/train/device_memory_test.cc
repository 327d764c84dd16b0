// The memory of a device, part by part: sums by hand, words, and what does not fit.
#include "lzero/train/device_memory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::device_memory_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST(DeviceMemoryTest, ALearnerHoldsItsWeightsAndWhatAnUpdateComputesTwiceWhereItIsRecorded) {
  ExperimentConfig config;
  config.inference.graphs = Graphs::kOff;
  DeviceMemoryPlan eager;
  AddLearner(config, {1000, 300, 70}, &eager);
  EXPECT_EQ(eager.learner, 4 * 4000);
  EXPECT_EQ(eager.batch, 300);
  EXPECT_EQ(eager.update, 70 + 2 * 4000);
  EXPECT_EQ(eager.workspaces, 64 * kMebibyte);  // forward and backward
  EXPECT_EQ(eager.blocks, 2 * kMebibyte);
  EXPECT_EQ(eager.graphs, 0);
  config.inference.graphs = Graphs::kPreferred;
  DeviceMemoryPlan recorded;
  AddLearner(config, {1000, 300, 70}, &recorded);
  EXPECT_EQ(recorded.learner, eager.learner);
  EXPECT_EQ(recorded.update, 2 * eager.update);
  EXPECT_EQ(recorded.workspaces, eager.workspaces);
  EXPECT_EQ(recorded.blocks, 4 * kMebibyte);
  EXPECT_GT(recorded.graphs, 0);
  DeviceMemoryPlan of_three, together;
  AddLearner(config, {1000, 300, 70, /*num_recorded=*/3}, &of_three);
  EXPECT_EQ(of_three.graphs, 3 * recorded.graphs);
  AddLearner(config, {1000, 300, 70, /*num_recorded=*/0}, &together);
  EXPECT_EQ(together.total(), eager.total());
  EXPECT_EQ(recorded.allocated(), recorded.total() - recorded.graphs);
}

TEST(DeviceMemoryTest, AnEngineHasAWorkspaceForEachThreadUnlessItIsRecorded) {
  DeviceMemoryPlan plan;
  AddEngine({.kept = 500, .activations = 40, .num_threads = 2}, &plan);
  EXPECT_EQ(plan.inference, 500);
  EXPECT_EQ(plan.activations, 40);
  EXPECT_EQ(plan.workspaces, 64 * kMebibyte);
  EXPECT_EQ(plan.blocks, 2 * kMebibyte);
  // A second one comes on top; 16 MiB are more than small blocks hold.
  AddEngine({.kept = 16 * kMebibyte, .activations = 0, .graph_nodes = 10, .num_threads = 2}, &plan);
  EXPECT_EQ(plan.inference, 500 + 16 * kMebibyte);
  EXPECT_EQ(plan.workspaces, 96 * kMebibyte);
  EXPECT_EQ(plan.blocks, (2 + 22 + 2 + 2) * kMebibyte);
  EXPECT_EQ(plan.graphs, 10 * 2048);
}

TEST(DeviceMemoryTest, WhatDoesNotFitIsToldWithItsPartsAndWhatToLower) {
  DeviceMemoryPlan plan;
  plan.device = {Device::Kind::kCuda, 1};
  plan.learner = 3 * kMebibyte, plan.batch = kMebibyte, plan.update = 5 * kMebibyte;
  plan.inference = 2 * kMebibyte, plan.workspaces = 64 * kMebibyte;
  plan.context = kContextBytes + kModuleBytes;
  EXPECT_EQ(plan.total(), (75 + 704) * kMebibyte);
  EXPECT_TRUE(CheckDeviceMemory(plan, {267 * kMebibyte, 300 * kMebibyte}).ok());
  EXPECT_EQ(CheckDeviceMemory(plan, {267 * kMebibyte - 1, 300 * kMebibyte}),
            absl::ResourceExhaustedError(
                "the run needs 267.0 MiB of cuda:1, which has 267.0 MiB free of 300.0 MiB: learner "
                "3.0 MiB, batch 1.0 MiB, an update up to 5.0 MiB, inference 2.0 MiB, workspaces of "
                "cuBLAS 64.0 MiB, the driver 704.0 MiB (assumed); lower train.batch_size or "
                "replay.num_unroll_steps or model.encoder_channels or model.embed_dim, or let "
                "inference.device or train.device name another device"));
  const auto advice = [&] { return std::string(CheckDeviceMemory(plan, {}).message()); };
  plan.learner = 7 * kMebibyte;
  EXPECT_THAT(advice(), HasSubstr("; lower model.embed_dim or"));
  plan.has_convolutions = true;
  EXPECT_THAT(advice(), HasSubstr("the driver 704.0 MiB (assumed), workspaces of cuDNN not known"));
  plan.activations = 6 * kMebibyte;
  EXPECT_THAT(advice(), HasSubstr("; lower env.num_collectors or"));
}

}  // namespace
}  // namespace lzero::device_memory_test
