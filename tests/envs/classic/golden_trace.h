// The committed traces of tests/golden/envs/classic, and what every one of them asks of an
// environment. For the tests of the classic environments. One thread.
#ifndef LZERO_TESTS_ENVS_CLASSIC_GOLDEN_TRACE_H_
#define LZERO_TESTS_ENVS_CLASSIC_GOLDEN_TRACE_H_

#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/base/files.h"
#include "lzero/env/check/trace_replay.h"
#include "lzero/env/env_registry.h"
#include "tests/envs/classic/trace_differences.h"

namespace lzero {

inline Trace GoldenTrace(absl::string_view file) {
  return *ParseTrace(*ReadFile(JoinPath(LZ_TEST_DATA "/golden/envs/classic", file)));
}

// Start states are equal; one step from every recorded state gives the state to 1e-9, the
// observation to the last bit or the one beside it, the reward to 1e-6 and the flags. If `whole`,
// episodes played from their seeds agree to 1e-6 too.
inline void ExpectTheReference(const EnvRegistry::Factory& factory, absl::string_view file,
                               bool whole) {
  SCOPED_TRACE(file);
  const Trace trace = GoldenTrace(file);
  EnvOptions options;
  options.max_episode_steps = trace.meta.max_episode_steps;
  const auto env = *factory(options);
  const TraceDifferences found = MeasureDifferences(*env, trace, /*whole=*/false);
  EXPECT_EQ(found.problem, "");
  EXPECT_GT(found.num_steps, 0);
  EXPECT_EQ(found.num_unequal_starts, 0);
  EXPECT_EQ(found.num_unequal_flags, 0);
  EXPECT_LE(found.observation_ulp, 1);
  EXPECT_LE(found.state, 1e-9);
  EXPECT_LE(found.reward, 1e-6);
  for (const bool each : {false, true}) {
    if (each && !whole) continue;
    const auto report = ReplayTrace(*env, trace, each);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->differences.empty()) << report->differences[0];
    EXPECT_EQ(report->num_whole, each ? report->num_episodes : 0);
    EXPECT_EQ(report->num_steps, found.num_steps);
  }
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_CLASSIC_GOLDEN_TRACE_H_
