#include "tools/bench/table/bench_train_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lzero::bench_train_report_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

BenchTrainResult SmallResult() {
  BenchTrainResult result;
  result.seconds = {0.05, 0.02, 0.04, 0.03, 0.06};
  result.sample_seconds = {0.002, 0.001, 0.0005, 0.0008, 0.004};
  result.peak_gflops = 300.0;
  return result;
}

TEST(BenchTrainReportTest, JsonHasTheKeysAndFiguresOfTheFastestUpdate) {
  // 3,010,068,480 FLOP an update (see bench_train_cases_test.cc), 20 ms at best.
  EXPECT_EQ(UpdateFlops(SmallResult().train), 3010068480);
  EXPECT_EQ(
      BenchTrainJson(SmallResult(), {"abc1234", 0.25, 1.5, "a CPU"}),
      R"({"bench":"train","encoder":"vector","observation":"4","embed":64,"layers":2,)"
      R"("heads":2,"batch":256,"unroll":5,"context":8,"support":101,"actions":2,"threads":1,)"
      R"("updates":5,"ms_min":20.0,"ms_median":40.0,"sample_ms_median":1.0,)"
      R"("sample_share":0.025,"gflops":150.5,"peak_gflops":300.0,"cpu":"a CPU","commit":"abc1234",)"
      R"("load":[0.25,1.5]})");
}

TEST(BenchTrainReportTest, TheTableShowsThePeaksAndALineACase) {
  std::vector<BenchTrainResult> results(2, SmallResult());
  results[1].train.threads = 2;
  results[1].peak_gflops = 500.0;
  const std::string table = BenchTrainTable(results);
  EXPECT_THAT(table, StartsWith("machine, 1 thread: 300.0 GFLOP/s fp32 FMA peak\n"
                                "machine, 2 threads: 500.0 GFLOP/s fp32 FMA peak\n"
                                "encoder "));
  EXPECT_THAT(table, HasSubstr("    20.00     40.00    2.50%    150.5   50.2%\n"));
  EXPECT_THAT(table, HasSubstr("   30.1%\n"));
}

}  // namespace
}  // namespace lzero::bench_train_report_test
