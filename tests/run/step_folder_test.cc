#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/run/run_folder.h"
#include "tests/run/test_folder.h"

namespace lzero::step_folder_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StepFolderTest, NamesReadBack) {
  EXPECT_EQ(StepName(42), "step_000000042");
  for (const int64_t step : {int64_t{0}, int64_t{7}, int64_t{999999999}, int64_t{12345678901}}) {
    EXPECT_EQ(StepOf(StepName(step)), step);
  }
  for (const char* other : {"", "step_", "step_42", "step_000000042.aside", "step_000000042.tmp",
                            "step_-00000042", "latest", "xstep_000000042"}) {
    EXPECT_EQ(StepOf(other), -1) << other;
  }
}

TEST(StepFolderTest, LaterStepsAreSetAside) {
  const TestFolder folder;
  const auto make = [&](const char* name) {
    ASSERT_TRUE(MakeDirectories(JoinPath(folder.path(), name)).ok());
  };
  for (const char* name : {"step_000000005", "step_000000010", "step_000000015", "step_1",
                           "step_000000020", "step_000000020.aside", "notes"}) {
    make(name);
  }
  ASSERT_TRUE(WriteFileAtomic(folder.path() + "/step_000000020/new", "").ok());
  const auto set_aside = SetLaterStepsAside(folder.path(), 10);
  ASSERT_TRUE(set_aside.ok()) << set_aside.status();
  EXPECT_THAT(*set_aside, ElementsAre(folder.path() + "/step_000000015.aside",
                                      folder.path() + "/step_000000020.aside"));
  EXPECT_THAT(ListDirectory(folder.path()).value(),
              ElementsAre("notes", "step_000000005", "step_000000010", "step_000000015.aside",
                          "step_000000020.aside", "step_1"));
  EXPECT_TRUE(FileExists(folder.path() + "/step_000000020.aside/new"));
  EXPECT_THAT(*SetLaterStepsAside(folder.path(), 10), IsEmpty());
  make("step_1000000000");
  make("step_999999999");
  EXPECT_THAT(*SetLaterStepsAside(folder.path(), 10),
              ElementsAre(folder.path() + "/step_999999999.aside",
                          folder.path() + "/step_1000000000.aside"));
  EXPECT_THAT(*SetLaterStepsAside(folder.path() + "/missing", -1), IsEmpty());
}

}  // namespace
}  // namespace lzero::step_folder_test
