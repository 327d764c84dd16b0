#include "envs/minatar/minatar_env.h"

#include "gmock/gmock.h"
#include "tests/envs/minatar/minatar_testing.h"

namespace lzero::minatar_env_test {
namespace {

const char* const kGames[] = {"asterix", "breakout", "freeway", "seaquest", "space_invaders"};

TEST(MinAtarEnvTest, SaysWhatItShowsAndTakes) {
  const int num_channels[] = {4, 4, 7, 10, 6};
  const int num_actions[] = {5, 3, 3, 6, 4};
  for (int i = 0; i < 5; ++i) {
    SCOPED_TRACE(kGames[i]);
    const auto env = MakeMinAtar(std::string("minatar/") + kGames[i]);
    const EnvSpec& spec = env->spec();
    EXPECT_EQ(spec.observation.shape, (std::vector<int64_t>{num_channels[i], 10, 10}));
    EXPECT_EQ(spec.observation.low, std::vector<float>{0.0f});
    EXPECT_EQ(spec.observation.high, std::vector<float>{1.0f});
    EXPECT_EQ(spec.observation.type, ObservationType::kUint8);
    EXPECT_EQ(spec.action.num_actions, num_actions[i]);
    EXPECT_EQ(spec.max_episode_steps, kGames[i] == std::string("freeway") ? 0 : 10000);
    EXPECT_FALSE(spec.deterministic);
  }
}

TEST(MinAtarEnvTest, ActionsAreTheMinimalOnesOrAll) {
  EXPECT_EQ(MakeMinAtar("minatar/space_invaders")->spec().action.meaning,
            "0 stay, 1 left, 2 right, 3 fire");
  const auto all = MakeMinAtar("minatar/space_invaders", {{"full_actions", "yes"}});
  EXPECT_EQ(all->spec().action.meaning, "0 stay, 1 left, 2 up, 3 right, 4 down, 5 fire");
  // Action 2: to the right, or up, which does nothing here.
  const auto minimal = MakeMinAtar("minatar/space_invaders", {{"sticky_actions", "0"}});
  minimal->Reset(0);
  EXPECT_TRUE(minimal->Step(Action::Discrete(2)).ok());
  EXPECT_EQ(RowText(*minimal, 9), "......@...");
  all->Reset(0);
  EXPECT_TRUE(all->Step(Action::Discrete(2)).ok());
  EXPECT_EQ(RowText(*all, 9), ".....@....");
}

TEST(MinAtarEnvTest, StickyActionsRepeatTheOneBefore) {
  // None before: every step stays.
  const auto stuck =
      MakeMinAtar("minatar/asterix", {{"sticky_actions", "1"}, {"full_actions", "yes"}});
  stuck->Reset(0);
  PlayLetters(*stuck, "llllll");
  EXPECT_EQ(RowText(*stuck, 5), ".....@....");
  const auto obedient = MakeObedient("minatar/asterix");
  obedient->Reset(0);
  PlayLetters(*obedient, "ll");
  EXPECT_EQ(RowText(*obedient, 5), "...@......");
  // One first step of two stays, too.
  const auto half = MakeMinAtar("minatar/space_invaders", {{"sticky_actions", "0.5"}});
  int num_moved = 0;
  for (int seed = 0; seed < 1000; ++seed) {
    half->Reset(seed);
    num_moved += !half->Step(Action::Discrete(1))->ended() && RowText(*half, 9) == "....@.....";
  }
  EXPECT_NEAR(num_moved, 500, 60);
}

TEST(MinAtarEnvTest, StepsThatDrawNothingAreDeterministic) {
  for (const std::string game : kGames) {
    const bool has_no_chance = game == "breakout" || game == "space_invaders";
    EXPECT_EQ(MakeObedient("minatar/" + game)->spec().deterministic, has_no_chance) << game;
  }
}

TEST(MinAtarEnvTest, SeedsHave32Bits) {
  const auto env = MakeMinAtar("minatar/freeway");
  const std::vector<float> first = env->Reset(7).observation;
  EXPECT_NE(env->Reset(8).observation, first);
  EXPECT_EQ(env->Reset((uint64_t{3} << 32) + 7).observation, first);
}

TEST(MinAtarEnvTest, SettingsAreChecked) {
  const auto refusal = [](const std::string& id, EnvSettingTexts settings) {
    EnvOptions options;
    options.settings = std::move(settings);
    return std::string(MinAtarRegistry().Make(id, options).status().message());
  };
  EXPECT_EQ(
      refusal("minatar/freeway", {{"sticky_actions", "1.5"}}),
      "sticky_actions of 'minatar/freeway': out of range; got '1.5'; allowed: a number from 0 "
      "to 1");
  EXPECT_THAT(refusal("minatar/asterix", {{"full_actions", "6"}}),
              testing::HasSubstr("allowed: one of no, yes"));
  // A game that does not ramp has no such setting.
  EXPECT_EQ(refusal("minatar/seaquest", {{"difficulty_ramping", "no"}}), "");
  EXPECT_THAT(refusal("minatar/breakout", {{"difficulty_ramping", "no"}}),
              testing::HasSubstr("difficulty_ramping"));
}

// Steps after loading stick to what was done before saving, and draw on.
TEST(MinAtarEnvTest, GoesOnFromASavedState) {
  for (const char* game : kGames) {
    const std::string id = std::string("minatar/") + game;
    SCOPED_TRACE(id);
    const auto env = MakeMinAtar(id, {{"sticky_actions", "0.5"}});
    const auto other = MakeMinAtar(id, {{"sticky_actions", "0.5"}});
    env->Reset(3);
    for (int t = 0; t < 5; ++t) ASSERT_TRUE(env->Step(Action::Discrete(t % 3)).ok());
    ASSERT_TRUE(other->Load(*env->Save()).ok());
    bool has_ended = false;
    for (int t = 0; t < 300 && !has_ended; ++t) {
      const TimeStep expected = *env->Step(Action::Discrete(t % 3));
      EXPECT_EQ(other->Step(Action::Discrete(t % 3))->observation, expected.observation);
      has_ended = expected.ended();
    }
  }
}

TEST(MinAtarEnvTest, ImpossibleStatesAreRefused) {
  const auto env = MakeMinAtar("minatar/asterix");
  env->Reset(0);
  const std::string good = *env->Save();
  // The end of a state: words drawn (8 bytes), action, six numbers, eight things of four.
  const size_t action = good.size() - 4 * (1 + 6 + 8 * 4);
  const auto refusal = [&](size_t position, char value) {
    std::string bad = good;
    bad[position] = value;
    return std::string(env->Load(bad).message());
  };
  const std::string start = "saved state of 'minatar/asterix' is impossible: ";
  EXPECT_EQ(refusal(action, 6), start + "number 0 is 6, not in 0 .. 5");
  EXPECT_EQ(refusal(action + 4, 10), start + "number 1 is 10, not in 0 .. 9");
  EXPECT_EQ(refusal(action + 4 * 8, -1), start + "number 8 is 255, not in 0 .. 9");
  EXPECT_EQ(refusal(action - 4, 1), start + "4294967296 random words were drawn");
  EXPECT_EQ(*env->Save(), good);
  // A list longer than any game has.
  const auto lists = MakeMinAtar("minatar/seaquest");
  lists->Reset(0);
  std::string bad = *lists->Save();
  bad[bad.size() - 1] = 1;
  EXPECT_THAT(std::string(lists->Load(bad).message()),
              testing::HasSubstr("is 16777216, not in 0 .. 1000"));
}

TEST(MinAtarEnvTest, RecordedEpisodesThatDifferAreTold) {
  RecordedEpisode episode = (*ParseRecordedEpisodes(GoldenText("minatar_episodes.txt")))[0];
  episode.actions.resize(60);
  episode.sums.resize(2);
  EXPECT_EQ(*FirstDifference(MinAtarRegistry(), episode),
            "episode minatar/asterix 0: steps 50 .. 59 differ");
  episode.actions[30] = episode.actions[30] == '1' ? '3' : '1';
  EXPECT_EQ(*FirstDifference(MinAtarRegistry(), episode),
            "episode minatar/asterix 0: steps 25 .. 49 differ");
  EXPECT_FALSE(ParseRecordedEpisodes("episode minatar/asterix x\n").ok());
}

}  // namespace
}  // namespace lzero::minatar_env_test
