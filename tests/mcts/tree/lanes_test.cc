#include "lzero/mcts/tree/lanes.h"

#include <cmath>

#include "gtest/gtest.h"

namespace lzero::lanes_test {
namespace {

TEST(LanesTest, ExpAgreesWithTheLibraryUpToZero) {
  for (double x = -86.0; x <= 0.0; x += 0.0137) {
    const float argument = static_cast<float>(x);
    const double expected = std::exp(static_cast<double>(argument));
    EXPECT_NEAR(ExpNonPositive(Fill(argument))[2], expected, 3e-7 * expected) << x;
  }
  EXPECT_EQ(ExpNonPositive(Fill(0.0f))[0], 1.0f);
}

TEST(LanesTest, ExpOfVeryNegativeNumbersStaysPositiveAndTiny) {
  for (const float x : {-87.0f, -100.0f, -1e30f}) {
    EXPECT_GT(ExpNonPositive(Fill(x))[1], 0.0f) << x;
    EXPECT_LT(ExpNonPositive(Fill(x))[1], 1.7e-38f) << x;
  }
}

TEST(LanesTest, ReductionsPutTheResultIntoEveryLane) {
  const Float4 floats = {1.0f, -8.0f, 4.0f, 2.5f};
  const Int4 ints = {3, 9, -2, 5};
  for (int lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(SumLanes(floats)[lane], -0.5f);
    EXPECT_EQ(MaxLanes(floats)[lane], 4.0f);
    EXPECT_EQ(MinLanes(floats)[lane], -8.0f);
    EXPECT_EQ(MaxLanes(ints)[lane], 9);
    EXPECT_EQ(MinLanes(ints)[lane], -2);
  }
}

TEST(LanesTest, TwoSumsAreThoseOfSumLanes) {
  const Float4 a = {1.0f, 1e8f, -1e8f, 0.1f};
  const Float4 b = {0.3f, 0.7f, 1e-9f, -3.0f};
  const TwoSums sums = SumLanesOfTwo(a, b);
  EXPECT_EQ(sums.first, SumLanes(a)[0]);
  EXPECT_EQ(sums.second, SumLanes(b)[0]);
}

TEST(LanesTest, TransposeMakesLanesOfRows) {
  const Float4 rows[] = {{0.0f, 1.0f, 2.0f, 3.0f},
                         {10.0f, 11.0f, 12.0f, 13.0f},
                         {20.0f, 21.0f, 22.0f, 23.0f},
                         {30.0f, 31.0f, 32.0f, 33.0f}};
  const Int4 int_rows[] = {{0, 1, 2, 3}, {10, 11, 12, 13}, {20, 21, 22, 23}, {30, 31, 32, 33}};
  Float4 columns[4];
  Int4 int_columns[2];
  Transpose(rows, columns);
  Transpose(int_rows, int_columns);
  for (int row = 0; row < kLanes; ++row) {
    for (int c = 0; c < 4; ++c) EXPECT_EQ(columns[c][row], 10.0f * row + c);
    for (int c = 0; c < 2; ++c) EXPECT_EQ(int_columns[c][row], 10 * row + c);
  }
}

TEST(LanesTest, MaskBitsHaveLaneZeroLowest) {
  const Float4 lanes = {1.0f, -8.0f, 4.0f, 2.5f};
  EXPECT_EQ(MaskBits(lanes > 0.0f), 0b1101u);
  EXPECT_EQ(MaskBits(lanes < -7.0f), 0b0010u);
  EXPECT_EQ(MaskBits(lanes == 9.0f), 0u);
}

TEST(LanesTest, FirstMaximumIsTheFirstOfEquals) {
  FirstMaximum maximum;
  maximum.Add(Float4{0.0f, 1.0f, 7.0f, 3.0f}, 0);
  maximum.Add(Float4{7.0f, 7.0f, -1.0f, 7.0f}, 4);
  EXPECT_EQ(maximum.index(), 2);
  EXPECT_EQ(maximum.best(), 7.0f);
  FirstMaximum later;
  later.Add(Float4{0.0f, 0.0f, 0.0f, 5.0f}, 0);
  later.Add(Float4{5.0f, 6.0f, 6.0f, 5.0f}, 4);
  EXPECT_EQ(later.index(), 5);
}

TEST(LanesTest, PaddingRoundsUpToWholeGroups) {
  EXPECT_EQ(PaddedActions(1), 4);
  EXPECT_EQ(PaddedActions(4), 4);
  EXPECT_EQ(PaddedActions(18), 20);
}

}  // namespace
}  // namespace lzero::lanes_test
