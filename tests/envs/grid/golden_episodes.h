// What the reference recorded, for the tests of the families: its episodes and its start maps in
// tests/golden/envs/grid. Functions without state, no thread rule.
#ifndef LZERO_TESTS_ENVS_GRID_GOLDEN_EPISODES_H_
#define LZERO_TESTS_ENVS_GRID_GOLDEN_EPISODES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "envs/register_all.h"
#include "lzero/base/files.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/grid/start_maps.h"

namespace lzero {

inline const EnvRegistry& GridRegistry() {
  static const EnvRegistry& registry = *[] {
    auto* all = new EnvRegistry;
    RegisterAllEnvs(*all);
    return all;
  }();
  return registry;
}

inline std::unique_ptr<Env> MakeGrid(const std::string& id, const EnvSettingTexts& settings = {},
                                     int64_t cap = 0) {
  EnvOptions options;
  options.max_episode_steps = cap;
  options.settings = settings;
  return *GridRegistry().Make(id, options);
}

inline constexpr int32_t kTurnLeft = 0, kTurnRight = 1, kForward = 2, kPickUp = 3, kDrop = 4,
                         kToggle = 5;

// The last of the steps.
inline absl::StatusOr<TimeStep> Play(Env& env, const std::vector<int32_t>& actions) {
  absl::StatusOr<TimeStep> last;
  for (const int32_t action : actions) last = env.Step(Action::Discrete(action));
  return last;
}

// The episodes of tests/golden/envs/grid/NAME are those of `id` with its defaults, from seed to
// end.
inline void ExpectGoldenEpisodes(const std::string& id, const std::string& name,
                                 int64_t num_steps) {
  const Trace trace = *ParseTrace(*ReadFile(JoinPath(LZ_TEST_DATA "/golden/envs/grid", name)));
  const auto env = MakeGrid(id);
  EXPECT_EQ(trace.meta.env, id);
  EXPECT_EQ(env->spec().max_episode_steps, trace.meta.max_episode_steps);
  const auto report = ReplayTrace(*env, trace, /*whole=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->differences.empty()) << report->differences[0];
  EXPECT_EQ(report->num_whole, 4);
  EXPECT_EQ(report->num_steps, num_steps);
}

// The `num_maps` recorded maps of `id`, at several sizes and seeds.
inline void ExpectGoldenMaps(const std::string& id, int num_maps) {
  const auto maps = ParseStartMaps(*ReadFile(LZ_TEST_DATA "/golden/envs/grid/minigrid_maps.txt"));
  ASSERT_TRUE(maps.ok()) << maps.status();
  int num_compared = 0;
  for (const StartMap& map : *maps) {
    if (map.env != id) continue;
    ++num_compared;
    EXPECT_EQ(*ShownMap(GridRegistry(), map), map.text) << map.name;
  }
  EXPECT_EQ(num_compared, num_maps);
}

// The message with which `id` refuses a setting.
inline std::string SettingRefusal(const std::string& id, const EnvSettingTexts& settings) {
  EnvOptions options;
  options.settings = settings;
  return std::string(GridRegistry().Make(id, options).status().message());
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_GRID_GOLDEN_EPISODES_H_
