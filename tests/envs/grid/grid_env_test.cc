#include "envs/grid/grid_env.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "tests/envs/grid/golden_episodes.h"

namespace lzero::grid_env_test {
namespace {

// In the smallest empty room the goal is 2 to the right and 2 down.
const std::vector<int32_t> kShortestWay = {kForward, kForward, kTurnRight, kForward, kForward};
const EnvSettingTexts kSmallest = {{"size", "5"}};

TEST(GridEnvTest, SaysWhatItShowsAndTakes) {
  const auto env = MakeGrid("minigrid/doorkey");
  const EnvSpec& spec = env->spec();
  EXPECT_EQ(spec.observation.shape, (std::vector<int64_t>{4, 7, 7}));
  EXPECT_EQ(spec.observation.low, std::vector<float>{0.0f});
  EXPECT_EQ(spec.observation.high, std::vector<float>{10.0f});
  EXPECT_EQ(spec.action.num_actions, 7);
  EXPECT_TRUE(spec.deterministic);
  const TimeStep first = env->Reset(3);
  EXPECT_EQ(first.legal_action_mask, std::vector<uint8_t>(7, 1));
}

// The room of 3 x 3 cells from its top left corner, looking right: up in the view is right in the
// world. Walls are (2, 5, 0), the goal (8, 1, 0).
TEST(GridEnvTest, ObservationsAreMiniGridsNumbersRowsFirst) {
  const auto env = MakeGrid("minigrid/empty", kSmallest);
  const TimeStep first = env->Reset(0);
  std::vector<float> expected(4 * 49, 0.0f);
  for (int row = 0; row < 7; ++row) {
    for (int column = 0; column < 7; ++column) {
      const bool is_floor = row >= 4 && column >= 3 && column <= 5;
      const bool is_goal = row == 4 && column == 5;
      expected[row * 7 + column] = is_goal ? 8.0f : is_floor ? 1.0f : 2.0f;
      expected[49 + row * 7 + column] = is_goal ? 1.0f : is_floor ? 0.0f : 5.0f;
    }
  }
  EXPECT_EQ(first.observation, expected);
  const TimeStep turned = *Play(*env, {kTurnRight});
  EXPECT_EQ(std::count(turned.observation.begin() + 3 * 49, turned.observation.end(), 1.0f), 49);
  // Looking down, the goal is 2 ahead and 2 to the left.
  EXPECT_EQ(turned.observation[4 * 7 + 1], 8.0f);
}

// 1 - 0.9 * 5 / 100, and with a cap of its own.
TEST(GridEnvTest, SuccessPaysLessTheLaterItComes) {
  const auto env = MakeGrid("minigrid/empty", kSmallest);
  EXPECT_EQ(env->spec().max_episode_steps, 100);
  env->Reset(0);
  TimeStep last = *Play(*env, kShortestWay);
  EXPECT_EQ(last.reward, 0.955f);
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
  // The count begins anew with every episode.
  env->Reset(1);
  EXPECT_EQ(Play(*env, kShortestWay)->reward, 0.955f);
  const auto capped = MakeGrid("minigrid/empty", kSmallest, 10);
  capped->Reset(0);
  EXPECT_EQ(Play(*capped, kShortestWay)->reward, 0.55f);
}

TEST(GridEnvTest, FlagsAreIndependentAtTheCap) {
  const auto env = MakeGrid("minigrid/empty", kSmallest, 5);
  env->Reset(0);
  TimeStep last = *Play(*env, kShortestWay);
  EXPECT_FLOAT_EQ(last.reward, 0.1f);
  EXPECT_TRUE(last.terminated);
  EXPECT_TRUE(last.truncated);
  env->Reset(0);
  last = *Play(*env, {kForward, kForward, kTurnRight, kForward, kPickUp});
  EXPECT_EQ(last.reward, 0.0f);
  EXPECT_FALSE(last.terminated);
  EXPECT_TRUE(last.truncated);
}

TEST(GridEnvTest, OptionsThatDoNotFitAreRefused) {
  EnvOptions options;
  options.max_episode_steps = -1;
  EXPECT_EQ(GridRegistry().Make("minigrid/lavagap", options).status().message(),
            "max_episode_steps of 'minigrid/lavagap' is -1; allowed: 0 (its own cap) or a positive "
            "number");
  options = {};
  options.random_opening_fraction = 0.5;
  EXPECT_EQ(GridRegistry().Make("minigrid/lavagap", options).status().message(),
            "random_opening_fraction of 'minigrid/lavagap' is 0.5; allowed: 0, random openings are "
            "for boards");
}

// MiniGrid-DoorKey-5x5 at seed 0: the key is picked up, the door opened; then the state goes on in
// another environment.
TEST(GridEnvTest, SavesWhatIsCarriedAndOpened) {
  const auto env = MakeGrid("minigrid/doorkey", kSmallest);
  env->Reset(0);
  ASSERT_EQ(*env->RenderText(),
            "WGWGWGWGWG\nWG  LY  WG\nWGKYWG  WG\nWG<<WGGGWG\nWGWGWGWGWG\ncarrying: nothing\n");
  ASSERT_TRUE(Play(*env, {kTurnRight, kPickUp, kForward, kForward, kTurnRight, kToggle}).ok());
  const std::string text =
      "WGWGWGWGWG\nWG>>__  WG\nWG  WG  WG\nWG  WGGGWG\nWGWGWGWGWG\ncarrying: yellow key\n";
  EXPECT_EQ(*env->RenderText(), text);
  const auto other = MakeGrid("minigrid/doorkey", kSmallest);
  ASSERT_TRUE(other->Load(*env->Save()).ok());
  EXPECT_EQ(*other->RenderText(), text);
  const TimeStep last = *Play(*other, {kForward, kForward, kTurnRight, kForward, kForward});
  EXPECT_TRUE(last.terminated);
  EXPECT_FLOAT_EQ(last.reward, 0.9604f);  // 1 - 0.9 * 11 / 250
  EXPECT_EQ(other->RenderText()->substr(33, 11), "WG  WGVVWG\n");
}

TEST(GridEnvTest, ImpossibleStatesAreRefused) {
  const auto env = MakeGrid("minigrid/doorkey", kSmallest);
  env->Reset(0);
  ASSERT_TRUE(env->Step(Action::Discrete(kDrop)).ok());
  const std::string good = *env->Save();
  const size_t world = good.size() - (8 + 3 * 25);  // width, height, agent, carried, cells
  const auto refusal = [&](size_t position, char value) {
    std::string bad = good;
    bad[position] = value;
    return std::string(env->Load(bad).message());
  };
  EXPECT_EQ(refusal(world + 2, 7),
            "saved state of 'minigrid/doorkey' is impossible: the agent is at 7, 3, direction 2");
  // Before the bytes their count (8 bytes), before that the steps played.
  EXPECT_EQ(refusal(world - 15, 1),
            "saved state of 'minigrid/doorkey' is impossible: step 257 of "
            "250");
  EXPECT_EQ(refusal(world - 9, '\x80').substr(0, 60),
            "saved state of 'minigrid/doorkey' is impossible: step -92233");
  EXPECT_THAT(std::string(MakeGrid("minigrid/doorkey")->Load(good).message()),
              testing::HasSubstr("a world of another size than 8 x 8"));
  EXPECT_THAT(std::string(MakeGrid("minigrid/empty", kSmallest)->Load(good).message()),
              testing::HasSubstr("are not a saved state of 'minigrid/empty'"));
  EXPECT_EQ(*env->Save(), good);
}

}  // namespace
}  // namespace lzero::grid_env_test
