// A loop covers every index once, whatever threads and grain; loops inside loops do, too.
#include "lzero/kernels/parallel.h"

#include <atomic>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/spin_team.h"

namespace lzero::parallel_test {
namespace {

class ParallelForTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetKernelThreads(GetParam()); }
  void TearDown() override { SetKernelThreads(1); }
};

TEST_P(ParallelForTest, CoversEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 10, 101}) {
    for (const int64_t grain : {1, 3, 100, 1000}) {
      std::vector<std::atomic<int>> times(static_cast<size_t>(count));
      std::atomic<int64_t> parts = 0;
      ParallelFor(5, 5 + count, grain, [&](int64_t first, int64_t last) {
        ++parts;
        for (int64_t i = first; i < last; ++i) ++times[static_cast<size_t>(i - 5)];
      });
      for (const std::atomic<int>& each : times) EXPECT_EQ(each, 1);
      EXPECT_LE(parts, GetParam());
      EXPECT_LE(parts, (count + grain - 1) / grain);
    }
  }
}

TEST_P(ParallelForTest, LoopsInsideALoopStayOnItsThread) {
  std::atomic<int> calls = 0;
  ParallelFor(0, 8, 1, [&](int64_t first, int64_t last) {
    const std::thread::id outer = std::this_thread::get_id();
    ParallelFor(first, last, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      calls += static_cast<int>(end - begin);
    });
  });
  EXPECT_EQ(calls, 8);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelForTest, testing::Values(1, 2, 3));

// Trainer: more threads for updates than for searches, in turn.
TEST(ParallelFor, ThreadsCanBecomeMoreAndFewer) {
  for (const int num_threads : {2, 1, 4, 2, 3}) {
    SetKernelThreads(num_threads);
    EXPECT_EQ(KernelThreads(), num_threads);
    std::atomic<int> parts = 0;
    ParallelFor(0, 100, 1, [&](int64_t /*first*/, int64_t /*last*/) { ++parts; });
    EXPECT_EQ(parts, num_threads);
  }
  SetKernelThreads(1);
}

// Two threads on shared cores: loops use others only while the second thread does not work.
TEST(SharesCores, KeepsLoopsOnTheirThreadWhileOthersWork) {
  SetKernelThreads(2);
  SpinTeam team(2);
  std::atomic<int> num_working = 0;
  const auto num_parts = [&] {
    std::atomic<int> parts = 0;
    ParallelFor(0, 100, 1, [&](int64_t /*first*/, int64_t /*last*/) { ++parts; });
    return parts.load();
  };
  const SharesCores shares(&num_working);
  EXPECT_EQ(num_parts(), 2);
  std::thread([&] {
    const SharesCores other(&num_working);
    EXPECT_FALSE(HasSpareCores());
    EXPECT_EQ(num_working, 2);
  }).join();
  EXPECT_TRUE(HasSpareCores());
  ++num_working;
  EXPECT_EQ(num_parts(), 1);
  std::vector<std::thread::id> threads(5);
  RunOnSpareCores(
      &team, 5, [&](int part) { threads[static_cast<size_t>(part)] = std::this_thread::get_id(); });
  EXPECT_EQ(threads, std::vector<std::thread::id>(5, std::this_thread::get_id()));
  {
    const SharesCores own(nullptr);
    EXPECT_EQ(num_parts(), 2);
  }
  EXPECT_EQ(num_parts(), 1);
  --num_working;
  EXPECT_EQ(num_parts(), 2);
  SetKernelThreads(1);
}

}  // namespace
}  // namespace lzero::parallel_test
