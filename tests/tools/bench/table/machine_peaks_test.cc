#include "tools/bench/table/machine_peaks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

namespace lzero::machine_peaks_test {
namespace {

TEST(MachinePeaksTest, AllThreadsWorkAtTheSameTime) {
  constexpr int64_t kThreads = 3;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int64_t> inside = 0;
  FastestSeconds(kThreads, [&] {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    return [&, passes = int64_t{0}]() mutable {
      ++passes;
      ++inside;
      // Ends only if the others are in their pass, too.
      while (inside < kThreads * passes) std::this_thread::yield();
    };
  });
  EXPECT_EQ(threads.size(), static_cast<size_t>(kThreads));
  EXPECT_EQ(inside % kThreads, 0);
  EXPECT_GE(inside, 3 * kThreads);
}

TEST(MachinePeaksTest, TimeIsThatOfTheSlowestThread) {
  std::atomic<int> prepared = 0;
  const double seconds = FastestSeconds(2, [&] {
    const bool slow = prepared++ == 0;
    return [slow] {
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
  });
  EXPECT_GE(seconds, 0.005);
}

// Bounds that no machine misses: a wrong unit or a loop that the compiler removed does.
TEST(MachinePeaksTest, PeaksArePlausible) {
  for (const int64_t threads : {1, 2}) {
    const double gflops = MeasurePeakGflops(threads);
    EXPECT_GT(gflops, 0.5);
    EXPECT_LT(gflops, 2000.0);
    const double gbs = MeasureReadGbs(int64_t{1} << 20, threads);
    EXPECT_GT(gbs, 0.1);
    EXPECT_LT(gbs, 10000.0);
  }
  EXPECT_GT(MeasureReadGbs(/*num_bytes=*/1, /*num_threads=*/1), 0.1);  // less than a register
}

TEST(MachinePeaksTest, LoadIsNotNegative) { EXPECT_GE(LoadAverage(), 0.0); }

}  // namespace
}  // namespace lzero::machine_peaks_test
