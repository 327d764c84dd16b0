// Run folders read back: what they tell, and what is said of damaged ones.
#include "lzero/results/run_record.h"

#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/run/run_folder.h"
#include "tests/results/made_run.h"
#include "tests/run/test_folder.h"

namespace lzero::run_record_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunRecordTest : public testing::Test {
 protected:
  TestFolder folder_;
  std::string root_ = folder_.path();
};

TEST_F(RunRecordTest, ReadsAFolder) {
  MadeRun made;
  made.config.seed = 3;
  made.config.env.id = "catch";
  made.evaluations = {{100, 5.0}, {200, 9.0}, {300, 7.0}};
  MakeRun(root_ + "/a", made);
  ASSERT_TRUE(AppendFile(root_ + "/a/metrics.jsonl",
                         "{\"env_steps\":300,\"time/wall_seconds\":12.5,\"x\":1}\n{\"env_st")
                  .ok());
  const auto run = ReadRun(root_ + "/a");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->name, "made");
  EXPECT_EQ(run->git_commit, "abc1234");
  EXPECT_EQ(run->config.seed, 3);
  EXPECT_EQ(run->state, "finished");
  EXPECT_EQ(run->env_steps, 1000);
  EXPECT_EQ(run->wall_seconds, 12.5);
  EXPECT_EQ(FinalReturn(*run), 7.0);
  EXPECT_EQ(BestReturn(*run), 9.0);
  EXPECT_EQ(EnvironmentOf(run->config), "catch");
}

TEST_F(RunRecordTest, CountsEvaluationsInARow) {
  RunRecord run;
  for (const double mean : {9.0, 5.0, 8.0, 9.0, 2.0, 8.0, 8.5, 9.0}) {
    run.evaluations.push_back({static_cast<int64_t>(run.evaluations.size() + 1) * 10, 1, mean, ""});
  }
  EXPECT_EQ(StepsToTarget(run, 8.0, 1), std::optional<int64_t>(10));
  EXPECT_EQ(StepsToTarget(run, 8.0, 2), std::optional<int64_t>(40));
  EXPECT_EQ(StepsToTarget(run, 8.0, 3), std::optional<int64_t>(80));
  EXPECT_EQ(StepsToTarget(run, 8.0, 4), std::nullopt);
  EXPECT_EQ(StepsToTarget(run, 8.6, 2), std::nullopt);
}

TEST_F(RunRecordTest, TheLockTellsWhetherARunIsRunning) {
  MadeRun made;
  made.state = RunState::kRunning;
  MakeRun(root_ + "/a", made);
  EXPECT_EQ(ReadRun(root_ + "/a")->state, "stopped");
  {
    const auto lock = RunLock::Acquire(root_ + "/a");
    EXPECT_EQ(ReadRun(root_ + "/a")->state, "running");
  }
  EXPECT_EQ(ReadRun(root_ + "/a")->state, "stopped");
}

TEST_F(RunRecordTest, FindsRunsAtAnyDepth) {
  for (const char* name : {"/b/deep/er/x", "/b/y", "/a"}) MakeRun(root_ + name, {});
  MakeRun(root_ + "/a/inner", {});  // belongs to the run that it lies in
  ASSERT_TRUE(MakeDirectories(root_ + "/c").ok());
  EXPECT_THAT(*FindRuns(root_), ElementsAre(root_ + "/a", root_ + "/b/deep/er/x", root_ + "/b/y"));
  EXPECT_THAT(*FindRuns(root_ + "/a"), ElementsAre(root_ + "/a"));
  EXPECT_TRUE(FindRuns(root_ + "/c")->empty());
  EXPECT_THAT(std::string(FindRuns(root_ + "/none").status().message()),
              HasSubstr("no such folder"));
  EXPECT_THAT(std::string(FindRuns(root_ + "/a/status.json").status().message()),
              HasSubstr("is a file"));
}

TEST_F(RunRecordTest, NamesWhatIsDamaged) {
  for (const char* name : {"manifest.json", "config.resolved.yaml", "status.json"}) {
    const std::string run = root_ + "/" + name;
    MakeRun(run, {});
    ASSERT_TRUE(WriteFileAtomic(JoinPath(run, name), "{half").ok());
    const absl::Status status = ReadRun(run).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(JoinPath(run, name)));
  }
}

TEST_F(RunRecordTest, SeveralTasksAreAnEnvironmentOfTheirOwnWithoutATarget) {
  ExperimentConfig config, catcher, pole;
  config.stop.target_return = 3.0;
  EXPECT_EQ(TargetOf(config), 3.0);
  config.score.measure = ScoreMeasure::kGrade;
  EXPECT_EQ(TargetOf(config), std::nullopt);
  catcher.name = "drop";
  catcher.env.id = "catch";
  catcher.stop.target_return = 1.0;
  pole.name = "pole";
  config.tasks = {catcher};
  EXPECT_EQ(EnvironmentOf(config), "catch");
  EXPECT_EQ(TargetOf(config), 1.0);
  config.tasks.push_back(pole);
  EXPECT_EQ(EnvironmentOf(config), "tasks drop, pole");
  EXPECT_EQ(TargetOf(config), std::nullopt);
}

}  // namespace
}  // namespace lzero::run_record_test
