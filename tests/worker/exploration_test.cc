// Held random actions: their share, their durations against the zeta distribution by hand, and
// that a checkpoint in the middle of one changes nothing.
#include "lzero/worker/exploration.h"

#include <algorithm>
#include <map>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::exploration_test {
namespace {

using testing::HasSubstr;

ActionSpec Discrete(int num_actions) {
  ActionSpec spec;
  spec.num_actions = num_actions;
  return spec;
}

ActionSpec Box(int dim) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low.assign(dim, -3.0f);
  spec.high.assign(dim, 5.0f);
  return spec;
}

SearchConfig WithHold(int64_t max_hold) {
  SearchConfig config;
  config.epsilon_max_hold = max_hold;
  return config;
}

TEST(ExplorationTest, EpsilonFollowsItsSchedule) {
  SearchConfig config;
  config.epsilon = 0.8;
  config.epsilon_final = 0.2;
  EXPECT_EQ(EpsilonAt(config, 1000000), 0.8);
  config.epsilon_decay_env_steps = 100;
  EXPECT_DOUBLE_EQ(EpsilonAt(config, 0), 0.8);
  EXPECT_DOUBLE_EQ(EpsilonAt(config, 50), 0.5);
  EXPECT_DOUBLE_EQ(EpsilonAt(config, 100), 0.2);
  EXPECT_DOUBLE_EQ(EpsilonAt(config, 1000), 0.2);
}

TEST(ExplorationTest, NothingIsTakenOverWithoutEpsilon) {
  Exploration exploration(WithHold(10), Discrete(4), 7);
  exploration.Begin(0);
  Action action;
  for (int t = 0; t < 1000; ++t) EXPECT_FALSE(exploration.Act(0.0, t, {1, 1, 1, 1}, &action));
}

// One step at a time: a share epsilon of all steps, every action alike.
TEST(ExplorationTest, PlainEpsilonGreedy) {
  Exploration exploration(WithHold(1), Discrete(4), 7);
  std::vector<int> counts(4);
  int num_taken = 0;
  for (int episode = 0; episode < 200; ++episode) {
    exploration.Begin(episode);
    for (int t = 0; t < 100; ++t) {
      Action action;
      if (!exploration.Act(0.1, t, {1, 1, 1, 1}, &action)) continue;
      ++num_taken;
      ++counts[action.index];
    }
  }
  EXPECT_NEAR(num_taken, 2000, 5 * 42.4);  // sqrt(20000 * 0.1 * 0.9)
  for (const int count : counts) EXPECT_NEAR(count, num_taken / 4.0, 5 * 20.0);
}

// 1, 1/4, 1/9, 1/16 of their sum 205/144. Box actions: two runs never share one.
TEST(ExplorationTest, DurationsAreZetaDistributed) {
  Exploration exploration(WithHold(4), Box(2), 7);
  exploration.Begin(3);
  std::map<int, int> durations;
  int num_runs = 0, length = 0;
  std::vector<float> last;
  for (int t = 0; t < 20000; ++t) {
    Action action;
    ASSERT_TRUE(exploration.Act(1.0, t, {}, &action));
    if (action.values != last && t > 0) {
      ++durations[length];
      ++num_runs;
      length = 0;
    }
    last = action.values;
    ++length;
  }
  EXPECT_EQ(durations.rbegin()->first, 4);
  const double expected[] = {0, 144.0 / 205, 36.0 / 205, 16.0 / 205, 9.0 / 205};
  for (int n = 1; n <= 4; ++n) {
    EXPECT_NEAR(durations[n] / static_cast<double>(num_runs), expected[n], 0.02) << n;
  }
}

// Actions 0 and 2 of four are legal at even steps, 1 and 2 at odd ones.
TEST(ExplorationTest, OnlyLegalActionsAreDrawnAndHeld) {
  Exploration exploration(WithHold(50), Discrete(4), 7);
  std::vector<int> counts(4);
  int longest = 0;
  for (int episode = 0; episode < 200; ++episode) {
    exploration.Begin(episode);
    int run = 0;
    for (int t = 0; t < 20; ++t) {
      const bool is_even = t % 2 == 0;
      Action action;
      ASSERT_TRUE(exploration.Act(1.0, t, {is_even, !is_even, 1, 0}, &action));
      EXPECT_TRUE(action.index == 2 || action.index == (is_even ? 0 : 1)) << t;
      ++counts[action.index];
      run = action.index == 2 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  EXPECT_GT(longest, 10) << "held while legal";
  EXPECT_GT(counts[0], 500);
  EXPECT_GT(counts[1], 500);
}

TEST(ExplorationTest, BoxActionsFillTheUnitCube) {
  Exploration exploration(WithHold(1), Box(2), 7);
  exploration.Begin(0);
  double sum = 0.0, squares = 0.0;
  for (int t = 0; t < 5000; ++t) {
    Action action;
    ASSERT_TRUE(exploration.Act(1.0, t, {}, &action));
    ASSERT_EQ(action.values.size(), 2u);
    for (const float value : action.values) {
      EXPECT_GE(value, -1.0f);
      EXPECT_LE(value, 1.0f);
      sum += value;
      squares += value * value;
    }
  }
  EXPECT_NEAR(sum / 10000, 0.0, 0.03);
  EXPECT_NEAR(squares / 10000, 1.0 / 3.0, 0.02);
}

TEST(ExplorationTest, TheSameEpisodeExploresTheSameAndOthersDoNot) {
  const auto actions = [](uint64_t key, uint64_t episode) {
    Exploration exploration(WithHold(8), Discrete(1000), key);
    exploration.Begin(episode);
    std::vector<int32_t> taken;
    for (int t = 0; t < 50; ++t) {
      Action action{-1, {}};
      exploration.Act(0.5, t, std::vector<uint8_t>(1000, 1), &action);
      taken.push_back(action.index);
    }
    return taken;
  };
  EXPECT_EQ(actions(7, 3), actions(7, 3));
  EXPECT_NE(actions(7, 3), actions(7, 4));
  EXPECT_NE(actions(7, 3), actions(8, 3));
}

TEST(ExplorationTest, ACheckpointInTheMiddleOfAHeldActionGoesOn) {
  for (const ActionSpec& spec : {Discrete(9), Box(3)}) {
    for (int cut = 0; cut < 40; ++cut) {
      Exploration straight(WithHold(30), spec, 7), resumed(WithHold(30), spec, 7);
      const std::vector<uint8_t> legal(spec.num_actions, 1);
      straight.Begin(5);
      Action expected, got;
      for (int t = 0; t < cut; ++t) straight.Act(0.4, t, legal, &expected);
      std::vector<NamedArray> saved;
      straight.Export("env0.", &saved);
      resumed.Begin(5);
      ASSERT_TRUE(resumed.Import("env0.", saved).ok());
      for (int t = cut; t < cut + 40; ++t) {
        const bool acts = straight.Act(0.4, t, legal, &expected);
        ASSERT_EQ(resumed.Act(0.4, t, legal, &got), acts);
        if (!acts) continue;
        EXPECT_EQ(got.index, expected.index);
        EXPECT_EQ(got.values, expected.values);
      }
    }
  }
}

TEST(ExplorationTest, AStateOfAnotherEnvironmentIsRefused) {
  Exploration three(WithHold(30), Box(3), 7), nine(WithHold(30), Discrete(9), 7),
      two(WithHold(30), Discrete(2), 7);
  Action action;
  for (Exploration* exploration : {&three, &nine}) {
    std::vector<NamedArray> saved;
    for (int episode = 0; saved.empty(); ++episode) {
      exploration->Begin(episode);
      exploration->Act(1.0, 0, std::vector<uint8_t>(9, 1), &action);
      if (exploration == &nine && action.index < 2) continue;
      exploration->Export("env0.", &saved);
    }
    const absl::Status refused = two.Import("env0.", saved);
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(refused.message()), HasSubstr("the held action of env0."));
  }
}

}  // namespace
}  // namespace lzero::exploration_test
