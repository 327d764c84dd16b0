#include "lzero/replay/batch/batch_writer.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::batch_writer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// An episode of 4 steps cut after the second: observations 10 .. 14, actions 0 .. 3, rewards
// 1 .. 4, policy (t, -t, 0, 0), players 0, 1, 0, 1, 0.
class BatchWriterTest : public testing::Test {
 protected:
  BatchWriterTest() {
    config_.num_unroll_steps = 3;
    config_.td_steps = 2;
    config_.discount = 0.5;
    config_.num_context_steps = 2;
    EXPECT_TRUE(first_.SetFirstObservation({10.0f}, {1, 0, 0, 0}, 0).ok());
    Append(&first_, 0);
    Append(&first_, 1);
    second_.SetFirstObservationFrom(first_);
    second_.SetContextFrom(first_);
    Append(&second_, 2);
    Append(&second_, 3);
    first_.ShrinkToFit();
    GameSegment::Link(&first_, &second_);
  }

  static void Append(GameSegment* segment, int t) {
    const std::vector<float> observation = {11.0f + t};
    const std::vector<float> policy = {1.0f * t, -1.0f * t, 0, 0};
    const std::vector<uint8_t> legal = {1, static_cast<uint8_t>(t % 2), 0, 1};
    Transition step;
    step.action = t;
    step.reward = 1.0f + t;
    step.policy = policy;
    step.root_value = 0.25f * t;
    step.observation = observation;
    step.legal_action_mask = legal;
    step.to_play = (t + 1) % 2;
    EXPECT_TRUE(segment->Append(step, t, t).ok());
  }

  void Write(const PositionIndex::Place& place) {
    BatchWriter writer(config_, shape_);
    batch_.Resize(BatchShapeFor(config_, shape_, 2));
    const TargetTerms terms = TargetTermsOf(config_, 0, 0);
    writer.Write(place, 0, terms, random_, &batch_);
    writer.Write(place, 1, terms, random_, &batch_);
    // Row 1 holds the same as row 0, but for random actions.
    const size_t half = batch_.observations.size() / 2;
    EXPECT_TRUE(std::equal(batch_.observations.begin(), batch_.observations.begin() + half,
                           batch_.observations.begin() + half));
  }

  template <typename T>
  static std::vector<T> FirstRow(const std::vector<T>& values) {
    return {values.begin(), values.begin() + values.size() / 2};
  }

  ReplayConfig config_;
  ReplayShape shape_{{1, 4}, 1, TerminalMode::kAbsorb};
  GameSegment first_{{1, 4, 2}, 3, EnvId(0), 0, 0};
  GameSegment second_{{1, 4, 2}, 2, EnvId(0), 0, 2};
  RandomStream random_{99};
  TrainBatch batch_;
};

TEST_F(BatchWriterTest, SequenceRunsOverTheCut) {
  second_.set_end(SegmentEnd::kTerminated);
  Write({&first_, 1});
  EXPECT_THAT(FirstRow(batch_.observations), ElementsAre(10, 10, 11, 12, 13, 14));
  EXPECT_THAT(FirstRow(batch_.actions), ElementsAre(0, 0, 1, 2, 3));
  EXPECT_THAT(FirstRow(batch_.context_mask), ElementsAre(0, 1));
  EXPECT_THAT(FirstRow(batch_.rewards), ElementsAre(2, 3, 4));
  EXPECT_THAT(FirstRow(batch_.policies), ElementsAre(1, -1, 0, 0, 2, -2, 0, 0, 3, -3, 0, 0));
  EXPECT_THAT(FirstRow(batch_.legal_action_masks), ElementsAre(1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 0, 1));
  EXPECT_THAT(FirstRow(batch_.policy_mask), ElementsAre(1, 1, 1));
  // 2 - 3 / 2 and observation 3 by the same player; 3 - 4 / 2 and the end; 4 and the end.
  EXPECT_THAT(FirstRow(batch_.partial_returns), ElementsAre(0.5f, 1, 4));
  EXPECT_THAT(FirstRow(batch_.bootstrap_scales), ElementsAre(0.25f, 0, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_observations), ElementsAre(13, 0, 0));
  EXPECT_EQ(random_.state().position, 0u);
}

TEST_F(BatchWriterTest, AShareOfValuesIsWhatTheSearchSaid) {
  second_.set_end(SegmentEnd::kTerminated);
  config_.root_value_share = 0.5;
  Write({&first_, 1});
  // Half of the numbers above, and half of 0.25, 0.5 and 0.75.
  EXPECT_THAT(FirstRow(batch_.partial_returns), ElementsAre(0.375f, 0.75f, 2.375f));
  EXPECT_THAT(FirstRow(batch_.bootstrap_scales), ElementsAre(0.125f, 0, 0));
}

// As a cheap search stores it.
TEST_F(BatchWriterTest, AStepWithoutAPolicyHasNoPolicyLoss) {
  second_.set_end(SegmentEnd::kTerminated);
  Write({&first_, 0});
  EXPECT_THAT(FirstRow(batch_.policy_mask), ElementsAre(0, 1, 1));
  EXPECT_THAT(FirstRow(batch_.value_mask), ElementsAre(1, 1, 1));
}

TEST_F(BatchWriterTest, ContextIsTheStepsBefore) {
  second_.set_end(SegmentEnd::kTerminated);
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.observations), ElementsAre(11, 12, 13, 14, 14, 14));
  EXPECT_THAT(FirstRow(batch_.context_mask), ElementsAre(1, 1));
}

// Not even where the segment before is evicted.
TEST_F(BatchWriterTest, ContextNeedsNoEarlierSegment) {
  second_.set_end(SegmentEnd::kTerminated);
  GameSegment::Link(nullptr, &second_);
  Write({&second_, 0});
  EXPECT_THAT(FirstRow(batch_.observations), ElementsAre(10, 11, 12, 13, 14, 14));
  EXPECT_THAT(std::vector<int32_t>(batch_.actions.begin(), batch_.actions.begin() + 4),
              ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(FirstRow(batch_.context_mask), ElementsAre(1, 1));
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.observations), ElementsAre(11, 12, 13, 14, 14, 14));
  EXPECT_THAT(FirstRow(batch_.context_mask), ElementsAre(1, 1));
}

// A segment may hold more context than a sample wants.
TEST_F(BatchWriterTest, ContextIsAsLongAsTheSampleWants) {
  second_.set_end(SegmentEnd::kTerminated);
  config_.num_context_steps = 1;
  Write({&second_, 0});
  EXPECT_THAT(FirstRow(batch_.observations), ElementsAre(11, 12, 13, 14, 14));
  EXPECT_THAT(FirstRow(batch_.context_mask), ElementsAre(1));
}

TEST_F(BatchWriterTest, AbsorbingStepsAfterATermination) {
  second_.set_end(SegmentEnd::kTerminated);
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.reward_mask), ElementsAre(1, 1, 1));
  EXPECT_THAT(FirstRow(batch_.latent_mask), ElementsAre(1, 1, 1));
  EXPECT_THAT(FirstRow(batch_.value_mask), ElementsAre(1, 1, 1));
  EXPECT_THAT(FirstRow(batch_.policy_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.rewards), ElementsAre(4, 0, 0));
  EXPECT_THAT(FirstRow(batch_.partial_returns), ElementsAre(4, 0, 0));
  EXPECT_THAT(FirstRow(batch_.legal_action_masks), ElementsAre(1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  // Actions past the end are the draws of the stream, in order.
  RandomStream same(99);
  std::vector<int32_t> actions = {1, 2, 3, 0, 0, 1, 2, 3, 0, 0};
  for (const int i : {3, 4, 8, 9}) actions[i] = static_cast<int32_t>(same.UniformInt(4));
  EXPECT_THAT(batch_.actions, ElementsAreArray(actions));
}

TEST_F(BatchWriterTest, NothingCountsPastTheEndWithMask) {
  shape_.terminal = TerminalMode::kMask;
  second_.set_end(SegmentEnd::kTerminated);
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.reward_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.latent_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.value_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.policy_mask), ElementsAre(1, 0, 0));
}

TEST_F(BatchWriterTest, NothingCountsPastATruncation) {
  second_.set_end(SegmentEnd::kTruncated);
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.reward_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.latent_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.value_mask), ElementsAre(1, 0, 0));
  EXPECT_THAT(FirstRow(batch_.policy_mask), ElementsAre(1, 0, 0));
  // The last observation, seen by the other player.
  EXPECT_THAT(FirstRow(batch_.bootstrap_scales), ElementsAre(-0.5f, 0, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_observations), ElementsAre(14, 0, 0));
}

// The first target bootstraps from observation 13, or 12; the episode is cut at 14.
TEST_F(BatchWriterTest, WhatTheTargetNetworkReadsBeforeABootstrap) {
  second_.set_end(SegmentEnd::kTruncated);
  config_.bootstrap_context_steps = 3;
  Write({&first_, 1});
  EXPECT_THAT(FirstRow(batch_.bootstrap_observations), ElementsAre(10, 11, 12, 13, 14, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_actions), ElementsAre(0, 1, 2, 3, 0, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_rows), ElementsAre(3, 4, 4));
  EXPECT_THAT(FirstRow(batch_.bootstrap_padding), ElementsAre(0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_scales), ElementsAre(0.25f, 0.25f, -0.5f));
  Write({&first_, 0});
  EXPECT_THAT(FirstRow(batch_.bootstrap_observations), ElementsAre(0, 10, 11, 12, 13, 14));
  EXPECT_THAT(FirstRow(batch_.bootstrap_actions), ElementsAre(0, 0, 1, 2, 3, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_rows), ElementsAre(3, 4, 5));
  EXPECT_THAT(FirstRow(batch_.bootstrap_padding), ElementsAre(2));
  // Nothing follows a termination, and its row is cleared.
  second_.set_end(SegmentEnd::kTerminated);
  Write({&second_, 1});
  EXPECT_THAT(FirstRow(batch_.bootstrap_observations), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(FirstRow(batch_.bootstrap_scales), ElementsAre(0, 0, 0));
}

// An earlier sample's numbers must not shine through.
TEST_F(BatchWriterTest, OverwritesWhatTheRowHeld) {
  second_.set_end(SegmentEnd::kTerminated);
  BatchWriter writer(config_, shape_);
  TrainBatch fresh;
  fresh.Resize(BatchShapeFor(config_, shape_, 1));
  batch_.Resize(BatchShapeFor(config_, shape_, 1));
  for (std::vector<float>* values :
       {&batch_.observations, &batch_.context_mask, &batch_.rewards, &batch_.reward_mask,
        &batch_.latent_mask, &batch_.policies, &batch_.policy_mask, &batch_.value_mask,
        &batch_.partial_returns, &batch_.bootstrap_scales, &batch_.bootstrap_observations}) {
    std::fill(values->begin(), values->end(), 77.0f);
  }
  std::fill(batch_.legal_action_masks.begin(), batch_.legal_action_masks.end(), 77);
  std::fill(batch_.actions.begin(), batch_.actions.end(), 77);
  RandomStream same(99);
  writer.Write({&second_, 1}, 0, TargetTermsOf(config_, 0, 0), same, &fresh);
  writer.Write({&second_, 1}, 0, TargetTermsOf(config_, 0, 0), random_, &batch_);
  EXPECT_EQ(batch_.observations, fresh.observations);
  EXPECT_EQ(batch_.actions, fresh.actions);
  EXPECT_EQ(batch_.context_mask, fresh.context_mask);
  EXPECT_EQ(batch_.rewards, fresh.rewards);
  EXPECT_EQ(batch_.reward_mask, fresh.reward_mask);
  EXPECT_EQ(batch_.latent_mask, fresh.latent_mask);
  EXPECT_EQ(batch_.policies, fresh.policies);
  EXPECT_EQ(batch_.policy_mask, fresh.policy_mask);
  EXPECT_EQ(batch_.legal_action_masks, fresh.legal_action_masks);
  EXPECT_EQ(batch_.value_mask, fresh.value_mask);
  EXPECT_EQ(batch_.partial_returns, fresh.partial_returns);
  EXPECT_EQ(batch_.bootstrap_scales, fresh.bootstrap_scales);
  EXPECT_EQ(batch_.bootstrap_observations, fresh.bootstrap_observations);
}

}  // namespace
}  // namespace lzero::batch_writer_test
