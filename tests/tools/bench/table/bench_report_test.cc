#include "tools/bench/table/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"

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

// The cases of a run with these lines.
std::vector<BenchCase> CasesOf(const std::vector<std::string>& lines) {
  const auto cases = ParseBenchLines(StepLikeTable(), absl::StrJoin(lines, "\n"), "a run");
  EXPECT_TRUE(cases.ok()) << cases.status();
  return cases.value_or(std::vector<BenchCase>());
}

std::vector<std::string> Compared(const std::vector<std::string>& now,
                                  const std::vector<std::string>& before) {
  return CompareBenchCases(StepLikeTable(), CasesOf(now), CasesOf(before));
}

TEST(BenchReportTest, TheTableShowsWhatDiffersAndTheLimitThatBinds) {
  BenchTable table = StepLikeTable();
  table.last_line = "signature";
  // 66 us of reading against 53 us of arithmetic; then 13.
  EXPECT_EQ(BenchTableText(table, CasesOf({kEager, kPacked})),
            "all cases: device cpu, batch 8\n"
            "runner  us_min  gflops  peak_gflops     gbs  peak_gbs    limit that binds\n"
            " eager     100  53.084          100  13.271        20  reads: 66% reached\n"
            "packed       4  53.084          100  13.271       100  FLOPs: 53% reached\n"
            "signature ab12\n");
}

TEST(BenchReportTest, WithoutASpeedNoLimitBinds) {
  EXPECT_EQ(BenchTableText(StepLikeTable(),
                           CasesOf({R"({"bench":"step","device":"cpu","batch":8,"runner":"eager",)"
                                    R"("value_error_ratio":null,"gpu":"a GPU"})"})),
            "all cases: device cpu, batch 8, runner eager\n"
            "value_error_ratio\n"
            "             null\n");
}

// Older runs lack what was not there to choose.
TEST(BenchReportTest, TheIdentityIsThatOfTheAxesAndTheirDefaults) {
  EXPECT_THAT(Compared({kEager}, {R"({"bench":"step","runner":"eager","us_min":50})"}),
              ElementsAre("step: us_min 50 -> 100 (2.000x)"));
  EXPECT_THAT(Compared({kEager}, {R"({"bench":"step","kind":"engine","us_min":50})"}),
              ElementsAre("1 cases have no line in it"));
}

TEST(BenchReportTest, EveryCaseWithALineIsCompared) {
  const std::vector<std::string> now = {
      R"({"bench":"step","batch":8,"runner":"eager","us_min":50.0,"us_median":80.0,"gflops":9})",
      R"({"bench":"step","batch":9,"runner":"eager","us_min":50.0})"};
  EXPECT_THAT(Compared(now, {kEager, kPacked}),
              ElementsAre("step batch 8: us_min 100 -> 50 (0.500x)", "1 cases have no line in it"));
}

TEST(BenchReportTest, TimesMemoryAndErrorsAreCompared) {
  EXPECT_THAT(
      Compared({R"({"bench":"step","load_ms":25,"loaded_mib":3,"value_error_ratio":0,"steps":2,)"
                R"("search_value_error_ratio":null,"us_median":1})"},
               {R"({"bench":"step","load_ms":50,"loaded_mib":9,"value_error_ratio":0,"steps":1,)"
                R"("search_value_error_ratio":1})"}),
      ElementsAre("step: load_ms 50 -> 25 (0.500x), loaded_mib 9 -> 3 (0.333x), "
                  "value_error_ratio 0 -> 0 (1.000x)"));
}

TEST(BenchReportTest, LinesOfTheVerbAreFound) {
  const std::string printed =
      std::string("words\n") + kEager + "\n{\"bench\":\"train\"}\n" + kPacked;
  const auto found = ParseBenchLines(StepLikeTable(), printed, "a file");
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[1].Word("runner"), "packed");
  EXPECT_EQ(BenchLine((*found)[1]), kPacked);
}

TEST(BenchReportTest, TextWithoutABenchmarkIsRefused) {
  const auto refusal = [](const std::string& text) {
    return std::string(ParseBenchLines(StepLikeTable(), text, "f.txt").status().message());
  };
  EXPECT_EQ(refusal("nothing here\n"),
            "f.txt: no line of bench step; save one with: lzero bench step ... > FILE");
  EXPECT_THAT(refusal("{\"bench\":\"train\"}\n"), HasSubstr("no line of bench step"));
  EXPECT_EQ(refusal("text\n{\"bench\":\n"), "f.txt:2: no object of a benchmark");
  EXPECT_EQ(refusal("{\"step\": 1}\n"), "f.txt:1: no object of a benchmark");
}

// Shell scripts stand for the two builds.
class BenchTurnsTest : public testing::Test {
 protected:
  BenchTurnsTest() {
    table_.verb = "step";
    table_.axes = {{"batch", "", "8", 100}};
  }
  ~BenchTurnsTest() override { std::filesystem::remove_all(folder_); }

  // A program of this name in the test's own folder that runs `script`.
  std::string MakeProgram(const std::string& name, const std::string& script) {
    const std::string path = absl::StrCat(folder_, "/", name);
    std::ofstream(path) << "#!/bin/sh\ncd '" << folder_ << "'\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  // Says what it was asked for, and prints one case; its n-th call takes `base` + n.
  std::string MakeBuild(const std::string& name, int base) {
    return MakeProgram(
        name,
        absl::StrCat(
            "echo ", name, " \"$@\" >>calls; n=$(grep -c ^", name, " calls); t=$((", base,
            " + n))\necho loading >&2\n",
            R"(printf '{"bench":"step","batch":%s,"us_min":%s,"us_median":%s,"gflops":%s}\n' )",
            "$4 $t $((10 * t)) $((100 - t))"));
  }

  absl::StatusOr<BenchTurns> Measure(const BenchGiven& given, const std::string& own,
                                     const std::string& other, int64_t rounds = 5) {
    return MeasureInTurn(table_, given, *SweepCases(table_, given), rounds, own, other);
  }

  std::string Calls() { return *ReadFile(folder_ + "/calls"); }

  const std::string folder_ = [] {
    std::string folder = testing::TempDir() + "/bench turns XXXXXX";
    return std::string(mkdtemp(folder.data()));
  }();
  BenchTable table_;
};

TEST_F(BenchTurnsTest, BuildsMeasureEachCaseInTurn) {
  const std::string own = MakeBuild("own", 40), other = MakeBuild("other", 80);
  const auto turns = Measure({{"batch", {"2"}}}, own, other);
  ASSERT_TRUE(turns.ok()) << turns.status();
  const std::string words = " bench step --batch 2 --json --rounds 5\n";
  EXPECT_EQ(Calls(), absl::StrCat("other", words, "own", words, "own", words, "other", words,
                                  "other", words, "own", words));
  // The least of 41, 42, 43, the median of ten times as much, and the speed of the least time.
  ASSERT_EQ(turns->now.size(), 1u);
  ASSERT_EQ(turns->before.size(), 1u);
  EXPECT_EQ(BenchLine(turns->now[0]),
            R"({"bench":"step","batch":2,"us_min":41.0,"us_median":420.0,"gflops":59.0})");
  EXPECT_EQ(BenchLine(turns->before[0]),
            R"({"bench":"step","batch":2,"us_min":81.0,"us_median":820.0,"gflops":19.0})");
}

TEST_F(BenchTurnsTest, MoreRoundsAreMoreTurnsAndWithoutRoundsThereIsOne) {
  const std::string own = MakeBuild("own", 40), other = MakeBuild("other", 80);
  ASSERT_TRUE(Measure({{"batch", {"2", "3"}}}, own, other, 16).ok());
  std::string calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 2 * 4 * 2);
  EXPECT_LT(calls.rfind("--batch 2"), calls.find("--batch 3"));  // case by case
  std::filesystem::remove(folder_ + "/calls");
  table_.rounds = 0;
  ASSERT_TRUE(Measure({{"batch", {"2"}}}, own, other).ok());
  EXPECT_EQ(Calls(), "other bench step --batch 2 --json\nown bench step --batch 2 --json\n");
}

TEST_F(BenchTurnsTest, AProgramThatRefusesIsTold) {
  const std::string own = MakeBuild("own", 40);
  const std::string old = MakeProgram("old", "echo 'error: unknown option' >&2; exit 2");
  const auto refused = Measure({{"batch", {"2"}}}, own, old);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.status().message(),
            absl::StrCat(old,
                         " bench step --batch 2 --json --rounds 5: ended with exit code 2; it "
                         "said 'error: unknown option'"));
  const auto silent = Measure({{"batch", {"2"}}}, own, MakeProgram("silent", "true"));
  EXPECT_THAT(silent.status().message(), HasSubstr("--rounds 5: no line of bench step"));
}

TEST_F(BenchTurnsTest, AProgramWithOtherCasesIsTold) {
  const std::string own = MakeBuild("own", 40);
  const std::string old = MakeProgram("old", R"(echo '{"bench":"step","batch":9,"us_min":1}')");
  const auto other = Measure({{"batch", {"2"}}}, own, old);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.status().message(),
              HasSubstr(R"(old: has other cases: {"batch":9}; asked for: {"batch":2})"));
}

TEST_F(BenchTurnsTest, AProgramIsAFileThatCanBeRun) {
  EXPECT_TRUE(IsProgram(MakeBuild("own", 40)));
  std::ofstream(folder_ + "/saved.txt") << "{}";
  EXPECT_FALSE(IsProgram(folder_ + "/saved.txt"));
  EXPECT_FALSE(IsProgram(folder_));
  EXPECT_FALSE(IsProgram("no/such/file"));
}

}  // namespace
}  // namespace lzero::bench_report_test
