#include "tools/verbs/support/run_path.h"

#include <unistd.h>

#include <filesystem>

#include "gtest/gtest.h"

namespace lzero::run_path_test {
namespace {

namespace fs = std::filesystem;

// A folder that is the current one while the test runs, with a run in it.
class RunPathTest : public testing::Test {
 protected:
  RunPathTest() : before_(fs::current_path()) {
    const std::string name = "run_path_" + std::to_string(getpid());
    folder_ = fs::canonical(fs::path(testing::TempDir())) / name;
    fs::create_directories(folder_ / "run/checkpoints/step_000000100");
    fs::create_directory_symlink("step_000000100", folder_ / "run/checkpoints/best");
    fs::create_directory_symlink("run/checkpoints/best", folder_ / "link");
    fs::current_path(folder_);
  }
  ~RunPathTest() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  fs::path before_, folder_;
};

TEST_F(RunPathTest, TheRunIsNamedAsItWasTyped) {
  EXPECT_EQ(TypedRunFolder("run/"), "run");
  EXPECT_EQ(TypedRunFolder("./run"), "./run");
  EXPECT_EQ(TypedRunFolder("nowhere/"), "nowhere");
  EXPECT_EQ(TypedRunFolder("run/checkpoints/step_000000100/"), "run");
  EXPECT_EQ(TypedRunFolder("./run/checkpoints/best"), "./run");
  const std::string absolute = (folder_ / "run").string();
  EXPECT_EQ(TypedRunFolder(absolute + "/checkpoints/best"), absolute);
}

TEST_F(RunPathTest, WhatWasTypedWithoutTheRunBecomesAbsolute) {
  EXPECT_EQ(TypedRunFolder("link"), (folder_ / "run").string());
  fs::current_path(folder_ / "run");
  EXPECT_EQ(TypedRunFolder("checkpoints/best"), (folder_ / "run").string());
}

TEST_F(RunPathTest, ACheckpointIsNamedInsideTheTypedRun) {
  const std::string checkpoint = (folder_ / "run/checkpoints/step_000000100").string();
  EXPECT_EQ(TypedCheckpoint("run/", checkpoint), "run/checkpoints/step_000000100");
  EXPECT_EQ(TypedCheckpoint("run/checkpoints/best", checkpoint), "run/checkpoints/step_000000100");
  EXPECT_EQ(TypedCheckpoint("elsewhere", checkpoint), checkpoint);
}

}  // namespace
}  // namespace lzero::run_path_test
