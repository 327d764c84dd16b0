#include <algorithm>
#include <map>
#include <set>

#include "envs/entries.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/memory/maze_testing.h"

namespace lzero::visual_match_test {
namespace {

std::unique_ptr<Env> Make(const EnvSettingTexts& settings = {}) {
  EnvOptions options;
  options.settings = settings;
  return *VisualMatchEntry().factory(options);
}

// The colour in the first picture.
char ColourOf(const Env& env) {
  const std::string picture = PictureOf(env);
  return picture[picture.find_first_of("bce")];
}

// The first seed that shows the colour.
uint64_t SeedOf(Env& env, char colour) {
  uint64_t seed = 0;
  for (env.Reset(seed); ColourOf(env) != colour; env.Reset(seed)) ++seed;
  return seed;
}

// From the start of the reward room onto the pad of the colour.
TimeStep Choose(Env& env, char colour) {
  if (colour == 'c') return Walk(env, {{kUp, 4}});
  return Walk(env, {{kUp, 3}, {colour == 'b' ? kLeft : kRight, 3}, {kUp, 1}});
}

TEST(VisualMatchTest, RoomsAreTheReferences) {
  const auto env = Make();
  env->Reset(SeedOf(*env, 'e'));
  std::string first = PictureOf(*env);
  std::replace(first.begin(), first.end(), 'e', '#');
  EXPECT_EQ(first,
            "           \n"
            "    ###    \n"
            "    #+#    \n"
            "    ###    \n"
            "           \n"
            "           \n"
            "           \n");
  WalkTo(*env, "reward");
  EXPECT_EQ(PictureOf(*env),
            "###########\n"
            "# b  c  e #\n"
            "#         #\n"
            "#         #\n"
            "####   ####\n"
            "   # + #   \n"
            "   #####   \n");
  const auto active = Make({{"explore_room", "active"}});
  active->Reset(SeedOf(*active, 'b'));
  std::string room = PictureOf(*active);
  std::replace(room.begin(), room.end(), 'b', '#');
  std::replace(room.begin(), room.end(), '+', ' ');
  EXPECT_EQ(room,
            "  #######  \n"
            "  #     #  \n"
            "  #     #  \n"
            "  ##   ##  \n"
            "  #     #  \n"
            "  #     #  \n"
            "  #######  \n");
}

TEST(VisualMatchTest, EpisodesOfTheOriginalReplay) {
  for (const char* name : {"visual_match.jsonl", "visual_match_active.jsonl"}) {
    const Trace trace = *ParseTrace(*ReadFile(JoinPath(LZ_TEST_DATA "/golden/envs/memory", name)));
    const auto env = Make(trace.meta.settings);
    const auto report = ReplayTrace(*env, trace, /*whole=*/true);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->differences.empty()) << name << ": " << report->differences[0];
    EXPECT_EQ(report->num_steps, trace.meta.settings.count("explore_room") > 0 ? 44 : 100);
  }
}

TEST(VisualMatchTest, ColoursPlacesAndStartsAreDrawnUniformly) {
  const auto env = Make({{"explore_room", "active"}});
  std::map<char, int> colours;
  std::map<size_t, int> places, starts;
  for (uint64_t seed = 0; seed < 5200; ++seed) {
    env->Reset(seed);
    const std::string picture = PictureOf(*env);
    ++colours[ColourOf(*env)];
    ++places[picture.find_first_of("bce")];
    ++starts[picture.find('+')];
  }
  // Five standard deviations about 1,733 of 3 colours, 200 of 26 places and 520 of 10 starts.
  EXPECT_EQ(colours.size(), 3u);
  EXPECT_EQ(places.size(), 26u);
  EXPECT_EQ(starts.size(), 10u);
  for (const auto& [colour, count] : colours) EXPECT_NEAR(count, 1733, 170) << colour;
  for (const auto& [place, count] : places) EXPECT_NEAR(count, 200, 70) << place;
  for (const auto& [start, count] : starts) EXPECT_NEAR(count, 520, 109) << start;
}

// Nothing but the observations and what was seen before.
TEST(VisualMatchTest, WhoRemembersTheColourAlwaysWins) {
  RandomStream random(1);
  for (const bool active : {false, true}) {
    const auto env = Make({{"explore_room", active ? "active" : "passive"},
                           {"explore_frames", active ? "15" : "1"},
                           {"final_reward", "10"}});
    for (uint64_t seed = 0; seed < 200; ++seed) {
      std::string seen = ViewOf(env->Reset(seed));
      if (active) {
        // To the lower left corner, along the lower wall, up, and back: every wall was in view.
        for (const Direction move : {kLeft, kLeft, kLeft, kLeft, kDown, kRight, kRight, kRight, kUp,
                                     kUp, kUp, kUp, kLeft, kLeft}) {
          seen += ViewOf(Walk(*env, {{move, 1}}));
        }
      }
      const size_t found = seen.find_first_of("bce");
      ASSERT_NE(found, seen.npos);
      Walk(*env, {{kUp, 1}});
      for (int i = 0; i < 30; ++i) {
        Walk(*env, {{static_cast<Direction>(random.UniformInt(4)), 1}});
      }
      const TimeStep choice = Choose(*env, seen[found]);
      EXPECT_EQ(choice.reward, 10.0f);
      const int rest = 15 - (seen[found] == 'c' ? 4 : 7);
      EXPECT_FALSE(choice.ended());
      const TimeStep last = Walk(*env, {{kDown, rest}});
      EXPECT_TRUE(last.terminated);
      EXPECT_EQ(last.episode_return, 10.0);
    }
  }
}

TEST(VisualMatchTest, OnlyTheFirstChoiceCounts) {
  const auto env = Make();
  for (const char colour : {'b', 'c', 'e'}) {
    const uint64_t seed = SeedOf(*env, colour);
    for (const char choice : {'b', 'c', 'e'}) {
      env->Reset(seed);
      WalkTo(*env, "reward");
      EXPECT_EQ(Choose(*env, choice).reward, choice == colour ? 1.0f : 0.0f);
      EXPECT_EQ(PictureOf(*env).find_first_of("bce"), std::string::npos);
      // Along the row of pads that were there.
      const TimeStep last = Walk(*env, {{choice == 'e' ? kLeft : kRight, 6}});
      EXPECT_EQ(last.episode_return, choice == colour ? 1.0 : 0.0);
    }
  }
}

TEST(VisualMatchTest, TheColourStandsInTheWay) {
  const auto env = Make();
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto long_look = Make({{"explore_frames", "9"}});
    const std::string start = ViewOf(long_look->Reset(seed));
    for (const Direction move : {kUp, kDown, kLeft, kRight, kUp, kDown, kLeft, kRight}) {
      EXPECT_EQ(ViewOf(Walk(*long_look, {{move, 1}})), start);
    }
  }
}

// Walks through all that can be reached in the reward room, with the three colours side by side:
// they look the same everywhere, before and after a choice, and at each pad one colour of three is
// paid. So whatever a player does there without remembering is right for one colour of three.
TEST(VisualMatchTest, TheRewardRoomDoesNotTellTheColour) {
  std::vector<std::unique_ptr<Env>> envs;
  std::vector<std::string> states;
  for (const char colour : {'b', 'c', 'e'}) {
    envs.push_back(Make({{"num_apples", "22"}, {"distractor_frames", "2"}}));
    envs.back()->Reset(SeedOf(*envs.back(), colour));
    WalkTo(*envs.back(), "reward");
    states.push_back(*envs.back()->Save());
  }
  std::vector<std::vector<std::string>> open = {states};
  std::set<std::string> seen = {PictureOf(*envs[0])};
  int num_choices = 0;
  for (size_t i = 0; i < open.size(); ++i) {
    for (int32_t move = 0; move < 4; ++move) {
      std::vector<std::string> after;
      std::vector<TimeStep> steps;
      for (size_t k = 0; k < envs.size(); ++k) {
        ASSERT_TRUE(envs[k]->Load(open[i][k]).ok());
        steps.push_back(*envs[k]->Step(Action::Discrete(move)));
        after.push_back(*envs[k]->Save());
      }
      EXPECT_EQ(steps[0].observation, steps[1].observation);
      EXPECT_EQ(steps[0].observation, steps[2].observation);
      const std::string picture = PictureOf(*envs[0]);
      const bool chosen = picture.find_first_of("bce") == picture.npos;
      EXPECT_EQ(steps[0].reward + steps[1].reward + steps[2].reward, chosen ? 1.0f : 0.0f);
      if (!seen.insert(picture).second || steps[0].ended()) continue;
      num_choices += chosen ? 1 : 0;
      if (!chosen) open.push_back(after);
    }
  }
  EXPECT_EQ(open.size(), 30u);  // 33 squares, three of them pads
  EXPECT_EQ(num_choices, 3);
}

// Nor do the apples: how many of each colour's starts have one on a place does not differ.
TEST(VisualMatchTest, TheHallDoesNotTellTheColour) {
  const auto env = Make();
  std::map<char, std::vector<double>> counts;
  std::map<char, double> totals;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    env->Reset(seed);
    const char colour = ColourOf(*env);
    Walk(*env, {{kUp, 1}});
    const std::string hall = PictureOf(*env);
    counts[colour].resize(hall.size());
    for (size_t i = 0; i < hall.size(); ++i) counts[colour][i] += hall[i] == 'a' ? 1.0 : 0.0;
    totals[colour] += 1.0;
  }
  for (const auto& [colour, places] : counts) {
    const double expected = totals[colour] * 10 / 22;
    for (const double count : places) {
      if (count == 0.0) continue;  // no place for an apple
      // About 1,000 starts of a colour: standard deviation 16.
      EXPECT_NEAR(count, expected, 80.0) << colour;
    }
  }
}

}  // namespace
}  // namespace lzero::visual_match_test
