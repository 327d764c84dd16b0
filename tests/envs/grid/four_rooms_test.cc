
#include <algorithm>

#include "tests/envs/grid/golden_episodes.h"

namespace lzero::four_rooms_test {
namespace {

constexpr char kId[] = "minigrid/fourrooms";

TEST(FourRoomsTest, RecordedEpisodesReplay) {
  ExpectGoldenEpisodes(kId, "minigrid_fourrooms.jsonl", 75);
}

TEST(FourRoomsTest, StartMapsAreTheReferences) { ExpectGoldenMaps(kId, 3); }

// Walls are 4 * 18 outside and 2 * 17 - 1 inside, less 4 gaps; one cell is the goal.
TEST(FourRoomsTest, HasFourGapsAndOneGoal) {
  const auto env = MakeGrid(kId);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    env->Reset(seed);
    const std::string text = *env->RenderText();
    EXPECT_EQ(std::count(text.begin(), text.end(), 'W'), 4 * 18 + 33 - 4);
    EXPECT_NE(text.find("GG"), std::string::npos);
  }
}

TEST(FourRoomsTest, HasNoSettings) {
  EXPECT_EQ(SettingRefusal(kId, {{"size", "19"}}),
            "'minigrid/fourrooms' has no setting 'size'; allowed: none");
}

TEST(FourRoomsTest, CapsAreTheReferences) {
  EXPECT_EQ(MakeGrid(kId, {})->spec().max_episode_steps, 100);
  EXPECT_EQ(MakeGrid(kId, {}, 33)->spec().max_episode_steps, 33);
}

}  // namespace
}  // namespace lzero::four_rooms_test
