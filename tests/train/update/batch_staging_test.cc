// Every array of a batch arrives where the losses read it.
#include "lzero/train/update/batch_staging.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/random_batch.h"

namespace lzero::batch_staging_test {
namespace {

using reference::RandomBatch;

BatchStaging MakeStaging(const TrainBatch& batch) {
  return BatchStaging::Create(batch.shape(), at::kCPU).value();
}

BatchTensors Load(BatchStaging& staging, const TrainBatch& batch) {
  EXPECT_TRUE(staging.CopyIn(batch).ok());
  return staging.Read();
}

template <typename T>
void ExpectSame(const at::Tensor& tensor, const std::vector<T>& values, const char* name) {
  const at::Tensor expected = torch::tensor(values, tensor.options()).view(tensor.sizes());
  EXPECT_TRUE(at::equal(tensor, expected)) << name;
}

TEST(BatchStagingTest, EveryArrayArrives) {
  const TrainBatch batch = RandomBatch(4, 2, 3, 15);
  BatchStaging staging = MakeStaging(batch);
  const BatchTensors tensors = Load(staging, batch);
  EXPECT_EQ(tensors.observations.sizes(), at::IntArrayRef({4, 6, reference::kObservationSize}));
  EXPECT_EQ(tensors.policies.sizes(), at::IntArrayRef({4, 3, reference::kNumActions}));
  EXPECT_EQ(tensors.bootstrap_observations.sizes(),
            at::IntArrayRef({4, 3, reference::kObservationSize}));
  ExpectSame(tensors.observations, batch.observations, "observations");
  ExpectSame(tensors.actions, batch.actions, "actions");
  ExpectSame(tensors.rewards, batch.rewards, "rewards");
  ExpectSame(tensors.reward_mask, batch.reward_mask, "reward mask");
  ExpectSame(tensors.latent_mask, batch.latent_mask, "latent mask");
  ExpectSame(tensors.policies, batch.policies, "policies");
  ExpectSame(tensors.policy_mask, batch.policy_mask, "policy mask");
  ExpectSame(tensors.value_mask, batch.value_mask, "value mask");
  ExpectSame(tensors.partial_returns, batch.partial_returns, "partial returns");
  ExpectSame(tensors.bootstrap_scales, batch.bootstrap_scales, "bootstrap scales");
  ExpectSame(tensors.bootstrap_observations, batch.bootstrap_observations, "bootstraps");
  ExpectSame(tensors.importance_weights, batch.importance_weights, "importance weights");
  for (int64_t i = 0; i < tensors.illegal.numel(); ++i) {
    EXPECT_EQ(tensors.illegal.flatten()[i].item<bool>(), batch.legal_action_masks[i] == 0);
  }
  // Padding of samples 0 .. 3 is 0, 1, 2, 0 steps of two tokens each.
  EXPECT_TRUE(at::equal(tensors.num_padding, torch::tensor({0, 2, 4, 0}, at::kLong)));
  EXPECT_EQ(tensors.num_context_steps, 2);
}

TEST(BatchStagingTest, TheNextBatchComesToTheSameAddresses) {
  const TrainBatch first = RandomBatch(4, 0, 3, 15), second = RandomBatch(4, 0, 3, 16);
  BatchStaging staging = MakeStaging(first);
  const void* const address = Load(staging, first).rewards.const_data_ptr();
  const BatchTensors tensors = Load(staging, second);
  EXPECT_EQ(tensors.rewards.const_data_ptr(), address);
  ExpectSame(tensors.rewards, second.rewards, "rewards");
  EXPECT_FALSE(tensors.num_padding.defined());  // without context there is none
}

TEST(BatchStagingTest, TheLearningRateTravelsWithTheBatch) {
  const TrainBatch batch = RandomBatch(4, 0, 3, 15);
  BatchStaging staging = MakeStaging(batch);
  for (const double rate : {0.5, 0.25}) {
    ASSERT_TRUE(staging.CopyIn(batch, rate).ok());
    EXPECT_EQ(staging.learning_rate().item<float>(), rate);
  }
}

TEST(BatchStagingTest, ObservationsThatNoValueIsTakenFromAreLeftOut) {
  TrainBatch batch = RandomBatch(4, 0, 3, 15);
  std::fill(batch.bootstrap_scales.begin(), batch.bootstrap_scales.end(), 0.0f);
  BatchStaging staging = MakeStaging(batch);
  EXPECT_FALSE(Load(staging, batch).bootstrap_observations.defined());
  batch.bootstrap_scales.back() = -0.5f;  // the opponent's value
  ExpectSame(Load(staging, batch).bootstrap_observations, batch.bootstrap_observations,
             "bootstraps");
  // Where one kind of batch is wanted they are there nevertheless.
  std::fill(batch.bootstrap_scales.begin(), batch.bootstrap_scales.end(), 0.0f);
  ASSERT_TRUE(staging.CopyIn(batch, 0.0, /*always_bootstraps=*/true).ok());
  EXPECT_TRUE(staging.bootstraps());
  ExpectSame(staging.Read().bootstrap_observations, batch.bootstrap_observations, "bootstraps");
}

TEST(BatchStagingTest, BytesStayBytesOnTheCpu) {
  TrainBatch batch;
  batch.Resize({3, 1, 2, 4, 128, ObservationType::kUint8});
  batch.bootstrap_scales[0] = 1.0f;
  BatchStaging staging = MakeStaging(batch);
  for (const int step : {1, 7}) {
    for (auto* bytes : {&batch.observation_bytes, &batch.bootstrap_observation_bytes}) {
      for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<uint8_t>(i * step);
    }
    const BatchTensors tensors = Load(staging, batch);
    EXPECT_EQ(tensors.observations.sizes(), at::IntArrayRef({3, 4, 128}));
    EXPECT_EQ(tensors.bootstrap_observations.sizes(), at::IntArrayRef({3, 2, 128}));
    for (const auto& [tensor, bytes] :
         {std::pair(tensors.observations, &batch.observation_bytes),
          std::pair(tensors.bootstrap_observations, &batch.bootstrap_observation_bytes)}) {
      ASSERT_EQ(tensor.scalar_type(), at::kByte);
      const auto* read = tensor.const_data_ptr<uint8_t>();
      EXPECT_TRUE(std::equal(bytes->begin(), bytes->end(), read));
    }
  }
}

TEST(BatchStagingDeathTest, ArraysMustHaveTheSizesTheyClaim) {
  TrainBatch batch = RandomBatch(2, 0, 3, 16);
  BatchStaging staging = MakeStaging(batch);
  batch.rewards.pop_back();
  EXPECT_DEATH(Load(staging, batch), "rewards: 5 values for 6");
  EXPECT_DEATH(Load(staging, RandomBatch(3, 0, 3, 16)), "another shape");
}

}  // namespace
}  // namespace lzero::batch_staging_test
