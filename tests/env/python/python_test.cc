#include "lzero/env/python/python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/env/python/child_process.h"
#include "tests/run/test_folder.h"

namespace lzero::python_test {
namespace {

TEST(PythonInterpreterTest, IsTheOneOfTheSetting) {
  setenv("LZERO_PYTHON", "/opt/other/python", 1);
  EXPECT_EQ(PythonInterpreter("/usr/bin/python3.11"), "/usr/bin/python3.11");
  EXPECT_EQ(PythonInterpreter("python"), "python");
}

TEST(PythonInterpreterTest, IsTheOneOfTheEnvironmentForAuto) {
  setenv("LZERO_PYTHON", "/opt/other/python", 1);
  EXPECT_EQ(PythonInterpreter("auto"), "/opt/other/python");
}

// This program is at ROOT/build/PRESET/tests.
TEST(PythonInterpreterTest, IsTheOneOfTheSourceTreeOrTheSystems) {
  const std::filesystem::path root = std::filesystem::read_symlink("/proc/self/exe")
                                         .parent_path()
                                         .parent_path()
                                         .parent_path()
                                         .parent_path();
  const std::filesystem::path own = root / ".deps/python_envs/bin/python3";
  const std::string expected = std::filesystem::exists(own) ? own.string() : "python3";
  unsetenv("LZERO_PYTHON");
  EXPECT_EQ(PythonInterpreter("auto"), expected);
  setenv("LZERO_PYTHON", "", 1);
  EXPECT_EQ(PythonInterpreter("auto"), expected);
}

std::string Explained(const absl::Status& status, const WorkerRefusal& refusal) {
  const absl::Status explained =
      ExplainRefusal("/usr/bin/python3", {"gymnasium", "X-v0", {}}, status, refusal);
  EXPECT_FALSE(explained.ok());
  return std::string(explained.message());
}

TEST(ExplainRefusalTest, SaysHowToInstallWhatIsMissing) {
  const absl::Status status = absl::FailedPreconditionError("No module named 'ale_py'");
  WorkerRefusal refusal = {"No module named 'ale_py'", "ale_py", ""};
  EXPECT_EQ(Explained(status, refusal),
            "environment 'gymnasium:X-v0' needs the Python package 'ale_py', which "
            "/usr/bin/python3 has not (No module named 'ale_py'); install it with: tools/setup.sh "
            "--python-envs, or: /usr/bin/python3 -m pip install ale-py, or name another "
            "interpreter by env.python");
  EXPECT_EQ(ExplainRefusal("p", {"gymnasium", "x", {}}, status, refusal).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(ExplainRefusalTest, NamesPackagesAsPipDoes) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"gymnasium", "pip install gymnasium,"},
      {"gymnasium.wrappers", "pip install gymnasium,"},
      {"ale_py", "pip install ale-py,"},
      {"Box2D", "pip install \"gymnasium[box2d]\","},
      {"pygame", "pip install pygame-ce,"},
      {"mujoco", "pip install mujoco==3.17.0,"},
      {"dm_control.suite", "pip install dm_control,"},
      {"cv2", "pip install opencv-python-headless,"},
      {"numpy", "pip install numpy,"},
      {"minigrid", "pip install minigrid,"},
      {"some_game.core.levels", "pip install some_game,"}};
  for (const auto& [module, command] : names) {
    EXPECT_TRUE(absl::StrContains(Explained(absl::FailedPreconditionError("x"), {"x", module, ""}),
                                  command))
        << module;
  }
}

TEST(ExplainRefusalTest, ShowsTheTracebackOfWhatIsNoPlainRefusal) {
  const absl::Status status = absl::InvalidArgumentError("ValueError: bad size");
  EXPECT_EQ(Explained(status, {"ValueError: bad size", "", "Traceback\n  line 3"}),
            "environment 'gymnasium:X-v0': ValueError: bad size\nTraceback\n  line 3");
  EXPECT_EQ(Explained(status, {"ValueError: bad size", "", ""}),
            "environment 'gymnasium:X-v0': ValueError: bad size");
  EXPECT_EQ(ExplainRefusal("p", {"gymnasium", "x", {}}, absl::InternalError("no JSON"), {}).code(),
            absl::StatusCode::kInternal)
      << "the code is kept";
}

TEST(KeptPythonPathTest, HoldsTheFoldersThatModulesCameFrom) {
  setenv("PYTHONPATH", "relative/../b:/a\nb::/c/", 1);
  const std::string here = std::filesystem::current_path().string();
  using Paths = std::vector<std::string>;
  const Paths expected = {here, here + "/b", "/c"};  // a config cannot hold the other
  EXPECT_EQ(KeptPythonPath("gymnasium:walk:Walk-v0", {}, {}), expected);
  EXPECT_EQ(KeptPythonPath("gymnasium:Walk-v0", {"walk:wrap"}, {}), expected);
  EXPECT_EQ(KeptPythonPath("gymnasium:Walk-v0", {}, {}), Paths());
  EXPECT_EQ(KeptPythonPath("dm_control:cartpole/swingup", {}, {}), Paths());
  EXPECT_EQ(KeptPythonPath("gymnasium:walk:Walk-v0", {}, {"d"}), Paths({here + "/d"}));
  unsetenv("PYTHONPATH");
}

using testing::HasSubstr;

// What an interpreter that runs `body` answers.
absl::StatusOr<std::string> PackagesOf(const std::string& body) {
  const std::string path = absl::StrCat(testing::TempDir(), "python_packages_test_", getpid());
  std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
  chmod(path.c_str(), 0755);
  const auto packages = PythonPackages(path);
  std::filesystem::remove(path);
  return packages;
}

TEST(PythonPackagesTest, TellsWhatTheInterpreterPrints) {
  const auto packages = PackagesOf("echo 'gymnasium 1.4.0, ale-py 0.12.1'");
  ASSERT_TRUE(packages.ok()) << packages.status();
  EXPECT_EQ(*packages, "gymnasium 1.4.0, ale-py 0.12.1");
}

TEST(PythonPackagesTest, APythonAnswersEvenWithoutPackages) {
  const auto packages = PythonPackages("python3");
  ASSERT_TRUE(packages.ok()) << packages.status();
  EXPECT_TRUE(packages->empty() || packages->find(' ') != std::string::npos) << *packages;
}

TEST(PythonPackagesTest, WhatCannotRunIsAnError) {
  EXPECT_EQ(PythonPackages("no_such_python").status().message(),
            "cannot start 'no_such_python': No such file or directory");
  EXPECT_THAT(std::string(PackagesOf("echo broken; exit 3").status().message()),
              HasSubstr("exited with status 3: broken"));
}

std::string Source(const std::string& name) {
  const auto text = ReadFile(absl::StrCat(LZ_TEST_DATA, "/../lzero/env/python/", name));
  return text.ok() ? *text : "";
}

TEST(WorkerScriptTest, HoldsItsFilesInTheirOrder) {
  const std::string script(WorkerScript());
  size_t end = 0;
  for (const char* name : {"worker_spaces.py", "worker_tasks.py", "worker.py"}) {
    const std::string text = Source(name);
    ASSERT_FALSE(text.empty()) << name;
    const size_t begin = script.find(text, end);
    ASSERT_NE(begin, script.npos) << name << " is not in it as it is";
    end = begin + text.size();
  }
  EXPECT_EQ(script.find('\0'), script.npos) << "Python would stop there";
}

TEST(WorkerScriptTest, IsAsciiSoThatNoLocaleMatters) {
  for (const char c : WorkerScript()) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int{c};
}

// Parsed, not run: main() would wait for messages.
TEST(WorkerScriptTest, IsPython) {
  const std::string program =
      absl::StrCat("import ast, sys\nast.parse(open(sys.argv[1]).read())\n");
  const TestFolder folder;
  const std::string path = folder.path() + "/worker.py";
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
}  // namespace lzero::python_test
