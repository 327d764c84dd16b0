#include "tools/verbs/sweep/run_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"

namespace lzero::run_process_test {
namespace {

using ::testing::HasSubstr;

class RunProcessTest : public testing::Test {
 protected:
  RunProcessTest() { std::filesystem::remove(log_); }
  ~RunProcessTest() override { std::filesystem::remove(log_); }

  RunProcess Start(const std::string& script) const {
    return RunProcess::Start("/bin/sh", {"sh", "-c", script}, log_).value();
  }
  static int Wait(RunProcess* process) {
    while (true) {
      const auto code = process->Poll();
      if (code.has_value()) return *code;
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  void WaitForLog(const std::string& part) const {
    for (int i = 0; i < 2000 && !absl::StrContains(ReadFile(log_).value_or(""), part); ++i) {
      absl::SleepFor(absl::Milliseconds(5));
    }
    ASSERT_THAT(ReadFile(log_).value_or(""), HasSubstr(part));
  }

  const std::string log_ = absl::StrCat(testing::TempDir(), "/run_process_", getpid(), ".log");
};

TEST_F(RunProcessTest, TellsExitCodesAndAppendsAllOutputToTheLog) {
  RunProcess first = Start("echo out; echo err >&2; read line || echo no input; exit 3");
  EXPECT_EQ(Wait(&first), 3);
  RunProcess second = Start("echo again; kill -9 $$");
  EXPECT_EQ(Wait(&second), 128 + 9);
  EXPECT_EQ(*ReadFile(log_), "out\nerr\nno input\nagain\n");
  RunProcess none = RunProcess::Start("/no/such/program", {"x"}, log_).value();
  EXPECT_EQ(Wait(&none), 127);
  WaitForLog("error: the program cannot be started");
  EXPECT_FALSE(RunProcess::Start("/bin/sh", {"sh"}, "/no/such/folder/log").ok());
}

TEST_F(RunProcessTest, HasAGroupOfItsOwnAndIsInterruptedOnRequest) {
  RunProcess process =
      Start("trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.01; done");
  WaitForLog("ready");
  EXPECT_EQ(getpgid(process.pid()), process.pid());
  EXPECT_FALSE(process.Poll().has_value());
  process.Interrupt();
  EXPECT_EQ(Wait(&process), 5);
}

TEST_F(RunProcessTest, IsGoneWithItsObjectAndToldWhenItsParentDies) {
  pid_t pid = 0;
  {
    const RunProcess process = Start("echo ready; sleep 100");
    WaitForLog("ready");
    pid = process.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
  // A parent that is killed.
  const pid_t parent = fork();
  if (parent == 0) {
    const RunProcess process =
        Start("trap 'echo told; exit 0' TERM; echo child $$; while :; do sleep 0.01; done");
    pause();
  }
  WaitForLog("child");
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  WaitForLog("told");
}

}  // namespace
}  // namespace lzero::run_process_test
