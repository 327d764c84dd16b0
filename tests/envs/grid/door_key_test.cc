
#include "tests/envs/grid/golden_episodes.h"

namespace lzero::door_key_test {
namespace {

constexpr char kId[] = "minigrid/doorkey";

TEST(DoorKeyTest, RecordedEpisodesReplay) {
  ExpectGoldenEpisodes(kId, "minigrid_doorkey.jsonl", 96);
}

TEST(DoorKeyTest, StartMapsAreTheReferences) { ExpectGoldenMaps(kId, 12); }

TEST(DoorKeyTest, SizesAreChecked) {
  EXPECT_EQ(SettingRefusal(kId, {{"size", "4"}}),
            "size of 'minigrid/doorkey': out of range; got '4'; allowed: an integer from 5 to 25");
  EXPECT_EQ(SettingRefusal(kId, {{"size", "26"}}),
            "size of 'minigrid/doorkey': out of range; got '26'; allowed: an integer from 5 to 25");
}

TEST(DoorKeyTest, CapsAreTheReferences) {
  EXPECT_EQ(MakeGrid(kId, {})->spec().max_episode_steps, 640);
  EXPECT_EQ(MakeGrid(kId, {{"size", "5"}})->spec().max_episode_steps, 250);
  EXPECT_EQ(MakeGrid(kId, {{"size", "16"}})->spec().max_episode_steps, 2560);
  EXPECT_EQ(MakeGrid(kId, {}, 33)->spec().max_episode_steps, 33);
}

}  // namespace
}  // namespace lzero::door_key_test
