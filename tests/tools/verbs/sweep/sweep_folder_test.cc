#include "tools/verbs/sweep/sweep_folder.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/dump.h"
#include "lzero/results/run_record.h"

namespace lzero::sweep_folder_test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

SweepIdentity Example() {
  SweepIdentity sweep;
  sweep.name = "catch";
  sweep.config.env.settings = {{"rows", "5"}};
  sweep.config.plugins = {"/a/b.so"};
  sweep.config.seed = 7;
  sweep.axes = {{"train.batch_size", {"32", "64"}}};
  sweep.seeds = {0, 1, 5};
  sweep.program = "lzero 1 (abc)";
  sweep.command = "lzero sweep catch.yaml";
  return sweep;
}

class SweepFolderTest : public testing::Test {
 protected:
  SweepFolderTest() { fs::remove_all(folder_); }
  ~SweepFolderTest() override { fs::remove_all(folder_); }
  std::string Error(const SweepIdentity& wanted) const {
    return std::string(CheckSweepFolder(folder_, wanted).status().message());
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "/sweep_folder_", getpid());
};

TEST_F(SweepFolderTest, WhatIsWrittenIsReadBackWithoutTheSeed) {
  const SweepIdentity sweep = Example();
  const auto read = ParseSweepJson(SweepJson(sweep), "sweep.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, "catch");
  EXPECT_EQ(read->program, "lzero 1 (abc)");
  EXPECT_EQ(read->command, "lzero sweep catch.yaml");
  EXPECT_EQ(read->axes, sweep.axes);
  EXPECT_EQ(read->seeds, sweep.seeds);
  EXPECT_THAT(ConfigWithoutSeed(sweep.config), Not(HasSubstr("\nseed:")));
  const auto differences = DiffConfigs(read->config, sweep.config);
  ASSERT_EQ(differences.size(), 1);
  EXPECT_EQ(differences[0].key, "seed");
}

TEST_F(SweepFolderTest, DifferencesAreNamedAndMoreSeedsAreNone) {
  const SweepIdentity stored = Example();
  SweepIdentity wanted = Example();
  wanted.program = "lzero 2";
  wanted.command = "lzero sweep ./catch.yaml";
  wanted.config.seed = 1;
  wanted.config.train.batch_size = 32;  // of an axis
  wanted.seeds = {0, 1, 2, 5};
  EXPECT_THAT(SweepDifferences(stored, wanted), IsEmpty());
  wanted.seeds = {0, 1};
  wanted.config.train.learning_rate = 0.5;
  wanted.axes[0].values = {"32"};
  EXPECT_THAT(SweepDifferences(stored, wanted),
              ElementsAre("train.learning_rate=0.001 there, 0.5 asked for",
                          "train.batch_size=32,64 there, train.batch_size=32 asked for",
                          "seeds 0,1,5 there, 0,1 asked for"));
}

TEST_F(SweepFolderTest, ANewAnEmptyAndTheSameFolderAreTakenOthersAreNot) {
  SweepIdentity sweep = Example();
  auto found = CheckSweepFolder(folder_, sweep);
  ASSERT_TRUE(found.ok() && !found->has_value());
  // Killed before sweep.json was complete.
  fs::create_directories(folder_);
  std::ofstream(folder_ + "/.lock") << "1\n";
  std::ofstream(folder_ + "/sweep.json.tmp") << "{";
  found = CheckSweepFolder(folder_, sweep);
  ASSERT_TRUE(found.ok() && !found->has_value());
  // Taken by something else.
  std::ofstream(folder_ + "/notes") << "x";
  EXPECT_THAT(Error(sweep), HasSubstr("is not empty and holds no sweep (it holds notes)"));
  // The same sweep, another one, a damaged one.
  const auto config_path = WriteSweep(folder_, sweep);
  EXPECT_EQ(*config_path, folder_ + "/catch.yaml");
  found = CheckSweepFolder(folder_, sweep);
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->seeds, sweep.seeds);
  sweep.axes.clear();
  EXPECT_THAT(Error(sweep), HasSubstr("train.batch_size=32,64 there, no grid asked for"));
  TrainConfig& train = sweep.config.train;
  train.beta1 = train.beta2 = train.grad_clip = train.weight_decay = train.learning_rate = 0.25;
  train.start_env_steps = train.log_every_updates = 9;
  EXPECT_THAT(Error(sweep), HasSubstr("and 2 more"));
  fs::resize_file(folder_ + "/sweep.json", 20);
  EXPECT_TRUE(absl::IsDataLoss(CheckSweepFolder(folder_, sweep).status()));
  EXPECT_THAT(Error(sweep), HasSubstr(folder_ + "/sweep.json"));
  // A file.
  EXPECT_THAT(CheckSweepFolder(folder_ + "/notes", sweep).status().message(),
              HasSubstr("notes is a file"));
}

}  // namespace
}  // namespace lzero::sweep_folder_test
