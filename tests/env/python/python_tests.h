// What tests of Python environments share: which interpreter there is, the stand-in fake_worker.py,
// the modules of this folder, and a look at the logged lines. Not a test.
#ifndef LZERO_TESTS_ENV_PYTHON_PYTHON_TESTS_H_
#define LZERO_TESTS_ENV_PYTHON_PYTHON_TESTS_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/python/child_process.h"
#include "lzero/env/python/python.h"
#include "lzero/env/python/worker_group.h"
#include "lzero/env/python/worker_process.h"
#include "lzero/env/python/worker_registry.h"

namespace lzero {

// "" when `python` runs this line of Python.
inline std::string WhyNot(const std::string& python, const std::string& line) {
  const auto child = ChildProcess::Start({python, "-c", line}, {});
  if (!child.ok()) return std::string(child.status().message());
  if (!(*child)->WaitForEnd(60.0)) return absl::StrCat(python, " does not end");
  if ((*child)->end_text() == "exited with status 0") return "";
  return absl::StrCat(python, " cannot: ", line);
}

// Looks for modules without importing them, which takes long.
inline std::string WhyNoModules(const std::string& names) {
  setenv("PYTHONPATH", LZ_TEST_DATA "/env/python", 1);
  return WhyNot(PythonInterpreter("auto"),
                absl::StrCat("import importlib.util as u, os; os.eventfd; all(u.find_spec(n) for n "
                             "in '",
                             names, "'.split()) or exit(1)"));
}

#define LZ_NEEDS(reason) \
  if (const std::string lz_reason = (reason); !lz_reason.empty()) GTEST_SKIP() << lz_reason
#define LZ_NEEDS_FAKE_WORKER() LZ_NEEDS(WhyNot("python3", "import os; os.eventfd"))
#define LZ_NEEDS_GYMNASIUM() LZ_NEEDS(WhyNoModules("numpy gymnasium"))

// A worker that fake_worker.py plays.
inline WorkerCommand FakeCommand(const EnvSettingTexts& settings = {}) {
  WorkerCommand command;
  command.python = LZ_TEST_DATA "/env/python/fake_worker.py";
  command.task = {"gymnasium", "Fake-v0", settings, false};
  command.step_timeout_s = 30.0;
  return command;
}

// A worker with an environment of lzero_test_envs.py.
inline WorkerCommand TestCommand(const std::string& name, const EnvSettingTexts& settings = {}) {
  WorkerCommand command;
  command.python = PythonInterpreter("auto");
  command.task = {"gymnasium", absl::StrCat("lzero_test_envs:", name, "-v0"), settings, false};
  command.step_timeout_s = 30.0;
  return command;
}

inline WorkerGroup::Options GroupOptions(const WorkerCommand& command, int64_t max_restarts = 3) {
  WorkerGroup::Options options;
  options.command = command;
  options.max_restarts = max_restarts;
  options.make_view = [](const WorkerSpec& spec) -> absl::StatusOr<std::unique_ptr<FrameView>> {
    return std::make_unique<FrameView>(spec);
  };
  return options;
}

// A group and its environments.
struct TestGroup {
  std::shared_ptr<WorkerPool> pool = std::make_shared<WorkerPool>();
  std::shared_ptr<WorkerGroup> group;
  std::vector<std::unique_ptr<Env>> envs;

  TestGroup(WorkerGroup::Options options, int num_envs, int64_t max_episode_steps = 0) {
    const std::string id = options.command.task.Name();
    auto made = WorkerGroup::Create(std::move(options), num_envs, pool);
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return;
    group = *std::move(made);
    for (int slot = 0; slot < num_envs; ++slot) {
      envs.push_back(WorkerGroup::MakeEnv(group, slot, id, max_episode_steps));
    }
  }

  // Steps the environments of `slots` in one batch.
  std::vector<absl::StatusOr<TimeStep>> Step(const std::vector<int>& slots,
                                             const std::vector<Action>& actions) {
    std::vector<Env*> stepped;
    for (const int slot : slots) stepped.push_back(envs[slot].get());
    std::vector<absl::StatusOr<TimeStep>> results(slots.size(), absl::UnknownError("not stepped"));
    group->Begin(stepped, actions);
    group->Finish(absl::MakeSpan(results));
    return results;
  }
  std::vector<absl::StatusOr<TimeStep>> StepAll(int32_t action = 0) {
    std::vector<int> slots;
    for (size_t i = 0; i < envs.size(); ++i) slots.push_back(static_cast<int>(i));
    return Step(slots, std::vector<Action>(slots.size(), Action::Discrete(action)));
  }

  // Ends the process from outside and waits until it has ended.
  void KillWorker() {
    kill(group->pid(), SIGKILL);
    const std::string stat = absl::StrCat("/proc/", group->pid(), "/stat");
    for (int i = 0; i < 2000; ++i) {
      FILE* const file = fopen(stat.c_str(), "r");
      char state = 'Z';
      if (file != nullptr) {
        if (fscanf(file, "%*d %*[^)]%*c %c", &state) != 1) state = '?';
        fclose(file);
      }
      if (state == 'Z' || state == 'X') return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "the worker does not end";
  }
};

// One environment of lzero_test_envs. The processes of a test are not reused: settings differ.
inline TestGroup MakeTestGroup(const std::string& name, const EnvSettingTexts& settings) {
  return TestGroup(GroupOptions(TestCommand(name, settings), 0), 1);
}

// What is said when none can be made.
inline std::string MakeTestError(const WorkerCommand& command) {
  const auto group = WorkerGroup::Create(GroupOptions(command), 1, std::make_shared<WorkerPool>());
  EXPECT_FALSE(group.ok());
  return std::string(group.status().message());
}
inline std::string MakeTestError(const std::string& name, const EnvSettingTexts& settings) {
  return MakeTestError(TestCommand(name, settings));
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENV_PYTHON_PYTHON_TESTS_H_
