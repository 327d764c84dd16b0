#include "lzero/replay/batch/symmetry_augmenter.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace lzero::symmetry_augmenter_test {
namespace {

constexpr BatchShape kShape = {3, 2, 4, 5, 6};  // samples, context, unroll, actions, observation

Symmetry RandomSymmetry(std::mt19937& random) {
  Symmetry symmetry;
  for (int i = 0; i < kShape.observation_size; ++i) symmetry.observation_source.push_back(i);
  for (int i = 0; i < kShape.num_actions; ++i) symmetry.action_image.push_back(i);
  std::shuffle(symmetry.observation_source.begin(), symmetry.observation_source.end(), random);
  std::shuffle(symmetry.action_image.begin(), symmetry.action_image.end(), random);
  return symmetry;
}

TrainBatch RandomBatch(std::mt19937& random) {
  TrainBatch batch;
  batch.Resize(kShape);
  const auto fill = [&](std::vector<float>& array) {
    for (float& value : array) value = std::uniform_real_distribution<float>(0, 1)(random);
  };
  for (std::vector<float>* array :
       {&batch.observations, &batch.context_mask, &batch.rewards, &batch.reward_mask,
        &batch.latent_mask, &batch.policies, &batch.policy_mask, &batch.value_mask,
        &batch.partial_returns, &batch.bootstrap_scales, &batch.bootstrap_observations}) {
    fill(*array);
  }
  for (int32_t& action : batch.actions) action = static_cast<int32_t>(random() % 5);
  for (uint8_t& legal : batch.legal_action_masks) legal = random() % 2;
  return batch;
}

// Every element of the row by its definition; other rows and all that has no place on the board
// stay as they are.
TEST(SymmetryAugmenterTest, OneRowBecomesItsImageAndNothingElseChanges) {
  std::mt19937 random(1);
  const std::vector<Symmetry> symmetries = {RandomSymmetry(random), RandomSymmetry(random)};
  SymmetryAugmenter augmenter(symmetries);
  const TrainBatch before = RandomBatch(random);
  for (int which = 0; which < 2; ++which) {
    TrainBatch after = before;
    augmenter.Apply(which, 1, &after);
    const Symmetry& g = symmetries[which];
    TrainBatch expected = before;
    for (int step = 0; step < 7; ++step) {  // C + U + 1
      for (int i = 0; i < 6; ++i) {
        expected.observations[(7 + step) * 6 + i] =
            before.observations[(7 + step) * 6 + g.observation_source[i]];
      }
    }
    for (int step = 0; step < 6; ++step) {  // C + U
      expected.actions[6 + step] = g.action_image[before.actions[6 + step]];
    }
    for (int step = 0; step < 4; ++step) {  // U
      for (int i = 0; i < 6; ++i) {
        expected.bootstrap_observations[(4 + step) * 6 + i] =
            before.bootstrap_observations[(4 + step) * 6 + g.observation_source[i]];
      }
      for (int a = 0; a < 5; ++a) {
        const int from = (4 + step) * 5 + a;
        const int to = (4 + step) * 5 + g.action_image[a];
        expected.policies[to] = before.policies[from];
        expected.legal_action_masks[to] = before.legal_action_masks[from];
      }
    }
    EXPECT_EQ(after.observations, expected.observations);
    EXPECT_EQ(after.actions, expected.actions);
    EXPECT_EQ(after.policies, expected.policies);
    EXPECT_EQ(after.legal_action_masks, expected.legal_action_masks);
    EXPECT_EQ(after.bootstrap_observations, expected.bootstrap_observations);
    EXPECT_EQ(after.context_mask, before.context_mask);
    EXPECT_EQ(after.rewards, before.rewards);
    EXPECT_EQ(after.reward_mask, before.reward_mask);
    EXPECT_EQ(after.latent_mask, before.latent_mask);
    EXPECT_EQ(after.policy_mask, before.policy_mask);
    EXPECT_EQ(after.value_mask, before.value_mask);
    EXPECT_EQ(after.partial_returns, before.partial_returns);
    EXPECT_EQ(after.bootstrap_scales, before.bootstrap_scales);
  }
}

TEST(SymmetryAugmenterTest, ChanceOutcomesAreMappedWhereThereAreSome) {
  const Symmetry turn = {{0}, {0}, {2, 0, 1}};
  TrainBatch batch;
  BatchShape shape = {2, 0, 4, 1, 1};
  shape.has_chance = true;
  batch.Resize(shape);
  batch.chance_outcomes = {0, 1, 2, -1, 0, 1, 2, -1};
  SymmetryAugmenter({turn}).Apply(0, 1, &batch);
  EXPECT_EQ(batch.chance_outcomes, (std::vector<int32_t>{0, 1, 2, -1, 2, 0, 1, -1}));
}

TEST(SymmetryAugmenterTest, BytesAreMappedAsNumbers) {
  const Symmetry turn = {{1, 2, 0}, {0}};
  TrainBatch batch;
  batch.Resize({2, 0, 1, 1, 3, ObservationType::kUint8});
  batch.observation_bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  batch.bootstrap_observation_bytes = {13, 14, 15, 16, 17, 18};
  SymmetryAugmenter({turn}).Apply(0, 1, &batch);
  EXPECT_EQ(batch.observation_bytes, (std::vector<uint8_t>{1, 2, 3, 4, 5, 6, 8, 9, 7, 11, 12, 10}));
  EXPECT_EQ(batch.bootstrap_observation_bytes, (std::vector<uint8_t>{13, 14, 15, 17, 18, 16}));
}

}  // namespace
}  // namespace lzero::symmetry_augmenter_test
