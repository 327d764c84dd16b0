#include "tools/bench/table/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lzero::bench_report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BenchTable StepLikeTable() {
  BenchTable table;
  table.verb = "step";
  table.axes = {{"device", "", "cpu"}, {"batch", "", "8", 100}, {"runner", "", "eager"}};
  return table;
}

constexpr char kEager[] =
    R"({"bench":"step","device":"cpu","batch":8,"runner":"eager","rounds":5,"us_min":100.0,)"
    R"("gflops":53.084,"peak_gflops":100.0,"gbs":13.271,"peak_gbs":20.0,"signature":"ab12",)"
    R"("cpu":"a CPU","commit":"a","load":[0.1,0.2]})";
constexpr char kPacked[] =
    R"({"bench":"step","device":"cpu","batch":8,"runner":"packed","rounds":5,"us_min":4.0,)"
    R"("gflops":53.084,"peak_gflops":100.0,"gbs":13.271,"peak_gbs":100.0,"signature":"ab12"})";

TEST(BenchReportTest, TheTableShowsWhatDiffersAndTheLimitThatBinds) {
  BenchTable table = StepLikeTable();
  table.last_line = "signature";
  // 66 us of reading against 53 us of arithmetic; then 13.
  EXPECT_EQ(BenchTableText(table, {kEager, kPacked}),
            "all cases: device cpu, batch 8\n"
            "runner  us_min  gflops  peak_gflops     gbs  peak_gbs    limit that binds\n"
            " eager     100  53.084          100  13.271        20  reads: 66% reached\n"
            "packed       4  53.084          100  13.271       100  FLOPs: 53% reached\n"
            "signature ab12\n");
}

TEST(BenchReportTest, WithoutASpeedNoLimitBinds) {
  EXPECT_EQ(BenchTableText(StepLikeTable(),
                           {R"({"bench":"step","device":"cpu","batch":8,"runner":"eager",)"
                            R"("value_error_ratio":null,"gpu":"a GPU"})"}),
            "all cases: device cpu, batch 8, runner eager\n"
            "value_error_ratio\n"
            "             null\n");
}

TEST(BenchReportTest, TheIdentityIsThatOfTheAxes) {
  const std::string identity = R"({"device":"cpu","batch":8,"runner":"eager"})";
  EXPECT_EQ(BenchIdentity(StepLikeTable(), kEager), identity);
  // Older runs lack what was not there to choose.
  EXPECT_EQ(BenchIdentity(StepLikeTable(), R"({"bench":"step","runner":"eager","us_min":1})"),
            identity);
  EXPECT_EQ(BenchIdentity(StepLikeTable(), R"({"bench":"step","kind":"engine","batch":9})"),
            R"({"kind":"engine","device":"cpu","batch":9,"runner":"eager"})");
}

TEST(BenchReportTest, EveryCaseWithALineIsCompared) {
  const std::vector<std::string> now = {
      R"({"bench":"step","batch":8,"runner":"eager","us_min":50.0,"us_median":80.0,"gflops":9})",
      R"({"bench":"step","batch":9,"runner":"eager","us_min":50.0})"};
  EXPECT_THAT(CompareBenchLines(StepLikeTable(), now, {kEager, kPacked}),
              ElementsAre("step batch 8: us_min 100 -> 50 (0.500x)", "1 cases have no line in it"));
}

TEST(BenchReportTest, TimesMemoryAndErrorsAreCompared) {
  EXPECT_THAT(CompareBenchLines(StepLikeTable(),
                                {R"({"load_ms":25,"loaded_mib":3,"value_error_ratio":0,"step":2,)"
                                 R"("search_value_error_ratio":null,"us_median":1})"},
                                {R"({"load_ms":50,"loaded_mib":9,"value_error_ratio":0,"step":1,)"
                                 R"("search_value_error_ratio":1})"}),
              ElementsAre("step: load_ms 50 -> 25 (0.500x), loaded_mib 9 -> 3 (0.333x), "
                          "value_error_ratio 0 -> 0 (1.000x)"));
}

TEST(BenchReportTest, LinesOfTheVerbAreFound) {
  const std::string printed =
      std::string("words\n") + kEager + "\n{\"bench\":\"train\"}\n" + kPacked;
  EXPECT_THAT(*FindBenchLines(StepLikeTable(), printed, "a file"), ElementsAre(kEager, kPacked));
}

TEST(BenchReportTest, TextWithoutABenchmarkIsRefused) {
  const auto refusal = [](const std::string& text) {
    return std::string(FindBenchLines(StepLikeTable(), text, "f.txt").status().message());
  };
  EXPECT_EQ(refusal("nothing here\n"),
            "f.txt: no line of bench step; save one with: lzero bench step ... > FILE");
  EXPECT_THAT(refusal("{\"bench\":\"train\"}\n"), HasSubstr("no line of bench step"));
  EXPECT_EQ(refusal("text\n{\"bench\":\n"), "f.txt:2: no object of a benchmark");
  EXPECT_EQ(refusal("{\"step\": 1}\n"), "f.txt:1: no object of a benchmark");
}

}  // namespace
}  // namespace lzero::bench_report_test
