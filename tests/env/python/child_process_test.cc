#include "lzero/env/python/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <thread>

#include "lzero/base/stopwatch.h"
#include "tests/env/python/open_things.h"

namespace lzero::child_process_test {
namespace {

std::unique_ptr<ChildProcess> Start(const std::string& script,
                                    absl::Span<const int> descriptors = {}) {
  auto child = ChildProcess::Start({"sh", "-c", script}, descriptors);
  EXPECT_TRUE(child.ok()) << child.status();
  return std::move(child).value();
}

std::string EndOf(const std::string& script) {
  const auto child = Start(script);
  EXPECT_TRUE(child->WaitForEnd(20.0));
  return child->end_text();
}

std::string OutputOf(const std::string& script, size_t max_bytes = 1000) {
  const auto child = Start(script);
  EXPECT_TRUE(child->WaitForEnd(20.0));
  return child->OutputTail(max_bytes);
}

bool IsReadable(int descriptor) {
  pollfd ready = {descriptor, POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

// Waits until `child` has written `text`.
bool Writes(const ChildProcess& child, const std::string& text) {
  for (const double end = MonotonicSeconds() + 20.0; MonotonicSeconds() < end;) {
    if (child.OutputTail(10000).find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

bool EndsSoon(pid_t pid) {
  for (const double end = MonotonicSeconds() + 20.0; MonotonicSeconds() < end;) {
    if (!IsRunning(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

TEST(ChildProcessTest, TellsHowItEnded) {
  EXPECT_EQ(EndOf("exit 0"), "exited with status 0");
  EXPECT_EQ(EndOf("exit 3"), "exited with status 3");
  EXPECT_EQ(EndOf("kill -9 $$"), "was killed by signal 9 (Killed)");
  EXPECT_EQ(EndOf("kill -TERM $$"), "was killed by signal 15 (Terminated)");
  EXPECT_EQ(EndOf("ulimit -c 0; kill -SEGV $$"), "was killed by signal 11 (Segmentation fault)");
}

TEST(ChildProcessTest, SaysThatAProgramCannotBeStarted) {
  const int before = NumDescriptors();
  EXPECT_EQ(ChildProcess::Start({"/nowhere/python3"}, {}).status(),
            absl::NotFoundError("cannot start '/nowhere/python3': No such file or directory"));
  EXPECT_EQ(ChildProcess::Start({"no_such_program_of_lzero"}, {}).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(ChildProcess::Start({"/dev/null"}, {}).status(),
            absl::InternalError("cannot start '/dev/null': Permission denied"));
  EXPECT_EQ(NumDescriptors(), before);
  EXPECT_TRUE(Children().empty());
}

TEST(ChildProcessTest, LooksItsProgramUpInThePath) {
  EXPECT_EQ(OutputOf("echo $0 $1"), "sh\n");
  auto child = ChildProcess::Start({"/bin/echo", "two words", "", "*"}, {});
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE((*child)->WaitForEnd(20.0));
  EXPECT_EQ((*child)->OutputTail(100), "two words  *\n") << "arguments as they are, no shell";
}

TEST(ChildProcessTest, KeepsWhatItWrites) {
  EXPECT_EQ(OutputOf("echo out; echo err >&2; printf end"), "out\nerr\nend");
  EXPECT_EQ(OutputOf("true"), "");
}

TEST(ChildProcessTest, GivesTheTailFromTheStartOfALine) {
  EXPECT_EQ(OutputOf("echo 12345; echo 67890; echo abc", 12), "67890\nabc\n");
  EXPECT_EQ(OutputOf("echo 12345; echo 67890; echo abc", 16), "12345\n67890\nabc\n");
  EXPECT_EQ(OutputOf("echo 12345; echo 67890; echo abc", 9), "abc\n");
  EXPECT_EQ(OutputOf("echo 12345; echo 67890; echo abc", 0), "");
}

// A last line that is longer than what is shown: its end says more than nothing.
TEST(ChildProcessTest, GivesTheEndOfALongLine) {
  EXPECT_EQ(OutputOf("echo first; printf 0123456789", 4), "6789");
  EXPECT_EQ(OutputOf("echo first; echo 0123456789", 4), "789\n");
}

TEST(ChildProcessTest, TrimsMuchOutput) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto child =
      Start("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo before; read x <&3; echo after",
            {ends[0]});
  ASSERT_TRUE(Writes(*child, "before"));
  child->TrimOutput();
  EXPECT_EQ(child->OutputTail(100).find("before"), std::string::npos);
  ASSERT_EQ(write(ends[1], "\n", 1), 1);
  EXPECT_TRUE(child->WaitForEnd(20.0));
  close(ends[0]);
  close(ends[1]);
  const std::string tail = child->OutputTail(1000);
  EXPECT_EQ(tail.find('\0'), std::string::npos) << "no hole before what is written next";
  EXPECT_NE(tail.find("after"), std::string::npos) << tail;
}

TEST(ChildProcessTest, LeavesLittleOutputAlone) {
  const auto child = Start("echo kept");
  ASSERT_TRUE(child->WaitForEnd(20.0));
  child->TrimOutput();
  EXPECT_EQ(child->OutputTail(100), "kept\n");
}

TEST(ChildProcessTest, HandsDescriptorsOverInTheirOrder) {
  int first[2], second[2];
  ASSERT_EQ(pipe(first), 0);
  ASSERT_EQ(pipe(second), 0);
  const auto child = Start("echo one >&3; echo two >&4", {first[1], second[1]});
  ASSERT_TRUE(child->WaitForEnd(20.0));
  char text[5] = {};
  ASSERT_EQ(read(first[0], text, 4), 4);
  EXPECT_STREQ(text, "one\n");
  ASSERT_EQ(read(second[0], text, 4), 4);
  EXPECT_STREQ(text, "two\n");
  for (const int end : {first[0], first[1], second[0], second[1]}) close(end);
}

// Descriptors whose own numbers are those that others are given under.
TEST(ChildProcessTest, HandsLowDescriptorsOverWithoutMixingThem) {
  const int kept[2] = {fcntl(3, F_DUPFD, 50), fcntl(4, F_DUPFD, 50)};  // -1: not open
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  for (int& end : ends) {  // out of the way of 3 and 4
    const int high = fcntl(end, F_DUPFD, 50);
    close(end);
    end = high;
  }
  ASSERT_EQ(dup2(ends[0], 3), 3);
  ASSERT_EQ(dup2(ends[1], 4), 4);
  for (const int end : ends) close(end);
  const auto child = Start("echo text >&3; read line <&4; echo got $line", {4, 3});
  EXPECT_TRUE(child->WaitForEnd(20.0));
  EXPECT_EQ(child->OutputTail(100), "got text\n");
  for (int i = 0; i < 2; ++i) {
    close(3 + i);
    if (kept[i] >= 0) dup2(kept[i], 3 + i);
    if (kept[i] >= 0) close(kept[i]);
  }
}

TEST(ChildProcessTest, GivesNothingElseThatIsOpen) {
  const int inherited = open("/dev/null", O_RDONLY);  // not close-on-exec
  ASSERT_EQ(dup2(inherited, 77), 77);
  const auto child =
      Start("for fd in 3 4 5 6 77; do test -e /proc/$$/fd/$fd && echo has $fd; done; echo end",
            {inherited});
  ASSERT_TRUE(child->WaitForEnd(20.0));
  EXPECT_EQ(child->OutputTail(100), "has 3\nend\n");
  close(inherited);
  close(77);
}

TEST(ChildProcessTest, HasNoInput) { EXPECT_EQ(OutputOf("cat; echo end"), "end\n"); }

TEST(ChildProcessTest, WaitsNoLongerThanItIsTold) {
  const auto child = Start("sleep 60");
  EXPECT_FALSE(child->WaitForEnd(0.0));
  const double start = MonotonicSeconds();
  EXPECT_FALSE(child->WaitForEnd(0.05));
  EXPECT_GE(MonotonicSeconds() - start, 0.045);
  EXPECT_FALSE(IsReadable(child->end_descriptor()));
  child->Kill();
  EXPECT_TRUE(child->WaitForEnd(-1.0)) << "without a limit";
  EXPECT_EQ(child->end_text(), "was killed by signal 9 (Killed)");
  EXPECT_TRUE(IsReadable(child->end_descriptor()));
  child->Kill();  // nothing, and nobody else
  EXPECT_TRUE(child->WaitForEnd(0.0));
}

TEST(ChildProcessTest, IsKilledByItsDestructor) {
  pid_t pid = 0;
  {
    const auto child = Start("trap '' TERM INT HUP; sleep 60");
    pid = child->pid();
    EXPECT_TRUE(IsRunning(pid));
  }
  EXPECT_FALSE(IsRunning(pid));
  EXPECT_TRUE(Children().empty());
}

// What the child has started in its group ends with it, whoever ended it.
TEST(ChildProcessTest, TakesItsOwnChildrenWithIt) {
  for (const char* end : {"sleep 60", "exit 1", "kill -9 $$"}) {
    const auto child = Start(absl::StrCat("sleep 61 & echo pid $! .; ", end));
    ASSERT_TRUE(Writes(*child, " ."));
    const pid_t pid = static_cast<pid_t>(std::atol(child->OutputTail(100).c_str() + 4));
    ASSERT_GT(pid, 1);
    if (end == std::string("sleep 60")) {
      EXPECT_TRUE(IsRunning(pid));
      child->Kill();
    }
    EXPECT_TRUE(child->WaitForEnd(20.0));
    EXPECT_TRUE(EndsSoon(pid)) << end;
  }
}

TEST(ChildProcessTest, HasAProcessGroupOfItsOwn) {
  const auto child = Start("sleep 60");
  EXPECT_EQ(getpgid(child->pid()), child->pid());
  EXPECT_NE(getpgrp(), child->pid());
}

// Ctrl-C at the terminal goes to every process of the foreground group: here that of a process
// between, with a child that Ctrl-C would end.
TEST(ChildProcessTest, DoesNotSeeCtrlC) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t between = fork();
  ASSERT_GE(between, 0);
  if (between == 0) {
    setpgid(0, 0);
    signal(SIGINT, SIG_IGN);
    auto child = ChildProcess::Start({"sh", "-c", "sleep 60"}, {});
    kill(0, SIGINT);
    const bool lives = child.ok() && !(*child)->WaitForEnd(0.1);
    const char verdict = lives ? 'y' : 'n';
    _exit(write(ends[1], &verdict, 1) == 1 && (child = absl::UnknownError(""), true) ? 0 : 1);
  }
  char verdict = 0;
  ASSERT_EQ(read(ends[0], &verdict, 1), 1);
  EXPECT_EQ(verdict, 'y');
  int wait_status = 0;
  EXPECT_EQ(waitpid(between, &wait_status, 0), between);
  close(ends[0]);
  close(ends[1]);
}

// Blocked and ignored signals of this program are not the child's.
TEST(ChildProcessTest, BeginsWithItsOwnSignals) {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  signal(SIGINT, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(EndOf("kill -TERM $$; sleep 20"), "was killed by signal 15 (Terminated)");
  EXPECT_EQ(EndOf("kill -INT $$; sleep 20"), "was killed by signal 2 (Interrupt)");
  EXPECT_EQ(EndOf("kill -PIPE $$; sleep 20"), "was killed by signal 13 (Broken pipe)");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(ChildProcessTest, LeavesNothingBehind) {
  const int before = NumDescriptors();
  for (int i = 0; i < 20; ++i) {
    const auto child = Start(i % 2 == 0 ? "exit 1" : "sleep 60");
    if (i % 4 == 0) {
      EXPECT_TRUE(child->WaitForEnd(20.0));
    }
  }
  EXPECT_EQ(NumDescriptors(), before);
  EXPECT_TRUE(Children().empty());
}

TEST(ChildProcessDeathTest, NeedsACommand) {
  EXPECT_DEATH((void)ChildProcess::Start({}, {}), "no command");
}

}  // namespace
}  // namespace lzero::child_process_test
