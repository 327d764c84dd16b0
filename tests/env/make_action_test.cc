#include "lzero/env/make_action.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace lzero::make_action_test {
namespace {

TEST(MakeAction, DiscreteKeepsTheIndex) {
  ActionSpec spec;
  spec.num_actions = 3;
  Action action;
  MakeAction(spec, 2, {}, &action);
  EXPECT_EQ(action.index, 2);
  EXPECT_TRUE(action.values.empty());
}

TEST(MakeAction, BoxSpreadsOverTheBounds) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low = {-2.0f, 10.0f};
  spec.high = {2.0f, 20.0f};
  Action action;
  MakeAction(spec, 0, {0.5f, -0.2f}, &action);
  EXPECT_FLOAT_EQ(action.values[0], 1.0f);
  EXPECT_FLOAT_EQ(action.values[1], 14.0f);
  MakeAction(spec, 0, {-1.0f, 1.0f}, &action);
  EXPECT_EQ(action.values[0], -2.0f);
  EXPECT_EQ(action.values[1], 20.0f);
}

TEST(MakeAction, NeverLeavesBoundsThatRoundBadly) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low = {-0.1f, -std::numeric_limits<float>::max()};
  spec.high = {0.7f, std::numeric_limits<float>::max()};
  Action action;
  for (float value = -1.0f; value <= 1.0f; value += 0.001f) {
    MakeAction(spec, 0, {value, value}, &action);
    EXPECT_GE(action.values[0], spec.low[0]);
    EXPECT_LE(action.values[0], spec.high[0]);
    EXPECT_TRUE(std::isfinite(action.values[1]));
  }
}

}  // namespace
}  // namespace lzero::make_action_test
