#include "lzero/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace lzero::thread_pool_test {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, CallsEachIndexOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.num_threads(), GetParam());
  std::vector<int> calls(1000, 0);  // unguarded on purpose: each index belongs to one call
  pool.Run(1000, [&](int64_t i) { ++calls[i]; });
  EXPECT_EQ(calls, std::vector<int>(1000, 1));
}

TEST_P(ThreadPoolTest, IsDoneWhenRunReturns) {
  ThreadPool pool(GetParam());
  std::vector<int64_t> squares(7);
  for (int64_t round = 0; round < 300; ++round) {
    pool.Run(7, [&](int64_t i) { squares[i] = (i + round) * (i + round); });
    for (int64_t i = 0; i < 7; ++i) ASSERT_EQ(squares[i], (i + round) * (i + round));
  }
}

TEST_P(ThreadPoolTest, AnEmptyLoopCallsNothing) {
  ThreadPool pool(GetParam());
  pool.Run(0, [](int64_t) { ADD_FAILURE() << "called"; });
}

TEST_P(ThreadPoolTest, ThrowsOnWhatABodyThrowsAndGoesOn) {
  ThreadPool pool(GetParam());
  for (int64_t round = 0; round < 50; ++round) {
    std::atomic<int> in_a_body = 0;
    const auto body = [&](int64_t i) {
      ++in_a_body;
      std::this_thread::yield();
      --in_a_body;
      if (i >= 3) std::vector<int>().at(0) = 1;
    };
    EXPECT_THROW(pool.Run(20, body), std::out_of_range);
    EXPECT_EQ(in_a_body, 0);
    std::vector<int> calls(20, 0);
    pool.Run(20, [&](int64_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(20, 1));
  }
}

INSTANTIATE_TEST_SUITE_P(NumThreads, ThreadPoolTest, testing::Values(1, 2, 5));

TEST(ThreadPoolSingleTest, OneThreadIsTheCallerInOrder) {
  ThreadPool pool(1);
  std::vector<int64_t> order;
  std::set<std::thread::id> threads;
  pool.Run(5, [&](int64_t i) {
    order.push_back(i);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(ThreadPoolSingleTest, TwoBodiesRunAtTheSameTime) {
  ThreadPool pool(2);
  std::atomic<int> arrived = 0;
  // Each call waits for the other: with one thread this would hang.
  pool.Run(2, [&](int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPoolDeathTest, RefusesNoThreadsAndNestedLoops) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ThreadPool(0), "got 0");
  EXPECT_DEATH(
      {
        ThreadPool pool(2);
        pool.Run(1, [&](int64_t) { pool.Run(1, [](int64_t) {}); });
      },
      "not reentrant");
}

}  // namespace
}  // namespace lzero::thread_pool_test
