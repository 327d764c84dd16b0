#include "lzero/env/python/python.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "absl/strings/match.h"

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
      ExplainRefusal("/usr/bin/python3", "gymnasium:X-v0", status, refusal);
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
  EXPECT_EQ(ExplainRefusal("p", "x", status, refusal).code(),
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
  EXPECT_EQ(ExplainRefusal("p", "x", absl::InternalError("no JSON"), {}).code(),
            absl::StatusCode::kInternal)
      << "the code is kept";
}

}  // namespace
}  // namespace lzero::python_test
