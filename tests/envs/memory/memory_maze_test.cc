#include "envs/memory/memory_maze.h"

#include <algorithm>
#include <cmath>

#include "envs/entries.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/rollout.h"
#include "tests/envs/memory/maze_testing.h"

namespace lzero::memory_maze_test {
namespace {

std::unique_ptr<Env> Make(const EnvSettingTexts& settings = {}) {
  EnvOptions options;
  options.settings = settings;
  return *VisualMatchEntry().factory(options);
}

std::string Refusal(const EnvOptions& options) {
  return std::string(VisualMatchEntry().factory(options).status().message());
}

std::string Refusal(const EnvSettingTexts& settings) {
  EnvOptions options;
  options.settings = settings;
  return Refusal(options);
}

TEST(MemoryMazeTest, PhasesLastExactlyAsLongAsTheySay) {
  for (const auto& [explore, distractor, reward] :
       std::vector<std::array<int, 3>>{{1, 30, 15}, {3, 1, 1}, {2, 0, 4}, {1, 0, 1}}) {
    const auto env = Make({{"explore_frames", std::to_string(explore)},
                           {"distractor_frames", std::to_string(distractor)},
                           {"reward_frames", std::to_string(reward)}});
    RandomStream random(1);
    env->Reset(9);
    TimeStep step;
    std::vector<std::string> phases = {PhaseOf(*env)};
    while (!step.ended()) {
      step = *env->Step(Action::Discrete(static_cast<int32_t>(random.UniformInt(4))));
      EXPECT_FALSE(step.truncated);
      phases.push_back(PhaseOf(*env));
    }
    std::vector<std::string> expected;
    const auto add = [&expected](const std::string& name, int frames, int end) {
      for (int frame = 0; frame < end; ++frame) {
        expected.push_back(name + ", frame " + std::to_string(frame) + " of " +
                           std::to_string(frames));
      }
    };
    add("explore", explore, explore);
    add("distractor", distractor, distractor);
    add("reward", reward, reward + 1);  // the last frame stays
    EXPECT_EQ(phases, expected);
  }
}

TEST(MemoryMazeTest, TheHallHasApplesOnTheirPlaces) {
  const auto full = Make({{"num_apples", "22"}});
  full->Reset(0);
  Walk(*full, {{kUp, 1}});
  EXPECT_EQ(PictureOf(*full),
            "###########\n"
            "#a a a a a#\n"
            "# a a a a #\n"
            "#a a a a a#\n"
            "# a a a a #\n"
            "#a a + a a#\n"
            "###########\n");
  const std::string all = PictureOf(*full);
  const auto env = Make();
  std::vector<int> counts(all.size(), 0);
  for (uint64_t seed = 0; seed < 2200; ++seed) {
    env->Reset(seed);
    Walk(*env, {{kUp, 1}});
    const std::string hall = PictureOf(*env);
    ASSERT_EQ(std::count(hall.begin(), hall.end(), 'a'), 10);
    for (size_t i = 0; i < hall.size(); ++i) counts[i] += hall[i] == 'a' ? 1 : 0;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    // 1,000 expected on each place, standard deviation 23.
    if (all[i] == 'a') {
      EXPECT_NEAR(counts[i], 1000, 115);
    } else {
      EXPECT_EQ(counts[i], 0);
    }
  }
}

TEST(MemoryMazeTest, ApplesPayOnceAndComeBack) {
  const auto env = Make({{"num_apples", "22"},
                         {"apple_reward_min", "2.5"},
                         {"apple_reward_max", "2.5"},
                         {"apple_respawn_frames", "3"}});
  EXPECT_TRUE(env->spec().deterministic);
  env->Reset(4);
  Walk(*env, {{kUp, 1}});
  EXPECT_EQ(Walk(*env, {{kLeft, 1}}).reward, 0.0f);
  EXPECT_EQ(Walk(*env, {{kLeft, 1}}).reward, 2.5f);  // frame 2: (5, 3)
  EXPECT_EQ(Walk(*env, {{kUp, 1}}).reward, 0.0f);    // frame 3: (4, 3) is floor
  const auto place = [&env] { return PictureOf(*env)[5 * 12 + 3]; };
  EXPECT_EQ(Walk(*env, {{kUp, 1}}).reward, 2.5f);  // frame 4: (3, 3)
  EXPECT_EQ(place(), ' ');
  Walk(*env, {{kDown, 1}});  // frame 5 = 2 + 3: not yet
  EXPECT_EQ(place(), ' ');
  // Frame 6: it comes back under the player, who has it on the next frame.
  EXPECT_EQ(Walk(*env, {{kDown, 1}}).reward, 0.0f);
  EXPECT_EQ(Walk(*env, {{kDown, 1}}).reward, 2.5f);
  EXPECT_EQ(Walk(*env, {{kDown, 1}}).episode_return, 7.5);
}

TEST(MemoryMazeTest, ApplesPayUniformlyBetweenTheirBounds) {
  const auto env = Make({{"num_apples", "22"},
                         {"distractor_frames", "400"},
                         {"apple_reward_min", "1"},
                         {"apple_reward_max", "10"},
                         {"apple_respawn_frames", "1"}});
  EXPECT_FALSE(env->spec().deterministic);
  double sum = 0.0, least = 100.0, most = 0.0;
  int count = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    env->Reset(seed);
    Walk(*env, {{kUp, 1}, {kLeft, 1}});
    for (int i = 0; i < 399; ++i) {
      const float reward = Walk(*env, {{i % 2 == 0 ? kLeft : kRight, 1}}).reward;
      if (reward == 0.0f) continue;
      ++count;
      sum += reward;
      least = std::min<double>(least, reward);
      most = std::max<double>(most, reward);
      ASSERT_TRUE(reward >= 1.0f && reward < 10.0f);
    }
  }
  ASSERT_GT(count, 300);
  EXPECT_NEAR(sum / count, 5.5, 5.0 * 2.6 / std::sqrt(count));
  EXPECT_LT(least, 1.2);
  EXPECT_GT(most, 9.8);
}

TEST(MemoryMazeTest, ObservationsAreTheViewAroundThePlayer) {
  for (const bool key : {false, true}) {
    const auto env = key ? *KeyToDoorEntry().factory({}) : Make({{"explore_frames", "15"}});
    EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{3, 5, 5}));
    RandomStream random(8);
    for (uint64_t seed = 0; seed < 5; ++seed) {
      TimeStep step = env->Reset(seed);
      while (!step.ended()) {
        const std::string picture = PictureOf(*env);
        const int player = static_cast<int>(picture.find('+'));
        // A door hides the player; no other square does.
        if (picture.find('+') != picture.npos) {
          EXPECT_EQ(ViewOf(step), ViewFromPicture(picture, player / 12, player % 12));
        }
        step = *env->Step(Action::Discrete(static_cast<int32_t>(random.UniformInt(4))));
      }
    }
  }
}

TEST(MemoryMazeTest, ASavedEpisodeGoesOnWithItsRandomRewards) {
  const EnvSettingTexts settings = {
      {"apple_reward_min", "-1"}, {"apple_reward_max", "1"}, {"apple_respawn_frames", "2"}};
  const auto env = Make(settings), other = Make(settings);
  RandomStream random(2);
  env->Reset(5);
  other->Reset(6);
  TimeStep step;
  for (int t = 0; !step.ended(); ++t) {
    ASSERT_TRUE(t % 7 != 0 || other->Load(*env->Save()).ok());
    const Action action = Action::Discrete(static_cast<int32_t>(random.UniformInt(4)));
    step = *env->Step(action);
    ASSERT_EQ(TimeStepDifference(*other->Step(action), step), "");
  }
}

TEST(MemoryMazeTest, ConformsWithRandomRewardsAndNoHall) {
  for (const EnvSettingTexts& settings :
       {EnvSettingTexts{{"apple_reward_max", "10"}, {"apple_respawn_frames", "2"}},
        EnvSettingTexts{{"explore_room", "active"}, {"distractor_frames", "0"}}}) {
    const auto make = [&settings]() -> absl::StatusOr<std::unique_ptr<Env>> {
      return Make(settings);
    };
    for (const ConformanceCheck& check : RunConformance(make, {1, 300})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

TEST(MemoryMazeTest, ImpossibleStatesAreRefused) {
  const auto env = Make();
  env->Reset(3);
  const std::string before = *env->Save();
  // From the end: stream 16, 22 frames of apples, apples, player, frame, phase, 4 values.
  const size_t taken = before.size() - 16 - 22 * 8;
  const size_t apples = taken - 4, player = apples - 4, frame = player - 8, phase = frame - 1;
  const auto refusal = [&](size_t at, char value) {
    std::string state = before;
    state[at] = value;
    const std::string message(env->Load(state).message());
    EXPECT_EQ(*env->Save(), before);
    return message;
  };
  const std::string start = "saved state of 'visual_match' is impossible: ";
  EXPECT_EQ(refusal(phase, 3), start + "phase 3");
  EXPECT_EQ(refusal(frame, 1), start + "frame 1 of 1");
  EXPECT_EQ(refusal(player, 77), start + "player on square 77");
  EXPECT_EQ(refusal(player, 15), start + "the player is in a wall");
  EXPECT_EQ(refusal(apples + 3, 1), start + "11 apples");
  EXPECT_EQ(refusal(taken, 31), start + "an apple taken on frame -225");
  EXPECT_EQ(refusal(phase - 16, 3), start + "the values of the task");
}

TEST(MemoryMazeTest, BadSettingsAreRefused) {
  EXPECT_EQ(
      Refusal({{"explore_frames", "0"}}),
      "explore_frames of 'visual_match': out of range; got '0'; allowed: an integer from 1 to "
      "100000");
  EXPECT_EQ(
      Refusal({{"num_apples", "23"}}),
      "num_apples of 'visual_match': out of range; got '23'; allowed: an integer from 0 to 22");
  EXPECT_EQ(Refusal({{"apple_reward_min", "2"}}),
            "apple_reward_min of 'visual_match' is 2; allowed: at most apple_reward_max, 0");
  EXPECT_EQ(
      Refusal({{"explore_room", "activ"}}),
      "explore_room of 'visual_match': unknown; got 'activ'; allowed: one of passive, active; "
      "did you mean 'active'?");
  EXPECT_EQ(Refusal(EnvOptions{45, 0.0, 6}),
            "max_episode_steps of 'visual_match' is 45; allowed: 0 or at least 46, since a game is "
            "over after at most 46 steps and is never cut short");
  EXPECT_EQ(Refusal(EnvOptions{0, 1.0, 6}),
            "random_opening_fraction of 'visual_match' is 1; allowed: 0, random openings are for "
            "boards");
}

TEST(MemoryMazeTest, DrawsTheMapAndTheView) {
  const auto env = Make({{"num_apples", "22"}});
  env->Reset(0);
  Walk(*env, {{kUp, 1}});
  const Image image = *env->RenderRgb();
  EXPECT_EQ(image.width, 11 * 28);
  EXPECT_EQ(image.height, 7 * 28 + 26);
  const auto middle = [&image](int row, int column) {
    return image.at(column * 28 + 14, row * 28 + 14);
  };
  EXPECT_EQ(middle(5, 5), (Color{228, 148, 109}));  // the player: 898, 584, 430 of 1000
  EXPECT_EQ(middle(5, 3), (Color{140, 178, 0}));    // an apple in view
  EXPECT_EQ(middle(5, 1), (Color{84, 106, 0}));     // 6/10 of it, out of view
  EXPECT_EQ(middle(0, 0), (Color{15, 15, 15}));
}

}  // namespace
}  // namespace lzero::memory_maze_test
