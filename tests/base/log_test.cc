#include "lzero/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::log_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string LogPath() {
  static const TestFolder folder;
  return folder.path() + "/log.txt";
}

std::string CaptureLines(void (*say)()) {
  testing::internal::CaptureStderr();
  say();
  return testing::internal::GetCapturedStderr();
}

TEST(LogTest, LinesGoToStderrWithTheirLevel) {
  EXPECT_EQ(CaptureLines([] {
              LZ_LOG_INFO("replay holds ", 12, " steps, {} stays");
              LZ_LOG_WARNING("slow");
              LZ_LOG_ERROR("gone");
            }),
            "replay holds 12 steps, {} stays\nwarning: slow\nerror: gone\n");
}

TEST(LogTest, DetailsAreShownToWhoAsksForThem) {
  const auto say = [] { LZ_LOG_DETAIL("a buffer of ", 3); };
  EXPECT_EQ(CaptureLines(say), "");
  EXPECT_FALSE(ShowsDetails());
  ShowDetails();
  EXPECT_TRUE(ShowsDetails());
  EXPECT_EQ(CaptureLines(say), "a buffer of 3\n");
}

TEST(LogTest, TheFileKeepsTimeStampedLines) {
  const std::string path = LogPath();
  ASSERT_TRUE(RemoveTree(path).ok());
  ASSERT_TRUE(SetLogFile(path).ok());
  CaptureLines([] {
    LZ_LOG_INFO("first");
    LZ_LOG_WARNING("second");
  });
  const std::vector<std::string> lines = absl::StrSplit(*ReadFile(path), '\n');
  const std::string stamp = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z ";
  EXPECT_THAT(lines, ElementsAre(MatchesRegex(stamp + "I first"),
                                 MatchesRegex(stamp + "W warning: second"), ""));
}

TEST(LogTest, ASecondFileReplacesTheFirst) {
  const std::string first = LogPath() + "1", second = LogPath() + "2";
  ASSERT_TRUE(RemoveTree(first).ok() && RemoveTree(second).ok());
  ASSERT_TRUE(SetLogFile(first).ok() && SetLogFile(second).ok());
  CaptureLines([] { LZ_LOG_ERROR("late"); });
  EXPECT_EQ(*ReadFile(first), "");
  EXPECT_THAT(*ReadFile(second), HasSubstr("late"));
}

TEST(LogTest, AnUnwritableFileIsAnError) {
  const absl::Status status = SetLogFile("/proc/no_such_folder/log.txt");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open log file /proc/no_such_folder/log.txt: "));
}

TEST(LogTest, ThreadsMayLogWhileAFileIsSet) {
  const std::string path = LogPath();
  ASSERT_TRUE(RemoveTree(path).ok());
  ASSERT_TRUE(SetLogFile(path).ok());
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int line = 0; line < 50; ++line) LZ_LOG_INFO("line");
    });
  }
  ASSERT_TRUE(SetLogFile(path).ok());
  for (std::thread& thread : threads) thread.join();
  testing::internal::GetCapturedStderr();
  // Four times fifty lines and what follows the last line break.
  EXPECT_EQ(std::vector<std::string>(absl::StrSplit(*ReadFile(path), '\n')).size(), 201u);
}

}  // namespace
}  // namespace lzero::log_test
