
#include "tests/envs/grid/golden_episodes.h"

namespace lzero::key_corridor_test {
namespace {

constexpr char kId[] = "minigrid/keycorridor";

TEST(KeyCorridorTest, RecordedEpisodesReplay) {
  ExpectGoldenEpisodes(kId, "minigrid_keycorridor.jsonl", 91);
}

TEST(KeyCorridorTest, StartMapsAreTheReferences) { ExpectGoldenMaps(kId, 18); }

// The hand that holds the key is not free for the ball.
TEST(KeyCorridorTest, PickingUpTheBallIsSuccess) {
  const auto env = MakeGrid(kId, {{"num_rows", "1"}});
  env->Reset(0);
  ASSERT_EQ(*env->RenderText(),
            "WGWGWGWGWGWGWG\nWGKYDBVVLYAPWG\nWGWGWGWGWGWGWG\ncarrying: nothing\n");
  TimeStep last = *Play(*env, {kTurnRight, kToggle, kForward, kPickUp});
  EXPECT_FALSE(last.terminated);
  EXPECT_EQ(last.reward, 0.0f);
  last = *Play(*env, {kTurnLeft, kTurnLeft, kForward, kToggle, kForward, kPickUp});
  EXPECT_FALSE(last.terminated);
  EXPECT_EQ(*env->RenderText(),
            "WGWGWGWGWGWGWG\nWG  __  >>APWG\nWGWGWGWGWGWGWG\ncarrying: yellow key\n");
  last = *Play(*env, {kTurnLeft, kTurnLeft, kDrop, kTurnLeft, kTurnLeft, kPickUp});
  EXPECT_TRUE(last.terminated);
  EXPECT_FLOAT_EQ(last.reward, 0.9466667f);  // 1 - 0.9 * 16 / 270
  EXPECT_EQ(*env->RenderText(),
            "WGWGWGWGWGWGWG\nWG  __KY>>  WG\nWGWGWGWGWGWGWG\ncarrying: purple ball\n");
}

TEST(KeyCorridorTest, SettingsAreChecked) {
  EXPECT_EQ(SettingRefusal(kId, {{"room_size", "7"}}),
            "room_size of 'minigrid/keycorridor': out of range; got '7'; allowed: an integer from "
            "3 to 6");
  EXPECT_EQ(
      SettingRefusal(kId, {{"num_rows", "0"}}),
      "num_rows of 'minigrid/keycorridor': out of range; got '0'; allowed: an integer from 1 to 3");
}

TEST(KeyCorridorTest, CapsAreTheReferences) {
  EXPECT_EQ(MakeGrid(kId, {})->spec().max_episode_steps, 270);
  EXPECT_EQ(MakeGrid(kId, {{"num_rows", "1"}})->spec().max_episode_steps, 270);
  EXPECT_EQ(MakeGrid(kId, {{"room_size", "6"}})->spec().max_episode_steps, 1080);
  EXPECT_EQ(MakeGrid(kId, {}, 33)->spec().max_episode_steps, 33);
}

}  // namespace
}  // namespace lzero::key_corridor_test
