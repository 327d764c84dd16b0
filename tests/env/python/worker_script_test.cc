#include "lzero/env/python/worker_script.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/env/python/child_process.h"

namespace lzero::worker_script_test {
namespace {

std::string Source(const std::string& name) {
  const auto text = ReadFile(absl::StrCat(LZ_TEST_DATA, "/../lzero/env/python/", name));
  return text.ok() ? *text : "";
}

TEST(WorkerScriptTest, HoldsBothFilesInTheirOrder) {
  const std::string script(WorkerScript());
  const std::string tasks = Source("worker_tasks.py"), worker = Source("worker.py");
  ASSERT_FALSE(tasks.empty());
  ASSERT_FALSE(worker.empty());
  const size_t first = script.find(tasks), second = script.find(worker);
  ASSERT_NE(first, script.npos) << "worker_tasks.py is not in it as it is";
  ASSERT_NE(second, script.npos) << "worker.py is not in it as it is";
  EXPECT_LT(first, second);
  EXPECT_EQ(script.find('\0'), script.npos) << "Python would stop there";
}

TEST(WorkerScriptTest, IsAsciiSoThatNoLocaleMatters) {
  for (const char c : WorkerScript()) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

// Parsed, not run: main() would wait for messages.
TEST(WorkerScriptTest, IsPython) {
  const std::string program =
      absl::StrCat("import ast, sys\nast.parse(open(sys.argv[1]).read())\n");
  const std::string path =
      absl::StrCat(testing::TempDir(), "/worker_script_test_", getpid(), ".py");
  ASSERT_TRUE(WriteFileAtomic(path, std::string(WorkerScript())).ok());
  const auto child = ChildProcess::Start({"python3", "-c", program, path}, {});
  if (!child.ok()) GTEST_SKIP() << child.status().message();
  ASSERT_TRUE((*child)->WaitForEnd(20.0));
  EXPECT_EQ((*child)->end_text(), "exited with status 0") << (*child)->OutputTail(2000);
}

// Imports that every message would wait for, or that a plain Python has not, come with a task only.
TEST(WorkerScriptTest, StartsWithTheStandardLibraryAlone) {
  for (const char* module : {"numpy", "gymnasium", "dm_control", "ale_py", "minigrid"}) {
    EXPECT_FALSE(absl::StrContains(WorkerScript(), absl::StrCat("\nimport ", module))) << module;
    EXPECT_FALSE(absl::StrContains(WorkerScript(), absl::StrCat("\nfrom ", module))) << module;
  }
}

}  // namespace
}  // namespace lzero::worker_script_test
