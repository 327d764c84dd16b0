#include "lzero/mcts/tree/action_row.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lzero/base/lanes/one_lane.h"

namespace lzero::action_row_test {
namespace {

TEST(ActionRowTest, ExpAgreesWithTheLibraryUpToZero) {
  for (double x = -86.0; x <= 0.0; x += 0.0137) {
    const float argument = static_cast<float>(x);
    const double expected = std::exp(static_cast<double>(argument));
    EXPECT_NEAR(ExpNonPositive(argument), expected, 3e-7 * expected) << x;
  }
  EXPECT_EQ(ExpNonPositive(0.0f), 1.0f);
}

TEST(ActionRowTest, ExpOfVeryNegativeNumbersStaysPositiveAndTiny) {
  for (const float x : {-87.0f, -100.0f, -1e30f, -kInfinity}) {
    EXPECT_GT(ExpNonPositive(x), 0.0f) << x;
    EXPECT_LT(ExpNonPositive(x), 1.7e-38f) << x;
  }
}

TEST(ActionRowTest, SumsAddEveryFourthActionFirst) {
  const float row[8] = {1.0f, 1e8f, 0.0f, -1e8f, 0.5f, 1.0f, 0.25f, 2.0f};
  const float second = 1e8f + 1.0f, fourth = -1e8f + 2.0f;
  EXPECT_EQ(RowSum(OneLane(), row, 8), (1.5f + 0.25f) + (second + fourth));
  EXPECT_EQ(RowSum(OneLane(), row, 4), 1.0f);
}

TEST(ActionRowTest, MaximaPassOverWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float row[8] = {nan, -8.0f, 4.0f, 2.5f, nan, nan, -1.0f, 4.5f};
  EXPECT_EQ(RowMax(OneLane(), row, 8), 4.5f);
  EXPECT_EQ(RowMax(OneLane(), row, 4), 4.0f);
  float minima[kGroup] = {3.0f, -8.0f, 4.0f, 2.5f};
  EXPECT_EQ(JoinMinima(OneLane(), minima), -8.0f);
}

TEST(ActionRowTest, PaddingRoundsUpToWholeGroups) {
  EXPECT_EQ(PaddedActions(1), 4);
  EXPECT_EQ(PaddedActions(4), 4);
  EXPECT_EQ(PaddedActions(18), 20);
}

}  // namespace
}  // namespace lzero::action_row_test
