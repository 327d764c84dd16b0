// A page of scores; its aggregates are those that rliable 1.0.8 computes of the same runs.
#include "lzero/results/score_page.h"

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/run/test_folder.h"

namespace lzero::score_page_test {
namespace {

using testing::HasSubstr;
using testing::Not;

ScoreSummary Summary() {
  struct Task {
    const char* name;
    double random, expert;
    std::vector<double> measured;
  };
  const Task tasks[] = {{"a", 0, 1000, {100, 450, 800}},
                        {"b", 0, 1000, {955, 900, 1010}},
                        {"c", 10, 60, {20, 30, 55}},
                        {"d", 50, 1050, {600, 640, 500}}};
  std::vector<TaskResult> results;
  for (const Task& task : tasks) {
    const ScoreConfig scale = {ScoreMeasure::kReturn, task.random, task.expert};
    for (const double measured : task.measured) {
      results.push_back({task.name, measured, scale.Normalized(measured), false, {}, scale});
    }
  }
  results.push_back({"unscored", 7.25, {}, false, {}, {}});
  return SummarizeScores(results);
}

std::string LineWith(const std::string& page, const std::string& begin) {
  const size_t at = page.find("\n| " + begin + " |") + 1;
  return at == 0 ? "" : page.substr(at, page.find('\n', at) - at);
}

void ExpectAggregate(const std::string& page, const std::string& name, const std::string& value,
                     double low, double high) {
  const std::string line = LineWith(page, name), head = "| " + name + " | " + value + " | ";
  double got_low = 0.0, got_high = 0.0;
  ASSERT_EQ(line.substr(0, head.size()), head);
  ASSERT_EQ(std::sscanf(line.c_str() + head.size(), "%lf to %lf |", &got_low, &got_high), 2);
  EXPECT_NEAR(got_low, low, 0.003) << name;
  EXPECT_NEAR(got_high, high, 0.003) << name;
}

TEST(ScorePageTest, AggregatesAreThoseOfRliable) {
  const std::string page = ScorePage(Summary(), {});
  EXPECT_EQ(LineWith(page, "a"), "| a | 100.0, 450.0, 800.0 | 450.0 | 0.450 |");
  EXPECT_EQ(LineWith(page, "b"), "| b | 900.0, 955.0, 1010 | 955.0 | 0.955 |");
  EXPECT_EQ(LineWith(page, "unscored"), "| unscored | 7.250 | 7.250 | - |");
  // Both intervals are of 50,000 resamples, of other random numbers.
  ExpectAggregate(page, "mean", "0.609", 0.4946, 0.7292);
  ExpectAggregate(page, "median of the tasks", "0.515", 0.4083, 0.7317);
  ExpectAggregate(page, "interquartile mean", "0.623", 0.4467, 0.7733);
  ExpectAggregate(page, "optimality gap", "0.392", 0.2717, 0.5058);
  EXPECT_EQ(LineWith(page, "share of runs"),
            "| share of runs | 1.00 | 0.92 | 0.83 | 0.83 | 0.75 | 0.58 | 0.42 | 0.42 | 0.33 | 0.17 "
            "| 0.08 |");
}

// Two runs of a task are too few for an interval.
TEST(ScorePageTest, FewRunsHaveNoInterval) {
  const ScoreConfig scale = {ScoreMeasure::kReturn, 0.0, 10.0};
  const std::string page = ScorePage(
      SummarizeScores({{"a", 5.0, 0.5, false, {}, scale}, {"a", 6.0, 0.6, false, {}, scale}}), {});
  EXPECT_EQ(LineWith(page, "mean"), "| mean | 0.550 | - |");
}

TEST(ScorePageTest, PublishedScoresStandBeside) {
  const TestFolder folder;
  const std::string path = folder.path() + "/published.yaml";
  ASSERT_TRUE(WriteFileAtomic(path,
                              "The best one: {a: 1000, b: 1000, c: 60, d: 1050}\n"
                              "Part: {a: 500}\n")
                  .ok());
  const auto published = ReadPublished(path);
  ASSERT_TRUE(published.ok()) << published.status();
  const std::string page = ScorePage(Summary(), *published);
  EXPECT_EQ(LineWith(page, "a"), "| a | 100.0, 450.0, 800.0 | 450.0 | 0.450 | 1000 | 500.0 |");
  EXPECT_EQ(LineWith(page, "d"), "| d | 500.0, 600.0, 640.0 | 580.0 | 0.530 | 1050 | - |");
  // What lacks a task has no mean over all.
  EXPECT_THAT(LineWith(page, "mean"), testing::EndsWith(" | 1.000 |"));
  EXPECT_THAT(page, Not(HasSubstr("95 % interval | The best one | Part")));
}

TEST(ScorePageTest, TheFilesOfTheProjectAreRead) {
  for (const char* name : {"atari", "control", "minatar"}) {
    const auto published =
        ReadPublished(absl::StrCat(LZ_TEST_DATA, "/../experiments/published/", name, ".yaml"));
    ASSERT_TRUE(published.ok()) << published.status();
    for (const PublishedColumn& column : *published) {
      EXPECT_EQ(column.measured.size(), published->front().measured.size()) << column.name;
      EXPECT_EQ(column.measured.begin()->first, published->front().measured.begin()->first);
    }
  }
}

TEST(ScorePageTest, WhatIsNoScoreIsNamed) {
  const TestFolder folder;
  const std::string path = folder.path() + "/published.yaml";
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"A: {a: 1}\nB: {a: much}\n", "published.yaml:2:8: B, a: got 'much'; allowed: a number"},
           {"A: 5\n", "published.yaml:1:1: A: got '5'; allowed: {task: number, ...}"},
           {"A: {a: 1}\nA: {a: 2}\n", "published.yaml:2:1: A: duplicate key"}}) {
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
    EXPECT_THAT(std::string(ReadPublished(path).status().message()), HasSubstr(message));
  }
  EXPECT_TRUE(absl::IsNotFound(ReadPublished(folder.path() + "/none.yaml").status()));
}

}  // namespace
}  // namespace lzero::score_page_test
