// A run's folder: its name, its files, and what is refused.
#include "lzero/run/run_folder.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/base/log.h"
#include "nlohmann/json.hpp"
#include "tests/run/test_folder.h"

namespace lzero::run_folder_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunFolderTest : public testing::Test {
 protected:
  TestFolder test_folder_;
  std::string root_ = test_folder_.path() + "/runs";
};

RunDescription Example() {
  RunDescription description;
  description.env_id = "cartpole";
  description.name = "cartpole_unizero";
  description.seed = 3;
  description.config_path = "/configs/my.yaml";
  description.config_text = "extends: base.yaml\nseed: 3\n";
  description.resolved_text = "seed: 3\ndeterministic: false\n";
  description.version = "0.1.0";
  description.command_line = {"lzero", "train", "a config.yaml", "seed=3"};
  description.start_time = absl::FromUnixSeconds(1700000000);  // 2023-11-14 22:13:20 UTC
  return description;
}

TEST_F(RunFolderTest, HasNameAndFiles) {
  const auto run_dir = CreateRunFolder(root_, Example());
  ASSERT_TRUE(run_dir.ok()) << run_dir.status();
  EXPECT_EQ(run_dir->path, root_ + "/cartpole/cartpole_unizero-s3-20231114T221320Z");
  EXPECT_EQ(*ReadFile(run_dir->path + "/config.yaml"),
            "# Copy of /configs/my.yaml; `extends` is relative to that file.\n"
            "# Every setting of this run: config.resolved.yaml\n"
            "extends: base.yaml\nseed: 3\n");
  EXPECT_EQ(*ReadFile(run_dir->path + "/config.resolved.yaml"), "seed: 3\ndeterministic: false\n");
  const auto manifest = nlohmann::json::parse(*ReadFile(run_dir->path + "/manifest.json"));
  EXPECT_EQ(manifest["lzero_version"], "0.1.0");
  EXPECT_EQ(manifest["env"], "cartpole");
  EXPECT_EQ(manifest["name"], "cartpole_unizero");
  EXPECT_EQ(manifest["seed"], 3);
  EXPECT_EQ(manifest["start_time"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(manifest["command_line"],
            (std::vector<std::string>{"lzero", "train", "a config.yaml", "seed=3"}));
  EXPECT_FALSE(manifest.contains("git_commit"));
}

TEST(ConfigCopyTest, NeitherPathNorMarkCanBreakTheCopy) {
  EXPECT_THAT(ConfigCopyText("/a\nseed: 9", "seed: 3\n"),
              StartsWith("# Copy of /a?seed: 9; `extends` "));
  const std::string text = ConfigCopyText("/a.yaml", "\xef\xbb\xbfseed: 3\r\n");
  EXPECT_THAT(text, StartsWith("\xef\xbb\xbf# Copy of /a.yaml;"));
  EXPECT_THAT(text, EndsWith("\nseed: 3\r\n"));
}

TEST_F(RunFolderTest, ManifestHasTheCommitWhenKnown) {
  RunDescription description = Example();
  description.git_commit = "0123abcd";
  const auto run_dir = CreateRunFolder(root_, description);
  ASSERT_TRUE(run_dir.ok());
  EXPECT_EQ(nlohmann::json::parse(*ReadFile(run_dir->path + "/manifest.json"))["git_commit"],
            "0123abcd");
}

TEST_F(RunFolderTest, LogGoesToTheFolder) {
  auto run_dir = CreateRunFolder(root_, Example());
  ASSERT_TRUE(run_dir.ok());
  const std::string path = run_dir->path;
  LZ_LOG_INFO("a line for the log");
  EXPECT_THAT(*ReadFile(path + "/log.txt"), HasSubstr("a line for the log"));
  run_dir = absl::CancelledError();  // the run is over
  ASSERT_TRUE(OpenRunFolder(path).ok());
  LZ_LOG_INFO("after opening again");
  const std::string log = *ReadFile(path + "/log.txt");
  EXPECT_THAT(log, HasSubstr("a line for the log"));
  EXPECT_THAT(log, HasSubstr("after opening again"));
}

TEST_F(RunFolderTest, TwoRunsOfOneSecondGetTwoFolders) {
  const auto first = CreateRunFolder(root_, Example());
  const auto second = CreateRunFolder(root_, Example());
  const auto third = CreateRunFolder(root_, Example());
  ASSERT_TRUE(first.ok() && second.ok() && third.ok());
  EXPECT_EQ(second->path, first->path + "-2");
  EXPECT_EQ(third->path, first->path + "-3");
}

TEST_F(RunFolderTest, NameCannotLeaveTheRoot) {
  RunDescription description = Example();
  description.env_id = "../outside";
  description.name = "a/b c\xc3\xa9";
  const auto run_dir = CreateRunFolder(root_, description);
  ASSERT_TRUE(run_dir.ok());
  EXPECT_EQ(run_dir->path, root_ + "/-.-outside/a-b-c---s3-20231114T221320Z");
  description.name = "";
  EXPECT_THAT(CreateRunFolder(root_, description)->path, HasSubstr("/run-s3-"));
}

TEST_F(RunFolderTest, GivenFolderMustBeEmpty) {
  const std::string given = root_ + "/given";
  ASSERT_TRUE(CreateRunFolderAt(given, Example(), "tools/run.sh").ok());
  EXPECT_TRUE(FileExists(given + "/manifest.json"));
  const absl::Status status = CreateRunFolderAt(given, Example(), "tools/run.sh").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(std::string(status.message()),
            "run folder " + given +
                " is not empty (it holds config.resolved.yaml): give an empty or new folder, or "
                "continue the run in it with: tools/run.sh resume " +
                given);
  ASSERT_TRUE(MakeDirectories(root_ + "/empty").ok());
  EXPECT_TRUE(CreateRunFolderAt(root_ + "/empty", Example(), "lzero").ok());
}

TEST_F(RunFolderTest, WhetherAFolderWouldBeTakenIsToldWithoutMakingIt) {
  const std::string given = root_ + "/given";
  EXPECT_TRUE(CheckRunFolderAt(given, "lzero").ok());
  EXPECT_FALSE(FileExists(given));
  ASSERT_TRUE(MakeDirectories(given).ok());
  EXPECT_TRUE(CheckRunFolderAt(given, "lzero").ok());
  EXPECT_THAT(*ListDirectory(given), testing::IsEmpty());
  ASSERT_TRUE(CreateRunFolderAt(given, Example(), "lzero").ok());
  EXPECT_EQ(CheckRunFolderAt(given, "lzero"),
            CreateRunFolderAt(given, Example(), "lzero").status());
  EXPECT_THAT(std::string(CheckRunFolderAt(given, "lzero").message()), HasSubstr("is not empty"));
  const std::string file = given + "/manifest.json";
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckRunFolderAt(file, "lzero")));
  EXPECT_EQ(CheckRunFolderAt(file, "lzero").message(),
            "run folder " + file + " is a file; allowed: an empty or new folder");
  EXPECT_EQ(CreateRunFolderAt(file, Example(), "lzero").status(), CheckRunFolderAt(file, "lzero"));
  const auto held = OpenRunFolder(given);
  EXPECT_THAT(std::string(CheckRunFolderAt(given, "lzero").message()), HasSubstr("is in use by"));
}

TEST_F(RunFolderTest, ARefusedFolderStaysAsItWas) {
  const std::string photos = root_ + "/photos";
  ASSERT_TRUE(MakeDirectories(photos).ok());
  ASSERT_TRUE(AppendFile(photos + "/cat.jpg", "x").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(CreateRunFolderAt(photos, Example(), "lzero").status()));
  EXPECT_EQ(*ListDirectory(photos), std::vector<std::string>{"cat.jpg"});
}

TEST_F(RunFolderTest, AFolderInUseIsRefusedUntilItsHolderIsGone) {
  const std::string given = root_ + "/given";
  const std::string in_use = "run folder " + given + " is in use by process " +
                             std::to_string(getpid()) +
                             ": wait for it, or stop it with Ctrl-C or kill, then try again";
  {
    const auto held = CreateRunFolderAt(given, Example(), "lzero");
    ASSERT_TRUE(held.ok()) << held.status();
    for (const absl::Status& status :
         {OpenRunFolder(given).status(), CreateRunFolderAt(given, Example(), "lzero").status()}) {
      EXPECT_TRUE(absl::IsFailedPrecondition(status));
      EXPECT_EQ(status.message(), in_use);
    }
  }
  const auto resumed = OpenRunFolder(given);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(OpenRunFolder(given).status().message(), in_use);
}

TEST_F(RunFolderTest, ANewRunIsLockedToo) {
  const auto held = CreateRunFolder(root_, Example());
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenRunFolder(held->path).status()));
}

TEST_F(RunFolderTest, OpenRefusesWhatIsNoRun) {
  EXPECT_THAT(std::string(OpenRunFolder(root_ + "/none").status().message()),
              HasSubstr("no such run folder"));
  ASSERT_TRUE(MakeDirectories(root_).ok());
  EXPECT_THAT(std::string(OpenRunFolder(root_).status().message()),
              HasSubstr("is not the folder of a run: no manifest.json"));
}

TEST_F(RunFolderTest, ReportsARootThatCannotBeMade) {
  ASSERT_TRUE(AppendFile(test_folder_.path() + "/a_file", "x").ok());
  const absl::Status status =
      CreateRunFolder(test_folder_.path() + "/a_file/runs", Example()).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("a_file/runs"));
  // The kernel says "no such file" there, and still no other name would help.
  EXPECT_TRUE(absl::IsUnavailable(CreateRunFolderAt("/proc/x", Example(), "lzero").status()));
}

}  // namespace
}  // namespace lzero::run_folder_test
