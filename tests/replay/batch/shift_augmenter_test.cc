#include "lzero/replay/batch/shift_augmenter.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::shift_augmenter_test {
namespace {

using ::testing::ElementsAre;

// One picture of 3 x 4, elements 0 .. 11, in both arrays of a batch of one.
TrainBatch PictureBatch(ObservationType type) {
  TrainBatch batch;
  batch.Resize({1, 0, 1, 2, 12, type});
  for (int i = 0; i < 12; ++i) {
    for (const int begin : {0, 12}) {
      if (type == ObservationType::kUint8) {
        batch.observation_bytes[begin + i] = static_cast<uint8_t>(i);
        batch.bootstrap_observation_bytes[i] = static_cast<uint8_t>(i);
      } else {
        batch.observations[begin + i] = static_cast<float>(i);
        batch.bootstrap_observations[i] = static_cast<float>(i);
      }
    }
  }
  return batch;
}

std::vector<int> Shifted(ShiftAugmenter::Offset offset) {
  TrainBatch numbers = PictureBatch(ObservationType::kFloat32);
  TrainBatch bytes = PictureBatch(ObservationType::kUint8);
  const ShiftAugmenter augmenter({1, 3, 4}, 1);
  augmenter.Apply(offset, offset, 1, 0, &numbers);
  augmenter.Apply(offset, offset, 1, 0, &bytes);
  const std::vector<int> picture(bytes.bootstrap_observation_bytes.begin(),
                                 bytes.bootstrap_observation_bytes.end());
  for (int i = 0; i < 12; ++i) {
    for (const int begin : {0, 12}) {
      EXPECT_EQ(bytes.observation_bytes[begin + i], picture[i]);
      EXPECT_EQ(numbers.observations[begin + i], static_cast<float>(picture[i]));
    }
    EXPECT_EQ(numbers.bootstrap_observations[i], static_cast<float>(picture[i]));
  }
  return picture;
}

//  0  1  2  3
//  4  5  6  7
//  8  9 10 11
TEST(ShiftAugmenter, PicturesMoveAndTheirBorderIsRepeated) {
  EXPECT_THAT(Shifted({0, 0}), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_THAT(Shifted({1, 0}), ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11));
  EXPECT_THAT(Shifted({-1, 0}), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Shifted({0, 1}), ElementsAre(1, 2, 3, 3, 5, 6, 7, 7, 9, 10, 11, 11));
  EXPECT_THAT(Shifted({0, -1}), ElementsAre(0, 0, 1, 2, 4, 4, 5, 6, 8, 8, 9, 10));
  EXPECT_THAT(Shifted({1, 1}), ElementsAre(5, 6, 7, 7, 9, 10, 11, 11, 9, 10, 11, 11));
  EXPECT_THAT(Shifted({-1, 1}), ElementsAre(1, 2, 3, 3, 1, 2, 3, 3, 5, 6, 7, 7));
}

// By the definition, with padding written out: pad, then crop.
TEST(ShiftAugmenter, IsPaddingAndCropping) {
  constexpr int kChannels = 3, kHeight = 7, kWidth = 9, kPad = 3;
  constexpr int kSize = kChannels * kHeight * kWidth;
  const ShiftAugmenter augmenter({kChannels, kHeight, kWidth}, kPad);
  TrainBatch before;
  before.Resize({2, 1, 2, 2, kSize, ObservationType::kUint8});
  RandomStream random(4);
  for (auto* bytes : {&before.observation_bytes, &before.bootstrap_observation_bytes}) {
    for (uint8_t& byte : *bytes) byte = static_cast<uint8_t>(random.UniformInt(256));
  }
  for (int rows = -kPad; rows <= kPad; ++rows) {
    for (int columns = -kPad; columns <= kPad; ++columns) {
      TrainBatch batch = before;
      augmenter.Apply({rows, columns}, {rows, columns}, 2, 1, &batch);
      for (auto bytes :
           {&TrainBatch::observation_bytes, &TrainBatch::bootstrap_observation_bytes}) {
        const std::vector<uint8_t>&from = before.*bytes, &to = batch.*bytes;
        const size_t half = from.size() / 2;
        // The other sample stays.
        ASSERT_TRUE(std::equal(from.begin(), from.begin() + static_cast<int>(half), to.begin()));
        for (size_t i = half; i < from.size(); ++i) {
          const int x = static_cast<int>(i) % kWidth;
          const int y = static_cast<int>(i) / kWidth % kHeight;
          const int plane = static_cast<int>(i) - y * kWidth - x;
          const int padded_y = y + kPad + rows, padded_x = x + kPad + columns;
          const int source_y = padded_y < kPad              ? 0
                               : padded_y >= kPad + kHeight ? kHeight - 1
                                                            : padded_y - kPad;
          const int source_x = padded_x < kPad             ? 0
                               : padded_x >= kPad + kWidth ? kWidth - 1
                                                           : padded_x - kPad;
          ASSERT_EQ(to[i], from[plane + source_y * kWidth + source_x]) << rows << " " << columns;
        }
      }
    }
  }
}

// One input, one observation that is a target alone, one to bootstrap from.
TEST(ShiftAugmenter, TargetsMoveByAnOffsetOfTheirOwn) {
  TrainBatch batch = PictureBatch(ObservationType::kFloat32);
  ShiftAugmenter({1, 3, 4}, 1).Apply({1, 0}, {0, 1}, 1, 0, &batch);
  const std::vector<float> inputs(batch.observations.begin(), batch.observations.begin() + 12);
  const std::vector<float> targets(batch.observations.begin() + 12, batch.observations.end());
  EXPECT_THAT(inputs, ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 8, 9, 10, 11));
  EXPECT_THAT(targets, ElementsAre(1, 2, 3, 3, 5, 6, 7, 7, 9, 10, 11, 11));
  EXPECT_EQ(batch.bootstrap_observations, targets);
}

TEST(ShiftAugmenter, NothingElseChanges) {
  TrainBatch batch = PictureBatch(ObservationType::kUint8);
  const TrainBatch before = batch;
  ShiftAugmenter({1, 3, 4}, 1).Apply({1, 1}, {1, 1}, 1, 0, &batch);
  EXPECT_NE(batch.observation_bytes, before.observation_bytes);
  EXPECT_EQ(batch.actions, before.actions);
  EXPECT_EQ(batch.policies, before.policies);
  EXPECT_EQ(batch.rewards, before.rewards);
  EXPECT_EQ(batch.bootstrap_scales, before.bootstrap_scales);
  EXPECT_TRUE(batch.observations.empty());
}

// Chi-square of 49 cells, 48 degrees of freedom: 84.0 is exceeded once in a thousand.
TEST(ShiftAugmenter, AllOffsetsAreDrawnAlike) {
  const ShiftAugmenter augmenter({4, 20, 20}, 3);
  RandomStream random(9);
  std::map<std::pair<int, int>, int> counts;
  constexpr int kNumDraws = 49000;
  for (int i = 0; i < kNumDraws; ++i) {
    const ShiftAugmenter::Offset offset = augmenter.Draw(random);
    ++counts[{offset.rows, offset.columns}];
  }
  ASSERT_EQ(counts.size(), 49u);
  EXPECT_EQ(counts.begin()->first, std::pair(-3, -3));
  EXPECT_EQ(counts.rbegin()->first, std::pair(3, 3));
  double sum = 0.0;
  for (const auto& [offset, count] : counts) sum += std::pow(count - 1000.0, 2) / 1000.0;
  EXPECT_LT(sum, 84.0);
}

TEST(ShiftAugmenter, RowsAreDrawnFirst) {
  const ShiftAugmenter augmenter({4, 20, 20}, 3);
  RandomStream random(10), numbers(10);
  for (int i = 0; i < 20; ++i) {
    const ShiftAugmenter::Offset offset = augmenter.Draw(random);
    EXPECT_EQ(offset.rows, static_cast<int>(numbers.UniformInt(7)) - 3);
    EXPECT_EQ(offset.columns, static_cast<int>(numbers.UniformInt(7)) - 3);
  }
}

TEST(ShiftAugmenter, WhatIsNoPictureOfThatSizeIsNamed) {
  EXPECT_EQ(ShiftProblem({1, 9, 9}, 4), "");
  EXPECT_EQ(ShiftProblem({4, 96, 96}, 16), "");
  EXPECT_EQ(ShiftProblem({1, 8, 9}, 4),
            "got 4, but the environment's observation is [1, 8, 9]; allowed: 0, or pictures "
            "[channels, height, width] with height and width above 8");
  EXPECT_NE(ShiftProblem({1, 9, 8}, 4), "");
  EXPECT_NE(ShiftProblem({4}, 1), "");
  EXPECT_NE(ShiftProblem({}, 1), "");
  EXPECT_NE(ShiftProblem({9, 9}, 1), "");
}

}  // namespace
}  // namespace lzero::shift_augmenter_test
