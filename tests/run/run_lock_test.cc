// Who may write into a run folder: one at a time, until it is gone.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/run/run_folder.h"
#include "tests/run/test_folder.h"

namespace lzero::run_lock_test {
namespace {

class RunLockTest : public testing::Test {
 protected:
  std::string LockText() const { return *ReadFile(JoinPath(folder_, kRunLockFile)); }

  TestFolder test_folder_;
  std::string folder_ = test_folder_.path();
};

TEST_F(RunLockTest, NamesItsHolderWhileItIsHeld) {
  {
    const auto lock = RunLock::Acquire(folder_);
    ASSERT_TRUE(lock.ok()) << lock.status();
    EXPECT_EQ(LockText(), std::to_string(getpid()) + "\n");
    const absl::Status second = RunLock::Acquire(folder_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(second));
    EXPECT_NE(second.message().find("in use by process " + std::to_string(getpid()) + ":"),
              std::string::npos)
        << second;
    EXPECT_EQ(LockText(), std::to_string(getpid()) + "\n") << "the refused one wrote into it";
  }
  EXPECT_EQ(LockText(), "");
  EXPECT_TRUE(RunLock::Acquire(folder_).ok());
}

TEST_F(RunLockTest, OthersMayAskWhetherItIsHeld) {
  EXPECT_FALSE(IsRunInUse(folder_));  // without a lock file
  EXPECT_FALSE(FileExists(JoinPath(folder_, kRunLockFile)));
  {
    const auto lock = RunLock::Acquire(folder_);
    EXPECT_TRUE(IsRunInUse(folder_));
  }
  EXPECT_FALSE(IsRunInUse(folder_));
  EXPECT_TRUE(RunLock::Acquire(folder_).ok()) << "asking took the lock";
}

TEST_F(RunLockTest, MovesWithItsOwner) {
  auto first = RunLock::Acquire(folder_);
  ASSERT_TRUE(first.ok());
  {
    const RunLock second = std::move(*first);
    EXPECT_FALSE(RunLock::Acquire(folder_).ok());
  }
  EXPECT_TRUE(RunLock::Acquire(folder_).ok());
}

TEST_F(RunLockTest, AKilledHolderLeavesTheFolderFree) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = RunLock::Acquire(folder_);
    const char result = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &result, 1) != 1) _exit(1);
    while (true) pause();
  }
  char locked = 0;
  ASSERT_EQ(read(ready[0], &locked, 1), 1);
  EXPECT_EQ(locked, 'y');
  const absl::Status refused = RunLock::Acquire(folder_).status();
  EXPECT_NE(refused.message().find("process " + std::to_string(child) + ":"), std::string::npos)
      << refused;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunLock::Acquire(folder_).ok());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RunLockTest, AFolderThatCannotBeLockedIsNamed) {
  const absl::Status status = RunLock::Acquire(folder_ + "/none").status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "cannot open " + folder_ + "/none/.lock: No such file or directory");
}

}  // namespace
}  // namespace lzero::run_lock_test
