// Which runs belong together, how groups are called, and what is said of runs that are left out.
#include "lzero/results/run_group.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "tests/results/made_run.h"
#include "tests/run/test_folder.h"

namespace lzero::run_group_test {
namespace {

using ::testing::HasSubstr;

class RunGroupTest : public testing::Test {
 protected:
  void Make(const std::string& name, int64_t seed, double learning_rate = 1e-3,
            RunState state = RunState::kFinished) {
    MadeRun made;
    made.config.seed = seed;
    made.config.train.learning_rate = learning_rate;
    made.state = state;
    made.evaluations = {{100, 1.0}};
    made.start_time += absl::Seconds(num_made_++);
    MakeRun(JoinPath(root_, name), made);
  }
  std::string Message(const std::vector<std::string>& paths, const CollectOptions& options = {}) {
    return std::string(CollectRuns(paths, options).status().message());
  }

  TestFolder folder_;
  std::string root_ = folder_.path();
  int num_made_ = 0;
};

TEST_F(RunGroupTest, ASweepHasAGroupACombination) {
  for (const int seed : {10, 9, 0}) {
    Make("sweep/slow/seed_" + std::to_string(seed), seed, 1e-4);
    Make("sweep/fast/seed_" + std::to_string(seed), seed, 1e-2);
  }
  const auto runs = CollectRuns({root_ + "/sweep/"}, {});
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->groups.size(), 2u);
  EXPECT_EQ(runs->groups[0].label, root_ + "/sweep: train.learning_rate=0.01");
  EXPECT_EQ(runs->groups[1].label, root_ + "/sweep: train.learning_rate=0.0001");
  ASSERT_EQ(runs->groups[0].runs.size(), 3u);
  EXPECT_EQ(runs->groups[0].runs[1].config.seed, 9);  // as numbers, not as text
  ASSERT_EQ(DiffGroups(runs->groups[0], runs->groups[1]).size(), 1u);
}

TEST_F(RunGroupTest, FoldersAreKeptApartAndNamedRunsPutTogether) {
  for (const char* name : {"a/0", "b/0"}) Make(name, 0);
  Make("b/1", 1);
  const auto folders = CollectRuns({root_ + "/a", root_ + "/b"}, {});
  ASSERT_EQ(folders->groups.size(), 2u);
  EXPECT_EQ(folders->groups[1].label, root_ + "/b");
  const auto named = CollectRuns({root_ + "/a/0", root_ + "/b/1"}, {});
  ASSERT_EQ(named->groups.size(), 1u);
  EXPECT_EQ(named->groups[0].runs.size(), 2u);
  EXPECT_EQ(named->groups[0].label, "made");
  EXPECT_EQ(CollectRuns({root_ + "/a/0"}, {})->groups[0].label, root_ + "/a/0");
}

TEST_F(RunGroupTest, OfEqualSeedsTheNewestIsTaken) {
  Make("a/first", 4), Make("a/second", 4);
  const auto runs = CollectRuns({root_ + "/a"}, {});
  ASSERT_EQ(runs->groups[0].runs.size(), 1u);
  EXPECT_EQ(runs->groups[0].runs[0].path, root_ + "/a/second");
  ASSERT_EQ(runs->skipped.size(), 1u);
  EXPECT_EQ(runs->skipped[0].path, root_ + "/a/first");
  EXPECT_EQ(CollectRuns({root_ + "/a/first", root_ + "/a/first"}, {})->skipped.size(), 0u);
}

TEST_F(RunGroupTest, AFinishedRunIsTakenBeforeANewerOneThatIsNot) {
  Make("a/whole", 4), Make("a/begun", 4, 1e-3, RunState::kInterrupted);
  const auto runs = CollectRuns({root_ + "/a"}, {.take_unfinished = true});
  ASSERT_EQ(runs->groups[0].runs.size(), 1u);
  EXPECT_EQ(runs->groups[0].runs[0].path, root_ + "/a/whole");
  EXPECT_THAT(runs->skipped[0].reason, HasSubstr("/a/whole, which is finished"));
}

TEST_F(RunGroupTest, LabelsNameWhatTellsGroupsApartAndNoMore) {
  for (const int64_t simulations : {4, 16}) {
    MadeRun made;
    made.evaluations = {{100, 1.0}};
    made.config.search.num_simulations = simulations;
    MakeRun(root_ + "/a/counting" + std::to_string(simulations), made);
  }
  MadeRun other;
  other.evaluations = {{100, 1.0}};
  other.config.env.id = "catch", other.config.checkpoint.keep = 9;
  MakeRun(root_ + "/a/other", other);
  const auto runs = CollectRuns({root_ + "/a"}, {});
  ASSERT_EQ(runs->groups.size(), 3u);
  const std::string cartpole = root_ + "/a: env.id=cartpole search.num_simulations=";
  EXPECT_EQ(runs->groups[0].label, cartpole + "4");
  EXPECT_EQ(runs->groups[1].label, cartpole + "16");
  EXPECT_EQ(runs->groups[2].label, root_ + "/a: env.id=catch");
}

TEST_F(RunGroupTest, TheModelFamilyNamesAGroupBeforeWhenItIsEvaluated) {
  for (const Family family : {Family::kUniZero, Family::kMuZero}) {
    MadeRun made;
    made.evaluations = {{100, 1.0}};
    made.config.model.family = family;
    made.config.evaluate.episodes = 3 + static_cast<int>(family);
    MakeRun(root_ + "/a/" + std::to_string(static_cast<int>(family)), made);
  }
  const auto runs = CollectRuns({root_ + "/a"}, {});
  ASSERT_EQ(runs->groups.size(), 2u);
  EXPECT_EQ(runs->groups[0].label, root_ + "/a: model.family=unizero");
}

TEST_F(RunGroupTest, UselessRunsAreSkippedByNameOrRefused) {
  Make("a/good", 0), Make("a/stopped", 1, 1e-3, RunState::kInterrupted), Make("a/broken", 2);
  MadeRun unevaluated;
  unevaluated.config.seed = 5;
  MakeRun(root_ + "/a/unevaluated", unevaluated);
  ASSERT_TRUE(WriteFileAtomic(root_ + "/a/broken/eval/step_000000100/summary.json", "{").ok());
  const auto runs = CollectRuns({root_ + "/a"}, {});
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->groups.size(), 1u);
  ASSERT_EQ(runs->groups[0].runs.size(), 1u);
  ASSERT_EQ(runs->skipped.size(), 3u);
  EXPECT_THAT(runs->skipped[0].reason, HasSubstr("step_000000100/summary.json"));
  EXPECT_EQ(runs->skipped[1].reason,
            "is interrupted at 1000 env steps; --unfinished takes it as it is");
  EXPECT_THAT(runs->skipped[2].reason, HasSubstr("has no evaluation"));
  EXPECT_EQ(CollectRuns({root_ + "/a"}, {true, true})->skipped.size(), 1u);
  // Named itself, each is an error.
  EXPECT_THAT(Message({root_ + "/a/stopped"}), HasSubstr("/a/stopped: is interrupted at 1000"));
  EXPECT_THAT(Message({root_ + "/a/broken"}), HasSubstr("summary.json"));
  EXPECT_THAT(Message({root_ + "/a/unevaluated"}), HasSubstr("has no evaluation"));
}

TEST_F(RunGroupTest, FoldersWithoutRunsAreRefused) {
  ASSERT_TRUE(MakeDirectories(root_ + "/empty").ok());
  EXPECT_THAT(Message({root_ + "/empty"}), HasSubstr("/empty holds no run"));
  EXPECT_THAT(Message({root_ + "/none"}), HasSubstr("no such folder"));
  MakeRun(root_ + "/b/unevaluated", {});
  EXPECT_THAT(Message({root_ + "/b"}), HasSubstr("no run is left of 1: "));
}

}  // namespace
}  // namespace lzero::run_group_test
