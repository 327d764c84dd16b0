// A writer that is killed at any instant never leaves a run without a checkpoint that loads.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/run/checkpoint_store.h"
#include "tests/run/test_folder.h"

namespace lzero::checkpoint_kill_test {
namespace {

constexpr int kNumKills = 30;

// Every array of checkpoint `step` holds that number, so a mixture of two would show.
CheckpointContent ContentOf(int64_t step) {
  const std::vector<int64_t> numbers(2000, step);
  CheckpointContent content;
  for (const char* name : {"model", "target", "replay"}) {
    content.files[name] = {MakeNamedArray<int64_t>("numbers", numbers)};
  }
  content.state_json = "{}";
  return content;
}

// Writes checkpoints first_step, first_step + 1, .. until it is killed; every third replaces the
// one before, every fifth becomes the best.
[[noreturn]] void WriteForever(const std::string& run_dir, int64_t first_step) {
  for (int64_t step = first_step;; ++step) {
    const bool written = WriteCheckpoint(run_dir, step, ContentOf(step), 2).ok() &&
                         (step % 3 != 0 || WriteCheckpoint(run_dir, step, ContentOf(step), 2).ok());
    if (!written || (step % 5 == 0 && !MarkBestCheckpoint(run_dir, step).ok())) ::_exit(1);
  }
}

// Starts the writer in a child process and kills it after `delay`.
void RunAndKill(const std::string& run_dir, int64_t first_step, std::chrono::microseconds delay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) WriteForever(run_dir, first_step);
  std::this_thread::sleep_for(delay);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed";
}

void ExpectIntact(const std::string& path, int64_t at_least) {
  const auto loaded = ReadCheckpoint(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_GE(loaded->env_steps, at_least);
  ASSERT_EQ(loaded->content.files.size(), 3u);
  for (const auto& [name, arrays] : loaded->content.files) {
    const auto numbers = ReadArray<int64_t>(arrays, "numbers");
    ASSERT_TRUE(numbers.ok());
    EXPECT_EQ(*numbers, std::vector<int64_t>(2000, loaded->env_steps)) << name;
  }
}

TEST(CheckpointKillTest, TheLatestCheckpointAlwaysLoads) {
  const TestFolder test_folder;
  const std::string run_dir = test_folder.path() + "/run";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(WriteCheckpoint(run_dir, 1, ContentOf(1), 2).ok());
  const auto write_time = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  // Up to a few checkpoints long, the start of the child included.
  const int64_t longest = std::min<int64_t>(4 * write_time.count() + 2000, 30000);
  RandomStream random(11, "kill times");
  int64_t latest = 1;
  for (int i = 0; i < kNumKills; ++i) {
    SCOPED_TRACE(i);
    RunAndKill(run_dir, latest + 1, std::chrono::microseconds(random.UniformInt(longest)));
    if (HasFatalFailure()) return;
    ExpectIntact(run_dir, latest);
    latest = ReadCheckpoint(run_dir)->env_steps;
    const auto places = ListCheckpoints(run_dir);
    ASSERT_TRUE(places.ok());
    for (const CheckpointPlace& place : *places) EXPECT_TRUE(VerifyCheckpoint(place.path).ok());
    const std::string best = run_dir + "/checkpoints/best";
    if (FileExists(best)) ExpectIntact(best, 1);
  }
  EXPECT_GT(latest, 1) << "the writer never got to write";
  EXPECT_TRUE(WriteCheckpoint(run_dir, latest + 1, ContentOf(latest + 1), 2).ok());
  const auto names = ListDirectory(run_dir + "/checkpoints");
  ASSERT_TRUE(names.ok());
  for (const std::string& name : *names) EXPECT_FALSE(name.ends_with(".tmp")) << name;
}

}  // namespace
}  // namespace lzero::checkpoint_kill_test
