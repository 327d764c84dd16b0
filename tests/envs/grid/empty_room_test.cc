
#include <set>

#include "tests/envs/grid/golden_episodes.h"

namespace lzero::empty_room_test {
namespace {

constexpr char kId[] = "minigrid/empty";

TEST(EmptyRoomTest, RecordedEpisodesReplay) {
  ExpectGoldenEpisodes(kId, "minigrid_empty.jsonl", 67);
}

TEST(EmptyRoomTest, StartMapsAreTheReferences) { ExpectGoldenMaps(kId, 18); }

TEST(EmptyRoomTest, TheAgentStartsInTheCornerOrAnywhere) {
  const auto corner = MakeGrid(kId);
  const auto anywhere = MakeGrid(kId, {{"random_start", "yes"}});
  std::set<std::string> maps;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    corner->Reset(seed);
    EXPECT_EQ(corner->RenderText()->substr(17, 17), "WG>>          WG\n");
    anywhere->Reset(seed);
    maps.insert(*anywhere->RenderText());
  }
  // 35 cells and 4 directions; 200 draws give 106 different ones on average.
  EXPECT_GT(maps.size(), 80u);
  EXPECT_LT(maps.size(), 141u);
}

TEST(EmptyRoomTest, SettingsAreChecked) {
  EXPECT_EQ(SettingRefusal(kId, {{"size", "4"}}),
            "size of 'minigrid/empty': out of range; got '4'; allowed: an integer from 5 to 25");
  EXPECT_EQ(SettingRefusal(kId, {{"random_start", "maybe"}}),
            "random_start of 'minigrid/empty': unknown; got 'maybe'; allowed: one of no, yes");
}

TEST(EmptyRoomTest, CapsAreTheReferences) {
  EXPECT_EQ(MakeGrid(kId, {})->spec().max_episode_steps, 256);
  EXPECT_EQ(MakeGrid(kId, {{"size", "5"}})->spec().max_episode_steps, 100);
  EXPECT_EQ(MakeGrid(kId, {{"size", "25"}})->spec().max_episode_steps, 2500);
  EXPECT_EQ(MakeGrid(kId, {}, 33)->spec().max_episode_steps, 33);
}

}  // namespace
}  // namespace lzero::empty_room_test
