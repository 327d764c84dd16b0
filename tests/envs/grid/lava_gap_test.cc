
#include "tests/envs/grid/golden_episodes.h"

namespace lzero::lava_gap_test {
namespace {

constexpr char kId[] = "minigrid/lavagap";

TEST(LavaGapTest, RecordedEpisodesReplay) {
  ExpectGoldenEpisodes(kId, "minigrid_lavagap.jsonl", 41);
}

TEST(LavaGapTest, StartMapsAreTheReferences) { ExpectGoldenMaps(kId, 9); }

TEST(LavaGapTest, LavaEndsTheEpisodeForNothing) {
  const auto env = MakeGrid(kId, {{"size", "5"}});
  env->Reset(0);
  ASSERT_EQ(*env->RenderText(),
            "WGWGWGWGWG\nWG>>VR  WG\nWG  VR  WG\nWG    GGWG\nWGWGWGWGWG\ncarrying: nothing\n");
  TimeStep last = *Play(*env, {kForward});
  EXPECT_TRUE(last.terminated);
  EXPECT_FALSE(last.truncated);
  EXPECT_EQ(last.reward, 0.0f);
  EXPECT_EQ(env->RenderText()->substr(11, 11), "WG  >>  WG\n");
  env->Reset(0);
  last = *Play(*env, {kTurnRight, kForward, kForward, kTurnLeft, kForward, kForward});
  EXPECT_TRUE(last.terminated);
  EXPECT_FLOAT_EQ(last.reward, 0.946f);  // 1 - 0.9 * 6 / 100
}
TEST(LavaGapTest, SizesAreChecked) {
  EXPECT_EQ(SettingRefusal(kId, {{"size", "4"}}),
            "size of 'minigrid/lavagap': out of range; got '4'; allowed: an integer from 5 to 25");
  EXPECT_EQ(SettingRefusal(kId, {{"size", "26"}}),
            "size of 'minigrid/lavagap': out of range; got '26'; allowed: an integer from 5 to 25");
}

TEST(LavaGapTest, CapsAreTheReferences) {
  EXPECT_EQ(MakeGrid(kId, {})->spec().max_episode_steps, 196);
  EXPECT_EQ(MakeGrid(kId, {{"size", "5"}})->spec().max_episode_steps, 100);
  EXPECT_EQ(MakeGrid(kId, {{"size", "6"}})->spec().max_episode_steps, 144);
  EXPECT_EQ(MakeGrid(kId, {}, 33)->spec().max_episode_steps, 33);
}

}  // namespace
}  // namespace lzero::lava_gap_test
