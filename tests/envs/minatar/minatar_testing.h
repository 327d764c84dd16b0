// For the tests of the MinAtar games: how they are made and played, and what the reference recorded
// in tests/golden/envs/minatar. Functions without state, no thread rule.
#ifndef LZERO_TESTS_ENVS_MINATAR_MINATAR_TESTING_H_
#define LZERO_TESTS_ENVS_MINATAR_MINATAR_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "envs/register_all.h"
#include "lzero/env/check/trace_replay.h"
#include "tests/envs/minatar/recorded_episodes.h"

namespace lzero {

inline const EnvRegistry& MinAtarRegistry() {
  static const EnvRegistry& registry = *[] {
    auto* all = new EnvRegistry;
    RegisterAllEnvs(*all);
    return all;
  }();
  return registry;
}

inline std::unique_ptr<Env> MakeMinAtar(const std::string& id, EnvSettingTexts settings = {}) {
  EnvOptions options;
  options.settings = std::move(settings);
  return *MinAtarRegistry().Make(id, options);
}

// All six actions, which do what is asked.
inline std::unique_ptr<Env> MakeObedient(const std::string& id) {
  return MakeMinAtar(id, {{"sticky_actions", "0"}, {"full_actions", "yes"}});
}

// Plays an action for each letter: '.' stay, 'l', 'u', 'r', 'd' move, 'f' fire. The last step.
inline TimeStep PlayLetters(Env& env, const std::string& letters) {
  TimeStep last;
  for (const char letter : letters) {
    const auto action = std::string(".lurdf").find(letter);
    last = *env.Step(Action::Discrete(static_cast<int32_t>(action)));
  }
  return last;
}

inline std::string RowText(const Env& env, int row) {
  return env.RenderText()->substr(row * 11, 10);
}

inline std::string GoldenText(const std::string& name) {
  return *ReadFile(JoinPath(LZ_TEST_DATA "/golden/envs/minatar", name));
}

// What the reference recorded of minatar/GAME is what it does here: a short trace, and the long
// episodes, so many steps in all.
inline void ExpectTheReference(const std::string& game, int64_t num_steps) {
  const std::string id = "minatar/" + game;
  const Trace trace = *ParseTrace(GoldenText("minatar_" + game + ".jsonl"));
  EXPECT_EQ(trace.meta.env, id);
  const auto report = ReplayTrace(*MakeMinAtar(id, trace.meta.settings), trace, /*whole=*/true);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->differences.empty()) << report->differences[0];
  EXPECT_EQ(report->num_steps, 25);

  const auto episodes = ParseRecordedEpisodes(GoldenText("minatar_episodes.txt"));
  ASSERT_TRUE(episodes.ok()) << episodes.status();
  int64_t num_played = 0;
  for (const RecordedEpisode& episode : *episodes) {
    if (episode.env != id) continue;
    EXPECT_EQ(*FirstDifference(MinAtarRegistry(), episode), "");
    num_played += static_cast<int64_t>(episode.actions.size());
  }
  EXPECT_EQ(num_played, num_steps);
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_MINATAR_MINATAR_TESTING_H_
