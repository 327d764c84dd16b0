#include "lzero/replay/batch/train_batch.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::train_batch_test {
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

template <typename T>
int64_t BytesOf(const std::vector<T>& values) {
  return static_cast<int64_t>(values.size() * sizeof(T));
}

TEST(TrainBatch, BytesAreThoseOfAllArrays) {
  for (const BatchShape& shape : {BatchShape{2, 3, 5, 7, 11}, BatchShape{13, 0, 1, 2, 3}}) {
    TrainBatch batch;
    batch.Resize(shape);
    int64_t bytes = BytesOf(batch.observations) + BytesOf(batch.actions) +
                    BytesOf(batch.context_mask) + BytesOf(batch.policies) +
                    BytesOf(batch.legal_action_masks) + BytesOf(batch.bootstrap_observations) +
                    BytesOf(batch.importance_weights) + BytesOf(batch.positions);
    for (const auto* values :
         {&batch.rewards, &batch.reward_mask, &batch.latent_mask, &batch.policy_mask,
          &batch.value_mask, &batch.partial_returns, &batch.bootstrap_scales}) {
      bytes += BytesOf(*values);
    }
    EXPECT_EQ(TrainBatchBytes(shape), bytes);
  }
  // Beyond 32 bits.
  EXPECT_GT(TrainBatchBytes({65536, 0, 10000, 2, 4}), int64_t{65536} * 10000 * 4 * 8);
}

TEST(TrainBatch, BytesTakeThePlaceOfNumbers) {
  TrainBatch batch;
  batch.Resize({2, 3, 5, 7, 11});
  const BatchShape shape = {2, 3, 5, 7, 11, ObservationType::kUint8};
  batch.Resize(shape);
  EXPECT_EQ(batch.shape(), shape);
  EXPECT_EQ(batch.observation_bytes.size(), 2u * 9 * 11);
  EXPECT_EQ(batch.bootstrap_observation_bytes.size(), 2u * 5 * 11);
  EXPECT_TRUE(batch.observations.empty());
  EXPECT_TRUE(batch.bootstrap_observations.empty());
  EXPECT_EQ(NumObservationElements(shape), 2 * 14 * 11);
  EXPECT_EQ(TrainBatchBytes({2, 3, 5, 7, 11}) - TrainBatchBytes(shape), 3 * 2 * 14 * 11);
  batch.Resize({2, 3, 5, 7, 11});
  EXPECT_TRUE(batch.observation_bytes.empty());
  EXPECT_EQ(batch.observations.size(), 2u * 9 * 11);
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
}  // namespace lzero::train_batch_test
