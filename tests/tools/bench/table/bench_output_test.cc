// What a benchmark is compared with, and what tells one case from another.
#include "tools/bench/table/bench_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace lzero::bench_output_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kEager[] =
    R"({"bench":"step","runner":"eager","batch":8,"us_min":100.0,"us_median":120.0,"gflops":50.0,)"
    R"("commit":"a","load":[0.1,0.2]})";
constexpr char kPacked[] =
    R"({"bench":"step","runner":"packed","batch":8,"us_min":40.0,"us_median":50.0,"commit":"a"})";

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(BenchOutputTest, TheIdentityLeavesOutWhatWasMeasured) {
  EXPECT_EQ(BenchIdentity(kEager), R"({"bench":"step","runner":"eager","batch":8})");
  EXPECT_EQ(BenchIdentity(R"({"bench":"train","embed":64,"sample_share":0.01,"peak_gflops":1,)"
                          R"("resident_mib":3,"load_ms":2,"cpu":"x","rounds":5})"),
            R"({"bench":"train","embed":64})");
}

TEST(BenchOutputTest, EveryCaseWithALineIsCompared) {
  const std::string path = WriteFile("bench_output_baseline.txt",
                                     std::string(kEager) + "\nsome table\n" + kPacked + "\n");
  const auto baseline = BenchBaseline::Load(path, "step");
  ASSERT_TRUE(baseline.ok()) << baseline.status();
  const std::string faster =
      R"({"bench":"step","runner":"eager","batch":8,"us_min":50.0,"us_median":80.0,"commit":"b"})";
  const std::string other = R"({"bench":"step","runner":"eager","batch":9,"us_min":50.0})";
  EXPECT_THAT(baseline->Compare({faster, other}),
              ElementsAre("step runner eager batch 8: us_min 100 -> 50 (2.00x), us_median 120 -> "
                          "80 (1.50x)",
                          "1 cases have no line in the baseline"));
}

TEST(BenchOutputTest, TimesMemoryGrowthAndErrorsAreCompared) {
  const std::string unload = R"({"bench":"unload","cycle":1,"load_ms":50,"loaded_mib":9})";
  const std::string parity =
      R"({"bench":"parity","value_error_ratio":0,"search_value_error_ratio":1e-06})";
  const std::string growth = R"({"bench":"growth","last_to_first_ratio":1.1,"first_us_min":5})";
  const std::string path =
      WriteFile("bench_output_times.txt", unload + "\n" + parity + "\n" + growth + "\n");
  const auto unloads = BenchBaseline::Load(path, "unload");
  ASSERT_TRUE(unloads.ok()) << unloads.status();
  EXPECT_THAT(unloads->Compare({R"({"bench":"unload","cycle":1,"load_ms":25,"loaded_mib":3})"}),
              ElementsAre("unload cycle 1: load_ms 50 -> 25 (2.00x), loaded_mib 9 -> 3 (3.00x)"));
  const auto parities = BenchBaseline::Load(path, "parity");
  ASSERT_TRUE(parities.ok()) << parities.status();
  EXPECT_THAT(parities->Compare({parity}),
              ElementsAre("parity: value_error_ratio 0 -> 0 (1.00x), search_value_error_ratio "
                          "1e-06 -> 1e-06 (1.00x)"));
  EXPECT_THAT(parities->Compare({R"({"bench":"parity","value_error_ratio":null})"}),
              ElementsAre("parity: "));
  const auto growths = BenchBaseline::Load(path, "growth");
  ASSERT_TRUE(growths.ok()) << growths.status();
  EXPECT_THAT(
      growths->Compare({R"({"bench":"growth","last_to_first_ratio":1.0,"first_us_min":5})"}),
      ElementsAre("growth: last_to_first_ratio 1.1 -> 1 (1.10x), first_us_min 5 -> 5 (1.00x)"));
}

TEST(BenchOutputTest, NoFileIsNoBaseline) {
  const auto none = BenchBaseline::Load("", "step");
  ASSERT_TRUE(none.ok());
  EXPECT_THAT(none->Compare({kEager}), IsEmpty());
}

TEST(BenchOutputTest, AFileWithoutABenchmarkIsRefused) {
  EXPECT_TRUE(absl::IsNotFound(BenchBaseline::Load("no/such/file", "step").status()));
  const auto empty =
      BenchBaseline::Load(WriteFile("bench_output_empty.txt", "nothing here\n"), "step");
  EXPECT_THAT(empty.status().message(), HasSubstr("no line of bench step; save one with"));
  const auto broken =
      BenchBaseline::Load(WriteFile("bench_output_broken.txt", "text\n{\"bench\":\n"), "step");
  EXPECT_THAT(broken.status().message(), HasSubstr(":2: no object of a benchmark"));
  const auto foreign =
      BenchBaseline::Load(WriteFile("bench_output_foreign.txt", "{\"step\": 1}\n"), "step");
  EXPECT_FALSE(foreign.ok());
  const auto of_another =
      BenchBaseline::Load(WriteFile("bench_output_another.txt", kEager), "train");
  EXPECT_THAT(std::string(of_another.status().message()), HasSubstr("no line of bench train"));
}

}  // namespace
}  // namespace lzero::bench_output_test
