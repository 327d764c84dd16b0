// What is said of updates that take long, and when.
#include "lzero/train/slow_step.h"

#include <chrono>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::slow_step_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(SlowStepWatchTest, TellsOnceOfUpdatesThatTakeLong) {
  testing::internal::CaptureStderr();
  {
    SlowStepWatch watch(nullptr, "train.batch_size 9", /*slow_seconds=*/0.3);
    watch.Begin(7);
    watch.CountUpdate();
    Sleep(900);
    watch.End();
    watch.Begin(5);
    Sleep(900);
    watch.End();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("slow          1 of 7 updates after a step made in [01] s "
                                    "\\(train.batch_size 9\\); Ctrl-C is obeyed after them\n"));
}

TEST(SlowStepWatchTest, TellsHowFarTheUpdatesAreWhenTheUserStops) {
  std::atomic<bool> stop{false};
  testing::internal::CaptureStderr();
  {
    SlowStepWatch watch(&stop, "", /*slow_seconds=*/5.0);
    watch.Begin(4);
    Sleep(600);
    watch.CountUpdate();
    stop = true;
    Sleep(600);
    watch.End();
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("stopping      1 of 4 updates made in 1 s, about 2 s to go\n"));
}

TEST(SlowStepWatchTest, IsSilentOtherwise) {
  std::atomic<bool> stop{true};
  testing::internal::CaptureStderr();
  {
    SlowStepWatch watch(&stop, "");
    for (int i = 0; i < 3; ++i) {
      watch.Begin(1);
      watch.CountUpdate();
      watch.End();
    }
    Sleep(500);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace lzero::slow_step_test
