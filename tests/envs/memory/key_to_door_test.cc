#include <algorithm>
#include <map>
#include <set>

#include "envs/entries.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/memory/maze_testing.h"

namespace lzero::key_to_door_test {
namespace {

std::unique_ptr<Env> Make(const EnvSettingTexts& settings = {}) {
  EnvOptions options;
  options.settings = settings;
  return *KeyToDoorEntry().factory(options);
}

// Goes to the corner, then to the passage, from where all places of the key are in view, then to
// the key; returns the time step that took it. By observations alone, in 13 steps at most.
TimeStep TakeTheKey(Env& env) {
  const TimeStep look = Walk(env, {{kLeft, 4}, {kDown, 1}, {kRight, 2}, {kUp, 2}});
  const size_t key = ViewOf(look).find('k');
  EXPECT_NE(key, std::string::npos);
  const int rows_up = 2 - static_cast<int>(key) / 5, columns = static_cast<int>(key) % 5 - 2;
  TimeStep step = Walk(env, {{kUp, 1}});
  if (columns != 0) step = Walk(env, {{columns < 0 ? kLeft : kRight, std::abs(columns)}});
  if (rows_up == 2) step = Walk(env, {{kUp, 1}});
  return step;
}

TEST(KeyToDoorTest, RoomsAreTheReferences) {
  const auto env = Make();
  std::map<size_t, int> keys, starts;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    env->Reset(seed);
    std::string room = PictureOf(*env);
    ++keys[room.find('k')];
    ++starts[room.find('+')];
    std::replace(room.begin(), room.end(), 'k', ' ');
    std::replace(room.begin(), room.end(), '+', ' ');
    ASSERT_EQ(room,
              "  #######  \n"
              "  #     #  \n"
              "  #     #  \n"
              "  ##   ##  \n"
              "  #     #  \n"
              "  #     #  \n"
              "  #######  \n");
  }
  // Ten places each, 200 expected, standard deviation 13.4.
  EXPECT_EQ(keys.size(), 10u);
  EXPECT_EQ(starts.size(), 10u);
  EXPECT_EQ(keys.begin()->first, 1u * 12 + 3);
  EXPECT_EQ(keys.rbegin()->first, 2u * 12 + 7);
  EXPECT_EQ(starts.begin()->first, 4u * 12 + 3);
  EXPECT_EQ(starts.rbegin()->first, 5u * 12 + 7);
  for (const auto& [place, count] : keys) EXPECT_NEAR(count, 200, 67) << place;
  for (const auto& [place, count] : starts) EXPECT_NEAR(count, 200, 67) << place;
  WalkTo(*env, "reward");
  EXPECT_EQ(PictureOf(*env),
            "           \n"
            "   ##d##   \n"
            "   #   #   \n"
            "   # + #   \n"
            "   #   #   \n"
            "   #####   \n"
            "           \n");
}

TEST(KeyToDoorTest, EpisodesOfTheOriginalReplay) {
  const Trace trace = *ParseTrace(*ReadFile(LZ_TEST_DATA "/golden/envs/memory/key_to_door.jsonl"));
  const auto env = Make(trace.meta.settings);
  const auto report = ReplayTrace(*env, trace, /*whole=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->differences.empty()) << report->differences[0];
  EXPECT_EQ(report->num_steps, 78);
}

TEST(KeyToDoorTest, WhoTakesTheKeyAlwaysOpensTheDoor) {
  const auto env = Make({{"final_reward", "10"}});
  RandomStream random(4);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    env->Reset(seed);
    EXPECT_EQ(TakeTheKey(*env).reward, 0.0f);
    while (PhaseOf(*env).rfind("reward", 0) != 0) {
      Walk(*env, {{static_cast<Direction>(random.UniformInt(4)), 1}});
    }
    EXPECT_EQ(Walk(*env, {{kUp, 1}}).reward, 0.0f);
    EXPECT_EQ(Walk(*env, {{kUp, 1}}).reward, 10.0f);
    // Through the door and back: it pays once.
    const TimeStep last = Walk(*env, {{kUp, 1}, {kDown, 2}, {kUp, 1}, {kDown, 9}});
    EXPECT_TRUE(last.terminated);
    EXPECT_EQ(last.episode_return, 10.0);
  }
}

TEST(KeyToDoorTest, TheDoorStaysShutWithoutTheKey) {
  const auto env = Make();
  env->Reset(1);
  TimeStep step = Walk(*env, {{kDown, 45}});
  const std::string start = PictureOf(*env);
  EXPECT_EQ(PhaseOf(*env), "reward, frame 0 of 15");
  step = Walk(*env, {{kUp, 15}});
  EXPECT_TRUE(step.terminated);
  EXPECT_EQ(step.episode_return, 0.0);
  EXPECT_EQ(PictureOf(*env).find('+'), 2u * 12 + 5);
}

TEST(KeyToDoorTest, TakingTheKeyShowsASignForOneFrame) {
  const auto env = Make();
  for (uint64_t seed = 0; seed < 30; ++seed) {
    env->Reset(seed);
    const TimeStep taken = TakeTheKey(*env);
    const std::string picture = PictureOf(*env);
    EXPECT_EQ(picture.find('k'), picture.npos);
    EXPECT_EQ(picture.find('i'), 5u);
    EXPECT_NE(ViewOf(taken).find('i'), std::string::npos);
    EXPECT_EQ(ViewOf(Walk(*env, {{kDown, 1}})).find('i'), std::string::npos);
    EXPECT_EQ(ViewOf(Walk(*env, {{kUp, 1}})).find('i'), std::string::npos);
  }
}

// After the first room nothing in view tells who has the key, but for the opening of the door.
TEST(KeyToDoorTest, OnlyTheOpenDoorTellsOfTheKey) {
  const auto with = Make({{"num_apples", "22"}}), without = Make({{"num_apples", "22"}});
  with->Reset(2);
  TakeTheKey(*with);
  WalkTo(*with, "distractor");
  without->Reset(2);
  Walk(*without, {{kDown, 15}});
  RandomStream random(6);
  for (int t = 0; t < 30; ++t) {
    const auto move = static_cast<Direction>(random.UniformInt(4));
    EXPECT_EQ(Walk(*with, {{move, 1}}).observation, Walk(*without, {{move, 1}}).observation);
  }
  for (const Direction move : {kLeft, kDown, kRight, kUp, kUp, kLeft}) {
    EXPECT_EQ(Walk(*with, {{move, 1}}).observation, Walk(*without, {{move, 1}}).observation);
  }
  const TimeStep open = Walk(*with, {{kRight, 1}, {kUp, 1}});
  EXPECT_EQ(open.reward, 1.0f);
  EXPECT_EQ(PictureOf(*with).find('+'), std::string::npos);  // the door is drawn over the player
  EXPECT_NE(open.observation, Walk(*without, {{kRight, 1}, {kUp, 1}}).observation);
}

TEST(KeyToDoorTest, BadSettingsAndStatesAreRefused) {
  EnvOptions options;
  options.settings = {{"explore_room", "active"}};
  EXPECT_EQ(KeyToDoorEntry().factory(options).status().message(),
            "'key_to_door' has no setting 'explore_room'; allowed: explore_frames, "
            "distractor_frames, reward_frames, num_apples, apple_reward_min, apple_reward_max, "
            "apple_respawn_frames, final_reward");
  EXPECT_EQ(KeyToDoorEntry().factory({59, 0.0, 6}).status().message(),
            "max_episode_steps of 'key_to_door' is 59; allowed: 0 or at least 60, since a game is "
            "over after at most 60 steps and is never cut short");
  const auto env = Make();
  env->Reset(3);
  const std::string before = *env->Save();
  // The last of five values, before phase, frame, player, apples, 22 frames and the stream.
  std::string state = before;
  state[before.size() - 16 - 22 * 8 - 4 - 4 - 8 - 1 - 4] =
      1;  // the door has paid, the key is there
  EXPECT_EQ(env->Load(state).message(),
            "saved state of 'key_to_door' is impossible: the values of the task");
  EXPECT_EQ(*env->Save(), before);
}

}  // namespace
}  // namespace lzero::key_to_door_test
