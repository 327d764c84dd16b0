#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"

namespace lzero::deep_sea_test {
namespace {

EnvOptions Options(const EnvSettingTexts& settings) {
  EnvOptions options;
  options.settings = settings;
  return options;
}

std::unique_ptr<Env> Make(int size, bool randomize = true, int64_t mapping_seed = 42) {
  return *DeepSeaEntry().factory(Options({{"size", absl::StrCat(size)},
                                          {"randomize_actions", randomize ? "yes" : "no"},
                                          {"mapping_seed", absl::StrCat(mapping_seed)}}));
}

// [size, size] the action that moves right: numpy.random.RandomState(42).binomial(1, 0.5, [10,
// 10]), which is what bsuite draws for mapping_seed 42.
constexpr const char* kMapping42[10] = {"0111000111", "0110000100", "1000010110", "1001110010",
                                        "0001010110", "1111110000", "0010010101", "1001111000",
                                        "1100001110", "0111101000"};

// The cell of the diver, size * size when there is none.
int64_t CellOf(const TimeStep& step) {
  const auto found = std::find(step.observation.begin(), step.observation.end(), 1.0f);
  return found - step.observation.begin();
}

TEST(DeepSeaTest, StartsAtTheTopLeftWhateverTheSeed) {
  const auto env = *DeepSeaEntry().factory({});
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{1, 10, 10}));
  EXPECT_EQ(env->spec().action.num_actions, 2);
  EXPECT_TRUE(env->spec().deterministic);
  for (const uint64_t seed : {uint64_t{0}, uint64_t{7}, ~uint64_t{0}}) {
    const TimeStep first = env->Reset(seed);
    EXPECT_EQ(std::count(first.observation.begin(), first.observation.end(), 0.0f), 99);
    EXPECT_EQ(first.observation[0], 1.0f);
  }
}

TEST(DeepSeaTest, AlwaysRightPaysNinetyNineHundredths) {
  for (const int size : {2, 3, 10, 37, 100}) {
    const auto env = Make(size, /*randomize=*/false);
    TimeStep step = env->Reset(0);
    for (int t = 0; t < size; ++t) {
      ASSERT_FALSE(step.ended());
      EXPECT_EQ(CellOf(step), static_cast<int64_t>(t) * size + t);
      step = *env->Step(Action::Discrete(1));
      EXPECT_NEAR(step.reward, (t == size - 1 ? 1.0 : 0.0) - 0.01 / size, 1e-7);
    }
    EXPECT_TRUE(step.terminated);
    EXPECT_FALSE(step.truncated);
    EXPECT_EQ(CellOf(step), static_cast<int64_t>(size) * size);
    EXPECT_NEAR(step.episode_return, 0.99, 1e-6);
  }
}

TEST(DeepSeaTest, TheMappingIsTheReferences) {
  const auto env = *DeepSeaEntry().factory({});
  env->Reset(0);
  TimeStep step = env->Reset(1);
  for (int t = 0; t < 10; ++t) step = *env->Step(Action::Discrete(kMapping42[t][t] - '0'));
  EXPECT_NEAR(step.episode_return, 0.99, 1e-6);
  // Every cell as it is drawn, but for the treasure's: the diver is gone.
  std::string rows;
  for (const char* row : kMapping42) absl::StrAppend(&rows, row, "\n");
  rows[rows.size() - 2] = '$';
  EXPECT_EQ(*env->RenderText(), rows);
}

// numpy.random.RandomState(4294967295).binomial(1, 0.5, [3, 3]) and the last row of
// RandomState(7).binomial(1, 0.5, [20, 20]), which has 197 ones.
TEST(DeepSeaTest, OtherMappingSeedsAreTheReferencesToo) {
  const auto small = Make(3, true, 4294967295);
  small->Reset(0);
  EXPECT_EQ(*small->RenderText(), "o11\n101\n10$\n");
  const auto large = Make(20, true, 7);
  large->Reset(0);
  const std::string text = *large->RenderText();
  EXPECT_EQ(text.substr(19 * 21), "1001011011110101100$\n");
  // The first and the last cell are hidden; one of them is a 1 (the last, above).
  EXPECT_NEAR(std::count(text.begin(), text.end(), '1'), 196, 1);
}

// All 2^size sequences of actions, against the rules played by hand on a column number.
TEST(DeepSeaTest, EverySequencePaysWhatTheRulesSay) {
  constexpr int kSize = 8;
  const auto env = Make(kSize, true, 3);
  env->Reset(0);
  const std::string text = *env->RenderText();
  std::set<int> best;
  for (int sequence = 0; sequence < 1 << kSize; ++sequence) {
    TimeStep step = env->Reset(0);
    int column = 0;
    int num_right = 0;
    for (int row = 0; row < kSize; ++row) {
      ASSERT_EQ(CellOf(step), row * kSize + column);
      const int action = sequence >> row & 1;
      // The texts of the diver's and the treasure's cell are learned from what happens there.
      const char shown = text[row * (kSize + 1) + column];
      step = *env->Step(Action::Discrete(action));
      const bool right = shown == '0' || shown == '1' ? shown - '0' == action : step.reward != 0.0f;
      EXPECT_EQ(step.reward != 0.0f, right);
      num_right += right ? 1 : 0;
      column = std::clamp(column + (right ? 1 : -1), 0, kSize - 1);
    }
    EXPECT_TRUE(step.terminated);
    const double treasure = num_right == kSize ? 1.0 : 0.0;
    EXPECT_NEAR(step.episode_return, treasure - 0.01 * num_right / kSize, 1e-6);
    if (step.episode_return > 0.5) best.insert(sequence);
  }
  EXPECT_EQ(best.size(), 1u);
}

// The best that can still be got from the environment's state, by trying everything.
double ValueOf(Env& env) {
  const std::string here = *env.Save();
  double best = -1.0;
  for (const int action : {0, 1}) {
    EXPECT_TRUE(env.Load(here).ok());
    const TimeStep step = *env.Step(Action::Discrete(action));
    best = std::max(best, step.reward + (step.ended() ? 0.0 : ValueOf(env)));
  }
  return best;
}

TEST(DeepSeaTest, TheOptimalReturnIsNinetyNineHundredths) {
  for (const bool randomize : {false, true}) {
    for (const int size : {2, 3, 7}) {
      const auto env = Make(size, randomize);
      env->Reset(0);
      EXPECT_NEAR(ValueOf(*env), 0.99, 1e-6);
      // One move to the left, and nothing is left to gain.
      env->Reset(0);
      const int right = randomize ? kMapping42[0][0] - '0' : 1;
      EXPECT_EQ(env->Step(Action::Discrete(1 - right))->reward, 0.0f);
      EXPECT_EQ(ValueOf(*env), 0.0);
    }
  }
}

TEST(DeepSeaTest, SettingsAndCapsThatDoNotFitAreRefused) {
  EXPECT_EQ(DeepSeaEntry().factory(Options({{"size", "1"}})).status().message(),
            "size of 'deep_sea': out of range; got '1'; allowed: an integer from 2 to 100");
  EXPECT_EQ(DeepSeaEntry().factory(Options({{"randomize_actions", "maybe"}})).status().message(),
            "randomize_actions of 'deep_sea': unknown; got 'maybe'; allowed: one of yes, no");
  EXPECT_EQ(DeepSeaEntry().factory(Options({{"mapping_seed", "-1"}})).status().message(),
            "mapping_seed of 'deep_sea': out of range; got '-1'; allowed: an integer from 0 to "
            "4294967295");
  EnvOptions options = Options({{"size", "20"}});
  options.max_episode_steps = 19;
  EXPECT_EQ(
      DeepSeaEntry().factory(options).status().message(),
      "max_episode_steps of 'deep_sea' is 19; allowed: 0 or at least 20, since a game is over "
      "after at most 20 steps and is never cut short");
}

TEST(DeepSeaTest, ImpossibleStatesAreRefused) {
  const auto env = Make(5);
  env->Reset(0);
  const std::string good = *env->Save();
  std::string state = good;
  state[state.size() - 4] = 1;  // the column
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'deep_sea' is impossible: the diver is at row 0, column 1");
  state = good;
  state[state.size() - 8] = 6;
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'deep_sea' is impossible: the diver is at row 6, column 0");
  EXPECT_EQ(Make(6)->Load(good).message(),
            "saved state of 'deep_sea' is impossible: its size is 5, not 6");
}

TEST(DeepSeaTest, DrawsItself) {
  const auto env = Make(3, /*randomize=*/false);
  env->Reset(0);
  EXPECT_EQ(*env->RenderText(), "o11\n111\n11$\n");
  const Image start = *env->RenderRgb();
  EXPECT_EQ(start.width, 150);
  EXPECT_EQ(start.height, 200);
  ASSERT_TRUE(env->Step(Action::Discrete(1)).ok());
  EXPECT_EQ(*env->RenderText(), "111\n1o1\n11$\n");
  const Image next = *env->RenderRgb();
  EXPECT_EQ(next.at(75, 75), start.at(25, 25));  // the diver
  EXPECT_NE(next.at(25, 25), start.at(25, 25));
  EXPECT_NE(start.at(140, 140), start.at(110, 140));  // the treasure
  EXPECT_EQ(Make(100)->RenderRgb()->width, 200);
}

}  // namespace
}  // namespace lzero::deep_sea_test
