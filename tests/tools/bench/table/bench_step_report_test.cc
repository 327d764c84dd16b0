#include "tools/bench/table/bench_step_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "nlohmann/json.hpp"

namespace lzero::bench_step_report_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// 5,308,416 FLOP and 1,327,104 bytes a step (see bench_step_cases_test.cc), 100 us at best.
BenchStepResult SmallResult() {
  BenchStepResult result;
  result.seconds = {3e-4, 1e-4, 5e-4, 2e-4, 4e-4};
  result.peak_gflops = 100.0;
  result.peak_gbs = 100.0;
  return result;
}

TEST(BenchStepReportTest, JsonHasTheKeysAndFiguresOfTheFastestRound) {
  EXPECT_EQ(
      BenchStepJson(SmallResult(), {"abc1234", 0.25, 1.5, "a CPU"}),
      R"({"bench":"step","device":"cpu","runner":"eager","embed":64,"layers":2,"heads":2,"batch":8,)"
      R"("context":8,"support":101,"actions":6,"dtype":"fp32","threads":1,"us_min":100.0,)"
      R"("us_median":300.0,"gflops":53.084,"peak_gflops":100.0,"gbs":13.271,)"
      R"("peak_gbs":100.0,"cpu":"a CPU","commit":"abc1234","load":[0.25,1.5]})");
}

TEST(BenchStepReportTest, AGpuIsNamedAndHasPeaksOfItsOwn) {
  BenchStepResult result = SmallResult();
  result.step.device = "cuda";
  const auto line = nlohmann::json::parse(BenchStepJson(result, {"c", 0.0, 0.0, "a CPU", "a GPU"}));
  EXPECT_EQ(line["device"], "cuda");
  EXPECT_EQ(line["gpu"], "a GPU");
  EXPECT_THAT(BenchStepTable({result}), HasSubstr("GPU: 100.0 GFLOP/s fp32 FMA peak; reads 100.0"));
}

TEST(BenchStepReportTest, AnUnknownLoadIsNull) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto line =
      nlohmann::json::parse(BenchStepJson(SmallResult(), {"c", unknown, unknown, ""}));
  EXPECT_TRUE(line["load"][0].is_null());
  EXPECT_EQ(line["load"].size(), 2u);
}

TEST(BenchStepReportTest, TheLimitWithTheLongerLeastTimeBinds) {
  BenchStepResult result = SmallResult();
  std::string table = BenchStepTable({result});
  EXPECT_THAT(table, HasSubstr(" 53.1%"));
  EXPECT_THAT(table, HasSubstr(" 13.3%"));
  EXPECT_THAT(table, HasSubstr("  FLOPs: 53% reached\n"));
  result.peak_gbs = 20.0;  // 66 us of reading against 53 us of arithmetic
  table = BenchStepTable({result});
  EXPECT_THAT(table, HasSubstr(" 66.4%"));
  EXPECT_THAT(table, HasSubstr("  reads: 66% reached\n"));
  EXPECT_THAT(table, Not(HasSubstr("FLOPs:")));
}

TEST(BenchStepReportTest, PeaksAreShownOnceForEachNumberOfThreadsAndSize) {
  std::vector<BenchStepResult> results(4, SmallResult());
  results[1].step.batch = 32;  // the same weights
  results[2].step.embed = 768;
  results[2].peak_gbs = 40.0;
  results[3].step.threads = 2;
  results[3].peak_gflops = 190.0;
  results[3].peak_gbs = 180.0;
  EXPECT_THAT(
      BenchStepTable(results),
      testing::StartsWith("machine, 1 thread: 100.0 GFLOP/s fp32 FMA peak; reads 100.0 GB/s from "
                          "0.89 MiB, 40.0 GB/s from 101.44 MiB\n"
                          "machine, 2 threads: 190.0 GFLOP/s fp32 FMA peak; reads 180.0 GB/s from "
                          "0.89 MiB\n"
                          "runner "));
}

TEST(BenchStepReportTest, EveryDtypeHasItsOwnPeak) {
  std::vector<BenchStepResult> results(2, SmallResult());
  results[1].step.dtype = "bf16";
  results[1].peak_gflops = 180.0;
  results[1].peak_gbs = 110.0;
  EXPECT_THAT(BenchStepTable(results),
              testing::StartsWith(
                  "machine, 1 thread: 180.0 GFLOP/s bf16 peak, 100.0 GFLOP/s fp32 FMA peak; reads "
                  "110.0 GB/s from 0.45 MiB, 100.0 GB/s from 0.89 MiB\n"));
}

}  // namespace
}  // namespace lzero::bench_step_report_test
