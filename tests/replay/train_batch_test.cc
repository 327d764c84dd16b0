#include "lzero/replay/train_batch.h"

#include "gtest/gtest.h"

namespace lzero {
namespace {

TEST(TrainBatch, ResizeGivesEveryArrayItsShape) {
  TrainBatch batch;
  batch.Resize({2, 3, 5, 7, 11});  // N C U A obs
  EXPECT_EQ(batch.shape(), (BatchShape{2, 3, 5, 7, 11}));
  EXPECT_EQ(batch.observations.size(), 2u * 9 * 11);
  EXPECT_EQ(batch.actions.size(), 2u * 8);
  EXPECT_EQ(batch.context_mask.size(), 2u * 3);
  for (const auto* values :
       {&batch.rewards, &batch.reward_mask, &batch.latent_mask, &batch.policy_mask,
        &batch.value_mask, &batch.partial_returns, &batch.bootstrap_scales}) {
    EXPECT_EQ(values->size(), 2u * 5);
  }
  EXPECT_EQ(batch.policies.size(), 2u * 5 * 7);
  EXPECT_EQ(batch.legal_action_masks.size(), 2u * 5 * 7);
  EXPECT_EQ(batch.bootstrap_observations.size(), 2u * 5 * 11);
  EXPECT_EQ(batch.importance_weights.size(), 2u);
  EXPECT_EQ(batch.positions.size(), 2u);
}

TEST(TrainBatch, ResizeToTheSameShapeTouchesNothing) {
  TrainBatch batch;
  batch.Resize({2, 0, 1, 2, 3});
  batch.rewards[1] = 5.0f;
  const float* rewards = batch.rewards.data();
  batch.Resize({2, 0, 1, 2, 3});
  EXPECT_EQ(batch.rewards.data(), rewards);
  EXPECT_EQ(batch.rewards[1], 5.0f);
}

}  // namespace
}  // namespace lzero
