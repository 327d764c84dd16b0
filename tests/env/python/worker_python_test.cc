// worker.py: what a process does with environments that fail, print, do not close, draw nothing or
// leave things behind (lzero_test_envs.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "absl/strings/match.h"
#include "lzero/base/files.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"
#include "tests/run/test_folder.h"

namespace lzero::worker_python_test {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Action Act(int32_t index) { return Action::Discrete(index); }

TestGroup Make(const std::string& name, const EnvSettingTexts& settings, int num_envs = 1,
               int64_t max_restarts = 0) {
  return TestGroup(GroupOptions(TestCommand(name, settings), max_restarts), num_envs);
}

std::string MakeError(const EnvSettingTexts& settings) {
  const auto group = WorkerGroup::Create(GroupOptions(TestCommand("Faulty", settings)), 1,
                                         std::make_shared<WorkerPool>());
  EXPECT_FALSE(group.ok());
  return std::string(group.status().message());
}

// The error of the first step of Faulty, which ends the group: no restarts are allowed.
std::string StepError(const std::string& how, double step_timeout_s = 30.0) {
  WorkerCommand command = TestCommand("Faulty", {{"how", how}});
  command.step_timeout_s = step_timeout_s;
  TestGroup test(GroupOptions(command, 0), 1);
  test.envs[0]->Reset(0);
  return std::string(test.envs[0]->Step(Act(0)).status().message());
}

// A path where no file is.
std::string FreshPath(const std::string& name) {
  const std::string path = absl::StrCat(testing::TempDir(), "/lzero_", name, "_", getpid());
  std::remove(path.c_str());
  return path;
}

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(WorkerPythonTest, SeedsEpisodesWithAllOfSixtyFourBits) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = Make("Count", {});
  EXPECT_EQ(test.envs[0]->spec().max_episode_steps, 70) << "as it is registered";
  EXPECT_THAT(test.envs[0]->Reset(0).observation, ElementsAre(0, -1, 0, 0, 0, 0));
  EXPECT_THAT(test.envs[0]->Reset(~uint64_t{0}).observation,
              ElementsAre(0, -1, 65535, 65535, 65535, 65535));
  EXPECT_THAT(test.envs[0]->Reset(0x0001000200030004).observation, ElementsAre(0, -1, 4, 3, 2, 1));
  const TimeStep step = *test.envs[0]->Step(Act(2));
  EXPECT_THAT(step.observation, ElementsAre(1, 2, 4, 3, 2, 1));
  EXPECT_EQ(step.reward, 0.1f);
}

TEST(WorkerPythonTest, PassesMasksAndEndsOn) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = Make("Count", {{"mask", "true"}, {"length", "3"}, {"truncates", "true"}});
  EXPECT_THAT(test.envs[0]->Reset(0).legal_action_mask, ElementsAre(1, 1, 1));
  EXPECT_THAT(test.envs[0]->Step(Act(1))->legal_action_mask, ElementsAre(1, 0, 1));
  EXPECT_EQ(test.envs[0]->Step(Act(1)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(test.envs[0]->Step(Act(0))->legal_action_mask, ElementsAre(1, 1, 1));
  const TimeStep last = *test.envs[0]->Step(Act(0));
  EXPECT_TRUE(last.truncated);
  EXPECT_FALSE(last.terminated);
  EXPECT_FALSE(last.interrupted);
}

// Quick answers are seen before their wake-up comes, slow ones are slept for: in turn.
TEST(WorkerPythonTest, WaitsForQuickAndSlowAnswersInTurn) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test(GroupOptions(TestCommand("Naps", {{"length", "1000"}}), 0), 2);
  for (const auto& env : test.envs) env->Reset(0);
  for (int step = 1; step <= 200; ++step) {
    const int32_t nap = step % 7 == 0 ? 2 : step % 3 == 0 ? 1 : 0;
    for (const auto& result : test.StepAll(nap)) {
      ASSERT_TRUE(result.ok()) << "step " << step << ": " << result.status();
      ASSERT_FALSE(result->interrupted) << "step " << step;
      ASSERT_EQ(result->observation[0], static_cast<float>(step));
      ASSERT_EQ(result->observation[1], static_cast<float>(nap));
    }
  }
}

TEST(WorkerPythonTest, LeavesNoMaskOut) {
  LZ_NEEDS_GYMNASIUM();
  const auto refused = WorkerGroup::Create(GroupOptions(TestCommand("Count", {{"mask", "short"}})),
                                           1, std::make_shared<WorkerPool>());
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("an action mask of 2 for 3"));
  const TestGroup late = Make("Count", {{"mask", "late"}}, 1, 0);
  EXPECT_THAT(late.envs[0]->Reset(0).legal_action_mask, ElementsAre(1, 1, 1));
  EXPECT_THAT(std::string(late.envs[0]->Step(Act(0)).status().message()),
              HasSubstr("ValueError: an action mask, which the first reset did not have"));
}

TEST(WorkerPythonTest, ShowsTheTracebackOfAStep) {
  LZ_NEEDS_GYMNASIUM();
  const std::string error = StepError("error");
  EXPECT_THAT(error, HasSubstr("environment 'gymnasium:lzero_test_envs:Faulty-v0' raised an "
                               "exception:\nTraceback (most recent call last):\n"));
  EXPECT_THAT(error, HasSubstr("lzero_test_envs.py\", line "));
  EXPECT_THAT(error, Not(HasSubstr("/proc/self"))) << "no frames of the worker's nameless script";
  EXPECT_THAT(error, HasSubstr("ValueError: this went wrong on purpose\n"));
  EXPECT_THAT(error, HasSubstr("given up after 0 restarts (env.max_restarts)"));
}

TEST(WorkerPythonTest, TakesAnExitOfPythonForAnException) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(StepError("sys_exit"), HasSubstr("SystemExit: 1"));
  EXPECT_THAT(StepError("interrupt"), HasSubstr("KeyboardInterrupt"));
}

TEST(WorkerPythonTest, SurvivesExceptionsThatCannotBeTold) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(StepError("bad_text"), HasSubstr("BadText: <exception str() failed>"));
  EXPECT_TRUE(
      absl::StartsWith(MakeError({{"where", "init"}, {"how", "bad_text"}}),
                       "environment 'gymnasium:lzero_test_envs:Faulty-v0': BadText\nTraceback"));
}

TEST(WorkerPythonTest, SurvivesTextsThatAreNoUnicode) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(StepError("surrogate"),
              HasSubstr("ValueError: half a character: ?, an accent: \xc3\xa9\n"));
  EXPECT_THAT(MakeError({{"where", "init"}, {"how", "surrogate"}}),
              HasSubstr("half a character: ?, an accent: \xc3\xa9"));
}

// Longer than a message may be.
TEST(WorkerPythonTest, CutsLongTexts) {
  LZ_NEEDS_GYMNASIUM();
  const std::string of_step = StepError("long_text");
  EXPECT_THAT(of_step, AllOf(HasSubstr("Traceback (most recent"), HasSubstr("xxx")));
  EXPECT_LT(of_step.size(), 50000u);
  const std::string of_make = MakeError({{"where", "init"}, {"how", "long_text"}});
  EXPECT_THAT(of_make, HasSubstr("ValueError: xxx"));
  EXPECT_LT(of_make.size(), 100000u);
}

TEST(WorkerPythonTest, TellsHowAProcessCrashed) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(StepError("exit"),
              HasSubstr("exited with status 3; its last output:\nprinted before\n"));
  const std::string crash = StepError("segfault");
  EXPECT_THAT(crash, HasSubstr("was killed by signal 11 (Segmentation fault)"));
  EXPECT_THAT(crash, HasSubstr("Fatal Python error: Segmentation fault"));
  EXPECT_THAT(crash, HasSubstr("lzero_test_envs.py\", line ")) << "faulthandler";
  EXPECT_THAT(StepError("kill"), HasSubstr("was killed by signal 9"));
}

TEST(WorkerPythonTest, EndsAStepThatHangs) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(StepError("hang", 0.3), HasSubstr("(env.step_timeout_s) and was ended"));
}

TEST(WorkerPythonTest, TellsWhyAnEnvironmentCannotBeMade) {
  LZ_NEEDS_GYMNASIUM();
  const std::string error = MakeError({{"where", "init"}});
  EXPECT_TRUE(absl::StartsWith(error,
                               "environment 'gymnasium:lzero_test_envs:Faulty-v0': ValueError: "
                               "this went wrong on purpose\nTraceback (most recent call last):"))
      << error;
  EXPECT_THAT(MakeError({{"where", "reset"}}), HasSubstr("this went wrong on purpose"));
  EXPECT_THAT(MakeError({{"where", "init"}, {"how", "exit"}}), HasSubstr("exited with status 3"));
  EXPECT_THAT(MakeError({{"no_such_setting", "3"}}),
              HasSubstr("unexpected keyword argument 'no_such_setting'"));
}

// As one of version 3.9 is, by a module that Python imports when it starts.
TEST(WorkerPythonTest, RefusesAnOldPython) {
  LZ_NEEDS_GYMNASIUM();
  const std::string folder = FreshPath("old_python");
  ASSERT_TRUE(MakeDirectories(folder).ok());
  std::ofstream(folder + "/sitecustomize.py") << "import os\ndel os.eventfd\n";
  setenv("PYTHONPATH", folder.c_str(), 1);
  const auto process = WorkerProcess::Start(TestCommand("Count"));
  EXPECT_THAT(
      std::string(process.status().message()),
      testing::MatchesRegex("environment 'gymnasium:lzero_test_envs:Count-v0': environments "
                            "need Python 3.10 or newer; this is 3[.][0-9.]+"));
  EXPECT_TRUE(RemoveTree(folder).ok());
}

TEST(WorkerPythonTest, RestartsAnEnvironmentWhoseResetFailedOnce) {
  LZ_NEEDS_GYMNASIUM();
  // The first reset looks at the environment: the file lets the next but one fail.
  const std::string path = FreshPath("reset_once");
  std::ofstream(path) << "";
  TestGroup test = Make("Faulty", {{"where", "reset"}, {"flag_file", path}}, 2, 1);
  std::remove(path.c_str());
  EXPECT_THAT(test.envs[0]->Reset(9).observation, ElementsAre(0, -1, 9, 0, 0, 0));
  EXPECT_EQ(test.group->num_restarts(), 1);
  std::remove(path.c_str());
}

TEST(WorkerPythonTest, DrawsPictures) {
  LZ_NEEDS_GYMNASIUM();
  const auto draw = [](const std::string& kind) {
    const TestGroup test = Make("Draws", {{"picture", kind}});
    test.envs[0]->Reset(0);
    return test.envs[0]->RenderRgb();
  };
  const auto rgb = draw("rgb");
  ASSERT_TRUE(rgb.ok()) << rgb.status();
  EXPECT_EQ(rgb->width, 3);
  EXPECT_EQ(rgb->height, 2);
  EXPECT_EQ(rgb->pixels[17], 17);
  const auto mirrored = draw("mirrored");
  EXPECT_THAT(std::vector<uint8_t>(mirrored->pixels.begin(), mirrored->pixels.begin() + 3),
              ElementsAre(6, 7, 8));
  const auto rgba = draw("rgba");
  EXPECT_THAT(std::vector<uint8_t>(rgba->pixels.begin(), rgba->pixels.begin() + 6),
              ElementsAre(0, 1, 2, 4, 5, 6))
      << "without its opacity";
}

TEST(WorkerPythonTest, RefusesPicturesThatAreNone) {
  LZ_NEEDS_GYMNASIUM();
  for (const char* kind : {"grey", "flat", "list", "none", "empty", "large", "text"}) {
    const TestGroup test = Make("Draws", {{"picture", kind}});
    test.envs[0]->Reset(0);
    const absl::Status status = test.envs[0]->RenderRgb().status();
    EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << kind << ": " << status;
    EXPECT_TRUE(test.envs[0]->Step(Act(0)).ok()) << kind << ": the episode goes on";
  }
  const TestGroup test = Make("Faulty", {{"where", "render"}});
  test.envs[0]->Reset(0);
  EXPECT_EQ(test.envs[0]->RenderRgb().status(),
            absl::UnimplementedError("ValueError: this went wrong on purpose"));
}

TEST(WorkerPythonTest, ClosesWhatItMade) {
  LZ_NEEDS_GYMNASIUM();
  const std::string path = FreshPath("closes");
  {
    TestGroup test = Make("Remembers", {{"log_file", path}}, 2);
    test.envs[0]->Reset(0);
  }
  // One to look at, then two.
  EXPECT_THAT(Lines(path),
              ElementsAre("make", "reset", "close", "make", "make", "reset", "close", "close"));
  std::remove(path.c_str());
}

TEST(WorkerPythonTest, ClosesAnEnvironmentThatFailedBeforeItMakesAnother) {
  LZ_NEEDS_GYMNASIUM();
  const TestFolder folder;  // outlives the environment, which writes until it is closed
  const std::string path = folder.path() + "/log";
  TestGroup test = Make("Remembers", {{"log_file", path}, {"how", "error"}}, 1, 5);
  std::remove(path.c_str());
  test.envs[0]->Reset(0);
  EXPECT_TRUE(test.envs[0]->Step(Act(0)).ok());
  EXPECT_TRUE(test.envs[0]->Step(Act(0))->interrupted);
  test.envs[0]->Reset(0);
  EXPECT_THAT(Lines(path), ElementsAre("reset", "close", "make", "reset"));
}

TEST(WorkerPythonTest, EndsThoughAnEnvironmentDoesNotClose) {
  LZ_NEEDS_GYMNASIUM();
  const std::string path = FreshPath("bad_close");
  const auto pool = std::make_shared<WorkerPool>();
  WorkerGroup::Options options =
      GroupOptions(TestCommand("Remembers", {{"log_file", path}, {"how", "bad_close"}}), 0);
  auto group = WorkerGroup::Create(options, 2, pool);
  ASSERT_TRUE(group.ok()) << group.status();
  const pid_t pid = (*group)->pid();
  group->reset();
  group = WorkerGroup::Create(options, 1, pool);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_EQ((*group)->pid(), pid) << "the process is used again";
  const double start = MonotonicSeconds();
  group->reset();
  WorkerPool().GiveBack(pool->Take(options.command));
  EXPECT_LT(MonotonicSeconds() - start, 1.5) << "it had to be killed";
  std::remove(path.c_str());
}

// What is printed is kept in memory, in case of a crash: not all of it.
TEST(WorkerPythonTest, KeepsNoMoreThanTheNewestOutput) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test = Make("Loud", {{"size", "100000"}, {"length", "1000"}});
  test.envs[0]->Reset(0);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(test.envs[0]->Step(Act(0)).ok());
  int64_t largest = 0;
  for (const std::string& name : EntriesOf("/proc/self/fd")) {
    char target[256] = {};
    const std::string link = absl::StrCat("/proc/self/fd/", name);
    if (readlink(link.c_str(), target, sizeof(target) - 1) < 0) continue;
    if (!absl::StrContains(target, "lzero_worker_output")) continue;
    std::ifstream file(link, std::ios::ate | std::ios::binary);
    largest = std::max(largest, static_cast<int64_t>(file.tellg()));
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(largest, 10 << 20) << "60 MB were printed";
}

TEST(WorkerPythonTest, SurvivesSignalsOfAnEnvironment) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test = Make("Alarms", {{"length", "100"}});
  test.envs[0]->Reset(0);
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // an alarm rings while it waits
    const auto step = test.envs[0]->Step(Act(0));
    ASSERT_TRUE(step.ok()) << step.status();
    ASSERT_FALSE(step->interrupted);
  }
}

TEST(WorkerPythonTest, TakesProgramsOfAnEnvironmentWithIt) {
  LZ_NEEDS_GYMNASIUM();
  for (const bool crashes : {false, true}) {
    TestGroup test = Make("Starts", {});
    const auto program = static_cast<pid_t>(test.envs[0]->Reset(0).observation[1]);
    ASSERT_GT(program, 1);
    EXPECT_TRUE(IsRunning(program));
    if (crashes) test.KillWorker();
    test.envs.clear();
    test.group.reset();
    test.pool.reset();
    for (int i = 0; i < 2000 && IsRunning(program); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_FALSE(IsRunning(program)) << (crashes ? "crashed" : "closed");
  }
}

TEST(WorkerPythonTest, MakesEnvironmentsThatKnowNoRenderMode) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = Make("NoRenderMode", {});
  test.envs[0]->Reset(0);
  EXPECT_TRUE(test.envs[0]->Step(Act(0))->terminated);
}

// The reader of the lifeline, which no signal and no exit handler of the parent has to reach.
// Though the environment hangs where no thread of Python runs.
TEST(WorkerPythonTest, EndsWithTheProgramThatStartedIt) {
  LZ_NEEDS_GYMNASIUM();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t between = fork();
  ASSERT_GE(between, 0);
  if (between == 0) {
    TestGroup test = Make("Faulty", {{"how", "hang_in_c"}});
    test.envs[0]->Reset(0);
    const pid_t pid = test.group->pid();
    if (write(ends[1], &pid, sizeof(pid)) != sizeof(pid)) _exit(1);
    Env* const env = test.envs[0].get();
    const Action action = Act(0);
    test.group->Begin({&env, 1}, {&action, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raise(SIGKILL);
  }
  pid_t worker = -1;
  ASSERT_EQ(read(ends[0], &worker, sizeof(worker)), static_cast<ssize_t>(sizeof(worker)));
  ASSERT_GT(worker, 0);
  for (int i = 0; i < 5000 && IsRunning(worker); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(IsRunning(worker));
  int wait_status = 0;
  EXPECT_EQ(waitpid(between, &wait_status, 0), between);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace lzero::worker_python_test
