// The template of a plugin, loaded as the program loads it: its rules by hand and by brute force,
// its conformance, and the config that trains it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "lzero/base/files.h"
#include "lzero/config/load.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/env_rules.h"
#include "lzero/env/plugin.h"

namespace lzero::landing_test {
namespace {

constexpr int kCap = 24;

EnvRegistry Registry() {
  EnvRegistry registry;
  const absl::Status loaded =
      LoadPlugins({absl::StrCat(LZ_TEST_PLUGINS, "/liblanding.so")}, &registry);
  EXPECT_TRUE(loaded.ok()) << loaded;
  return registry;
}

std::unique_ptr<Env> Make() { return *Registry().Make("plugin:landing", {}); }

int HeightOf(const TimeStep& step) {
  return static_cast<int>(std::lround(step.observation[0] * 20));
}
int SpeedOf(const TimeStep& step) { return static_cast<int>(std::lround(step.observation[1] * 6)); }

// Begins an episode at this height.
TimeStep StartAt(Env& env, int height) {
  for (uint64_t seed = 0;; ++seed) {
    TimeStep first = env.Reset(seed);
    if (HeightOf(first) == height) return first;
  }
}

TEST(LandingTest, Conforms) {
  const EnvRegistry registry = Registry();
  const auto make = [&] { return registry.Make("plugin:landing", {}); };
  for (const ConformanceCheck& check : RunConformance(make, {0, 500})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

TEST(LandingTest, StartsAtRestBetween10And20) {
  const auto env = Make();
  std::map<int, int> counts;
  for (uint64_t seed = 0; seed < 1100; ++seed) {
    const TimeStep first = env->Reset(seed);
    EXPECT_EQ(SpeedOf(first), 0);
    ++counts[HeightOf(first)];
  }
  EXPECT_EQ(counts.begin()->first, 10);
  EXPECT_EQ(counts.rbegin()->first, 20);
  // 100 expected of each of 11; 60 is 4.2 standard deviations away.
  for (const auto& [height, count] : counts) EXPECT_GT(count, 60) << height;
}

// From height 10: speeds 1 2 1 2 1 2 1 after each step, heights 9 7 6 4 3 1 0; three brakes.
TEST(LandingTest, ASoftLandingByHand) {
  const auto env = Make();
  StartAt(*env, 10);
  const int actions[] = {0, 0, 1, 0, 1, 0, 1};
  const int heights[] = {9, 7, 6, 4, 3, 1, 0};
  TimeStep step;
  for (int t = 0; t < 7; ++t) {
    ASSERT_FALSE(step.ended());
    step = *env->Step(Action::Discrete(actions[t]));
    EXPECT_EQ(HeightOf(step), heights[t]);
    EXPECT_EQ(SpeedOf(step), t % 2 == 0 ? 1 : 2);
  }
  EXPECT_TRUE(step.terminated);
  EXPECT_FLOAT_EQ(step.reward, 0.95f);
  EXPECT_NEAR(step.episode_return, 0.85, 1e-6);
}

TEST(LandingTest, ACrashAndAHoverByHand) {
  const auto env = Make();
  StartAt(*env, 20);
  TimeStep step;
  for (int t = 0; t < 6; ++t) step = *env->Step(Action::Discrete(0));  // 1 + 2 + ... + 6 = 21
  EXPECT_TRUE(step.terminated);
  EXPECT_EQ(step.reward, -0.25f);  // 1 - 0.25 * 5
  EXPECT_EQ(*env->RenderText(), "o height 0 speed 6\n");

  StartAt(*env, 12);
  EXPECT_EQ(*env->RenderText(), "............o height 12 speed 0\n");
  for (int t = 0; t < kCap; ++t) step = *env->Step(Action::Discrete(1));
  EXPECT_TRUE(step.truncated);
  EXPECT_FALSE(step.terminated);
  EXPECT_NEAR(step.episode_return, -0.05 * kCap, 1e-6);
}

TEST(LandingTest, AnImpossibleStateIsRefused) {
  const auto env = Make();
  env->Reset(0);
  std::string state = *env->Save();
  state[state.size() - 4] = 7;  // the speed
  EXPECT_NE(env->Load(state).message().find("speed 7"), absl::string_view::npos);
}

// The best return from a state, by trying everything; independent of the plugin.
class BestReturn {
 public:
  double From(int height, int speed, int steps) {
    if (steps == kCap) return 0.0;
    const auto [known, is_first] = known_.emplace(std::tuple(height, speed, steps), -1e9);
    if (!is_first) return known->second;
    double best = -1e9;
    for (int brake = 0; brake < 2; ++brake) {
      const int next_speed = brake == 1 ? std::max(speed - 1, 0) : speed + 1;
      const int next_height = height - next_speed;
      const double later = next_height > 0  ? From(next_height, next_speed, steps + 1)
                           : next_speed > 1 ? 1.0 - 0.25 * (next_speed - 1)
                                            : 1.0;
      best = std::max(best, later - 0.05 * brake);
    }
    known_[std::tuple(height, speed, steps)] = best;
    return best;
  }

 private:
  std::map<std::tuple<int, int, int>, double> known_;
};

// What the config calls solved is near the best that can be had, and beyond a rule of thumb.
TEST(LandingTest, TheConfigAsksForNearlyTheBest) {
  const std::string template_folder = absl::StrCat(LZ_TEST_DATA, "/../envs/template/");
  const std::string text = absl::StrReplaceAll(
      *ReadFile(template_folder + "landing.yaml.in"),
      {{"@lzero_CONFIGS@", absl::StrCat(LZ_TEST_DATA, "/../configs")},
       {"[liblanding.so]", absl::StrCat("[", LZ_TEST_PLUGINS, "/liblanding.so]")}});
  const std::string path = absl::StrCat(testing::TempDir(), "landing_test.yaml");
  ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  const auto loaded = LoadConfig(path, {}, EnvRule(EnvRegistry()));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_TRUE(RemoveTree(path).ok());
  BestReturn best;
  double sum = 0.0;
  for (int height = 10; height <= 20; ++height) sum += best.From(height, 0, 0);
  EXPECT_NEAR(sum / 11, 0.81, 0.005);
  EXPECT_GT(*loaded->config.stop.target_return, 0.9 * sum / 11);
  EXPECT_LT(*loaded->config.stop.target_return, sum / 11);
}

}  // namespace
}  // namespace lzero::landing_test
