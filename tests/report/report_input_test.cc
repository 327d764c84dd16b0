// What a report is made of, read from folders that are not all in order.
#include "lzero/report/report_input.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/results/made_run.h"
#include "tests/run/test_folder.h"

namespace lzero::report_input_test {
namespace {

using ::testing::HasSubstr;

TEST(ReportInputTest, DamagedMetricsAreSkippedByNameOrRefused) {
  const TestFolder folder;
  for (int64_t seed = 0; seed < 3; ++seed) {
    MadeRun made;
    made.config.seed = seed;
    made.state = RunState::kInterrupted;  // a report takes unfinished runs
    if (seed != 2) made.evaluations = {{100, 1.0}, {200, 2.0}};
    MakeRun(folder.path() + "/" + std::to_string(seed), made);
  }
  const std::string damaged = folder.path() + "/1";
  ASSERT_TRUE(AppendFile(damaged + "/metrics.jsonl", "half a li\n").ok());
  const auto input = ReadReportInput({folder.path()}, 2);
  ASSERT_TRUE(input.ok()) << input.status();
  ASSERT_EQ(input->runs.groups.size(), 1u);
  ASSERT_EQ(input->runs.groups[0].runs.size(), 2u);
  ASSERT_EQ(input->metrics[0].size(), 2u);
  EXPECT_EQ(input->metrics[0][0].at("eval/return_mean").values.size(), 2u);
  EXPECT_TRUE(input->metrics[0][1].empty());  // no metrics yet
  EXPECT_EQ(input->comparison.groups[0].finals.size(), 1u);
  ASSERT_EQ(input->runs.skipped.size(), 1u);
  EXPECT_EQ(input->runs.skipped[0].path, damaged);
  const std::string message(ReadReportInput({damaged}, 1).status().message());
  EXPECT_THAT(message, HasSubstr(damaged + "/metrics.jsonl:3: is no line of metrics"));
}

}  // namespace
}  // namespace lzero::report_input_test
