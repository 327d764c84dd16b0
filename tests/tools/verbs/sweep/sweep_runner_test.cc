#include "tools/verbs/sweep/sweep_runner.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/run/status_file.h"

namespace lzero::sweep_runner_test {
namespace {

TEST(SweepRunnerTest, TheTimeLeftIsSharedWorkButNoLessThanTheLongestRun) {
  EXPECT_DOUBLE_EQ(SweepSecondsLeft({}, 10.0, 4, 2), 20.0);
  EXPECT_DOUBLE_EQ(SweepSecondsLeft({4.0, 6.0}, 10.0, 3, 2), 20.0);
  EXPECT_DOUBLE_EQ(SweepSecondsLeft({4.0, 60.0}, 10.0, 1, 2), 60.0);
}

TEST(SweepRunnerTest, ARunIsFinishedWhenItsStatusSaysSo) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/sweep_runner_", getpid());
  std::filesystem::remove_all(folder);
  EXPECT_EQ(StandingOf(folder), RunStanding::kMissing);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.yaml") << "x";  // killed while it was made
  EXPECT_EQ(StandingOf(folder), RunStanding::kMissing);
  std::ofstream(folder + "/manifest.json") << "{}";
  EXPECT_EQ(StandingOf(folder), RunStanding::kBegun);
  RunStatus status;
  for (const RunState state : {RunState::kRunning, RunState::kInterrupted, RunState::kFailed}) {
    status.state = state;
    ASSERT_TRUE(WriteStatusFile(folder, status).ok());
    EXPECT_EQ(StandingOf(folder), RunStanding::kBegun);
  }
  status.state = RunState::kFinished;
  ASSERT_TRUE(WriteStatusFile(folder, status).ok());
  EXPECT_EQ(StandingOf(folder), RunStanding::kFinished);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lzero::sweep_runner_test
