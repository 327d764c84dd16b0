// What evaluations write and read back, against files written out by hand.
#include "lzero/run/evaluation_files.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/run/test_folder.h"

namespace lzero::evaluation_files_test {
namespace {

using ::testing::HasSubstr;

std::vector<EpisodeRow> ThreeEpisodes() {
  return {{11, 200.0, 200, false, true}, {12, 9.5, 10, true, false}, {13, 0.1, 3, true, false}};
}

TEST(EvaluationFilesTest, CsvHasOneLineAnEpisode) {
  EXPECT_EQ(EpisodesCsv(ThreeEpisodes()),
            "episode,seed,return,length,terminated,truncated\n"
            "0,11,200,200,0,1\n"
            "1,12,9.5,10,1,0\n"
            "2,13,0.1,3,1,0\n");
}

TEST(EvaluationFilesTest, SummaryOfEpisodes) {
  const ReturnSummary summary = SummarizeEpisodes(ThreeEpisodes(), 5);
  EXPECT_EQ(summary.num_episodes, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 209.6 / 3.0);
  EXPECT_DOUBLE_EQ(summary.median, 9.5);
  EXPECT_DOUBLE_EQ(summary.interquartile_mean, 209.6 / 3.0);
  EXPECT_EQ(summary.min, 0.1);
  EXPECT_EQ(summary.max, 200.0);
  EXPECT_DOUBLE_EQ(summary.mean_length, 71.0);
  EXPECT_LE(summary.interval.low, summary.mean);
  EXPECT_GE(summary.interval.high, summary.mean);
}

TEST(EvaluationFilesTest, WritesAnEvaluation) {
  const TestFolder test_folder;
  const std::string& run_dir = test_folder.path();
  ReturnSummary summary = SummarizeEpisodes(ThreeEpisodes(), 5);
  summary.standard_deviation = std::numeric_limits<double>::quiet_NaN();
  const auto folder = WriteEvaluation(run_dir, 2500, summary, ThreeEpisodes());
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(*folder, run_dir + "/eval/step_000002500");
  EXPECT_EQ(*ReadFile(*folder + "/episodes.csv"), EpisodesCsv(ThreeEpisodes()));
  const auto json = nlohmann::json::parse(*ReadFile(*folder + "/summary.json"));
  EXPECT_EQ(json["env_steps"], 2500);
  EXPECT_EQ(json["num_episodes"], 3);
  EXPECT_EQ(json["return_median"], 9.5);
  EXPECT_EQ(json["return_iqm_interval"].size(), 2u);
  EXPECT_TRUE(json["return_std"].is_null());  // JSON has no NaN
}

TEST(EvaluationFilesTest, ReadsWhatItWrote) {
  const TestFolder test_folder;
  const std::string& run_dir = test_folder.path();
  EXPECT_TRUE(ReadEvaluations(run_dir)->empty());
  for (const int64_t env_steps : {2500, 10000, 500}) {
    std::vector<EpisodeRow> episodes = ThreeEpisodes();
    episodes[0].episode_return = static_cast<double>(env_steps);
    ASSERT_TRUE(WriteEvaluation(run_dir, env_steps, SummarizeEpisodes(episodes, 5), episodes).ok());
  }
  ASSERT_TRUE(RewindEvaluations(run_dir, 2500).ok());
  const auto evaluations = ReadEvaluations(run_dir);
  ASSERT_TRUE(evaluations.ok()) << evaluations.status();
  ASSERT_EQ(evaluations->size(), 2u);  // that of 10,000 was set aside
  EXPECT_EQ((*evaluations)[1].env_steps, 2500);
  EXPECT_EQ((*evaluations)[1].num_episodes, 3);
  EXPECT_DOUBLE_EQ((*evaluations)[1].mean, 2509.6 / 3.0);
  const auto rows = ReadEpisodes((*evaluations)[1].folder);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_EQ((*rows)[1].seed, 12u);
  EXPECT_EQ((*rows)[1].episode_return, 9.5);
  EXPECT_EQ((*rows)[1].length, 10);
  EXPECT_TRUE((*rows)[1].terminated);
  EXPECT_FALSE((*rows)[1].truncated);
}

TEST(EvaluationFilesTest, NamesDamagedFiles) {
  const TestFolder test_folder;
  const auto folder = WriteEvaluation(test_folder.path(), 7, SummarizeEpisodes(ThreeEpisodes(), 5),
                                      ThreeEpisodes());
  const std::string episodes = *folder + "/episodes.csv", summary = *folder + "/summary.json";
  ASSERT_TRUE(WriteFileAtomic(episodes, "head\n0,11,200,200,0,1\n1,12,much,10,1,0\n").ok());
  EXPECT_THAT(std::string(ReadEpisodes(*folder).status().message()),
              HasSubstr("episodes.csv:3: is no episode"));
  ASSERT_TRUE(WriteFileAtomic(episodes, "head\n").ok());
  EXPECT_THAT(std::string(ReadEpisodes(*folder).status().message()), HasSubstr("no episode"));
  ASSERT_TRUE(WriteFileAtomic(summary, "{\"env_steps\": 7}").ok());
  const absl::Status status = ReadEvaluations(test_folder.path()).status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(summary));
}

}  // namespace
}  // namespace lzero::evaluation_files_test
