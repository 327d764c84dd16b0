#include "lzero/env/python/worker_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "lzero/env/python/frames/atari_view.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_group_test {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

Action Act(int32_t index) { return Action::Discrete(index); }

// Three environments that have begun, with seeds 100, 101, 102.
TestGroup StartedGroup(const EnvSettingTexts& settings, int64_t max_restarts = 3,
                       int num_envs = 3) {
  TestGroup test(GroupOptions(FakeCommand(settings), max_restarts), num_envs);
  for (int i = 0; i < num_envs; ++i) test.envs[i]->Reset(100 + static_cast<uint64_t>(i));
  return test;
}

// Expects that the step cut the episode, since its process died, and left the observation.
void ExpectInterrupted(const absl::StatusOr<TimeStep>& step, float num_steps, float seed) {
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_TRUE(step->truncated);
  EXPECT_TRUE(step->interrupted);
  EXPECT_FALSE(step->terminated);
  EXPECT_EQ(step->reward, 0.0f);
  EXPECT_EQ(step->observation, std::vector<float>({num_steps, seed})) << "the one before";
  EXPECT_EQ(step->legal_action_mask, std::vector<uint8_t>(3, 0));
}

void ExpectSteps(const absl::StatusOr<TimeStep>& step, float num_steps, float seed) {
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_FALSE(step->interrupted);
  EXPECT_EQ(step->observation, std::vector<float>({num_steps, seed}));
  EXPECT_EQ(step->reward, num_steps * 0.5f);
}

TEST(WorkerGroupTest, StepsEnvironmentsTogether) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({});
  for (int t = 1; t <= 3; ++t) {
    const auto steps = test.StepAll();
    for (int i = 0; i < 3; ++i) {
      ExpectSteps(steps[i], static_cast<float>(t), static_cast<float>(100 + i));
      EXPECT_EQ(steps[i]->episode_return, t * (t + 1) * 0.25);
    }
  }
  // Any of them, in any order.
  const auto steps = test.Step({2, 0}, {Act(1), Act(1)});
  ExpectSteps(steps[0], 4, 102);
  ExpectSteps(steps[1], 4, 100);
  ExpectSteps(test.Step({1}, {Act(1)})[0], 4, 101);
  EXPECT_TRUE(test.Step({}, {}).empty());
  EXPECT_EQ(test.group->num_restarts(), 0);
}

TEST(WorkerGroupTest, MixesSingleStepsAndBatches) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"length", "5"}});
  ExpectSteps(test.envs[1]->Step(Act(0)), 1, 101);
  ExpectSteps(test.StepAll()[1], 2, 101);
  ExpectSteps(test.envs[0]->Step(Act(0)), 2, 100);
  test.envs[2]->Reset(7);
  const auto steps = test.StepAll();
  ExpectSteps(steps[0], 3, 100);
  ExpectSteps(steps[1], 3, 101);
  ExpectSteps(steps[2], 1, 7);
}

TEST(WorkerGroupTest, RefusesBadActionsAmongGoodOnes) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"length", "2"}});
  Action list;
  list.values = {1.0f};
  auto steps = test.Step({0, 1, 2}, {Act(3), Act(2), list});
  EXPECT_EQ(steps[0].status(), absl::InvalidArgumentError(
                                   "action 3 is out of range; 'gymnasium:Fake-v0' takes 0 .. 2"));
  ExpectSteps(steps[1], 1, 101);
  EXPECT_EQ(steps[2].status(),
            absl::InvalidArgumentError("action is a list of 1 values; 'gymnasium:Fake-v0' takes "
                                       "one integer"));
  // Those that were refused have not moved.
  steps = test.StepAll();
  ExpectSteps(steps[0], 1, 100);
  ExpectSteps(steps[2], 1, 102);
  EXPECT_TRUE(steps[1]->terminated);
  steps = test.StepAll();
  EXPECT_TRUE(steps[0]->terminated);
  EXPECT_EQ(steps[1].status().code(), StatusCode::kFailedPrecondition);
  steps = test.StepAll();  // all are refused, nothing is sent
  for (const auto& step : steps) {
    EXPECT_EQ(step.status(), absl::FailedPreconditionError(
                                 "cannot step 'gymnasium:Fake-v0': the episode has ended; call "
                                 "Reset first"));
  }
}

TEST(WorkerGroupTest, InterruptsEveryEpisodeOnceWhenTheProcessDiesInAStep) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_kill"}, {"at", "3"}, {"slot", "1"}});
  test.StepAll();
  // Only environment 1 is stepped, and dies with all.
  ExpectSteps(test.envs[1]->Step(Act(0)), 2, 101);
  ExpectInterrupted(test.envs[1]->Step(Act(0)), 2, 101);
  EXPECT_EQ(test.group->num_restarts(), 1);
  EXPECT_EQ(test.group->pid(), -1);
  // The next one starts the process again while the others still do not know.
  EXPECT_EQ(test.envs[1]->Reset(55).observation, std::vector<float>({0, 55}));
  EXPECT_GT(test.group->pid(), 0);
  const auto steps = test.StepAll();
  ExpectInterrupted(steps[0], 1, 100);
  ExpectSteps(steps[1], 1, 55);
  ExpectInterrupted(steps[2], 1, 102);
  EXPECT_EQ(test.envs[0]->Step(Act(0)).status().code(), StatusCode::kFailedPrecondition) << "once";
  EXPECT_EQ(test.group->num_restarts(), 1);
  for (const int i : {0, 2}) test.envs[i]->Reset(100 + static_cast<uint64_t>(i));
  ExpectSteps(test.StepAll()[2], 1, 102);
}

TEST(WorkerGroupTest, InterruptsABatchWhoseProcessDies) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_exit"}, {"at", "2"}, {"slot", "2"}});
  test.StepAll();
  auto steps = test.Step({0, 1, 2}, {Act(0), Act(9), Act(0)});
  ExpectInterrupted(steps[0], 1, 100);
  EXPECT_EQ(steps[1].status().code(), StatusCode::kInvalidArgument) << "refused as ever";
  ExpectInterrupted(steps[2], 1, 102);
  ExpectInterrupted(test.envs[1]->Step(Act(0)), 1, 101);
  EXPECT_EQ(test.group->num_restarts(), 1) << "one death";
  for (int i = 0; i < 3; ++i) test.envs[i]->Reset(100 + static_cast<uint64_t>(i));
  ExpectSteps(test.StepAll()[1], 1, 101);
}

TEST(WorkerGroupTest, InterruptsEpisodesWhenTheProcessDiesIdle) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({});
  test.StepAll();
  const pid_t before = test.group->pid();
  test.KillWorker();
  const auto steps = test.StepAll();
  for (int i = 0; i < 3; ++i) ExpectInterrupted(steps[i], 1, static_cast<float>(100 + i));
  EXPECT_EQ(steps[0]->episode_return, 0.5) << "what was earned is kept";
  EXPECT_EQ(test.group->num_restarts(), 1);
  for (int i = 0; i < 3; ++i) test.envs[i]->Reset(200 + static_cast<uint64_t>(i));
  EXPECT_NE(test.group->pid(), before);
  ExpectSteps(test.StepAll()[2], 1, 202);
  EXPECT_EQ(Children().size(), 1u);
}

TEST(WorkerGroupTest, InterruptsTheOthersWhenAResetFindsTheProcessDead) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({});
  test.StepAll();
  test.KillWorker();
  EXPECT_EQ(test.envs[1]->Reset(300).observation, std::vector<float>({0, 300}));
  EXPECT_EQ(test.group->num_restarts(), 1);
  const auto steps = test.StepAll();
  ExpectInterrupted(steps[0], 1, 100);
  ExpectSteps(steps[1], 1, 300);
  ExpectInterrupted(steps[2], 1, 102);
}

TEST(WorkerGroupTest, GivesUpAfterItsRestarts) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_print"}, {"at", "1"}}, 2);
  for (int restart = 1; restart <= 2; ++restart) {
    ExpectInterrupted(test.envs[0]->Step(Act(0)), 0, 100);
    EXPECT_EQ(test.group->num_restarts(), restart);
    for (int i = 0; i < 3; ++i) test.envs[i]->Reset(100 + static_cast<uint64_t>(i));
  }
  const auto last = test.StepAll();
  ASSERT_FALSE(last[0].ok());
  EXPECT_EQ(last[0].status().code(), StatusCode::kInternal);
  EXPECT_THAT(std::string(last[0].status().message()),
              testing::MatchesRegex("the worker process of 'gymnasium:Fake-v0' \\([0-9]+\\) exited "
                                    "with status 1; its last output:\nthe last words\ngiven up "
                                    "after 2 restarts \\(env.max_restarts\\)"));
  // Every later call says the same.
  EXPECT_EQ(test.envs[2]->Step(Act(0)).status(), last[0].status());
  test.envs[1]->Reset(1);
  EXPECT_EQ(test.envs[1]->Step(Act(0)).status(), last[0].status());
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerGroupTest, GivesUpAtOnceWithoutRestarts) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_exit"}}, 0, 1);
  EXPECT_THAT(std::string(test.envs[0]->Step(Act(0)).status().message()),
              HasSubstr("given up after 0 restarts (env.max_restarts)"));
}

TEST(WorkerGroupTest, LetsAnExceptionCostItsOwnEpisodeOnly) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_fail"}, {"at", "2"}, {"slot", "1"}});
  const pid_t before = test.group->pid();
  test.StepAll();
  auto steps = test.StepAll();
  ExpectSteps(steps[0], 2, 100);
  ExpectInterrupted(steps[1], 1, 101);
  ExpectSteps(steps[2], 2, 102);
  EXPECT_EQ(test.group->num_restarts(), 1);
  EXPECT_EQ(test.group->pid(), before) << "the process lives";
  steps = test.StepAll();
  ExpectSteps(steps[0], 3, 100);
  EXPECT_EQ(steps[1].status().code(), StatusCode::kFailedPrecondition);
  EXPECT_EQ(test.envs[1]->Reset(500).observation, std::vector<float>({0, 500}));
  ExpectSteps(test.StepAll()[1], 1, 500);
}

TEST(WorkerGroupTest, GivesUpAfterTooManyExceptions) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "step_fail"}, {"slot", "1"}}, 1);
  ExpectInterrupted(test.StepAll()[1], 0, 101);
  test.envs[1]->Reset(1);
  const auto steps = test.StepAll();
  EXPECT_THAT(std::string(steps[1].status().message()),
              HasSubstr(" of slot 1 (again, as told above)\ngiven up after 1 restarts (env.max"));
  EXPECT_EQ(test.StepAll()[0].status(), steps[1].status());
}

TEST(WorkerGroupTest, TakesADeathDuringATracebackForADeath) {
  LZ_NEEDS_FAKE_WORKER();
  for (const char* bad : {"error_exit", "error_garbage"}) {
    TestGroup test = StartedGroup({{"bad", bad}, {"slot", "-1"}, {"at", "2"}});
    test.StepAll();
    const auto steps = test.StepAll();
    for (int i = 0; i < 3; ++i) ExpectInterrupted(steps[i], 1, static_cast<float>(100 + i));
    test.envs[0]->Reset(8);
    ExpectSteps(test.envs[0]->Step(Act(0)), 1, 8);
    EXPECT_LE(test.group->num_restarts(), 3);
  }
}

TEST(WorkerGroupTest, TriesAResetAgainThatFails) {
  LZ_NEEDS_FAKE_WORKER();
  for (const auto& [bad, message] :
       {std::pair("reset_fail",
                  "environment 'gymnasium:Fake-v0' raised an exception: Traceback of slot 0 "
                  "(again, as told above)\ngiven up after 2 restarts (env.max_restarts)"),
        std::pair("reset_exit", "exited with status 9\ngiven up after 2 restarts")}) {
    TestGroup test(GroupOptions(FakeCommand({{"bad", bad}}), 2), 1);
    test.envs[0]->Reset(1);
    EXPECT_EQ(test.group->num_restarts(), 3) << "two, and one more was asked for";
    const absl::Status status = test.envs[0]->Step(Act(0)).status();
    EXPECT_EQ(status.code(), StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }
}

TEST(WorkerGroupTest, EndsAStepThatTakesTooLong) {
  LZ_NEEDS_FAKE_WORKER();
  WorkerCommand command = FakeCommand({{"bad", "step_hang"}, {"slot", "1"}});
  command.step_timeout_s = 0.3;
  TestGroup test(GroupOptions(command), 2);
  for (const auto& env : test.envs) env->Reset(3);
  const auto steps = test.StepAll();
  ExpectInterrupted(steps[0], 0, 3);
  ExpectInterrupted(steps[1], 0, 3);
  EXPECT_EQ(test.group->num_restarts(), 1);
}

TEST(WorkerGroupTest, InterruptsWhereAnAnswerMakesNoSense) {
  LZ_NEEDS_FAKE_WORKER();
  for (const auto& [bad, message] :
       {std::pair("step_flags", "the worker process answers flags 99"),
        std::pair("step_reward", "the environment gives reward nan"),
        std::pair("step_frames", "the worker process answers 77 frames of 1"),
        std::pair("step_nan", "the environment gives observation[0] = nan")}) {
    TestGroup test = StartedGroup({{"bad", bad}, {"at", "2"}});
    test.StepAll();
    const auto steps = test.StepAll();
    ExpectInterrupted(steps[0], 1, 100);
    ExpectSteps(steps[1], 2, 101);
    EXPECT_EQ(test.group->num_restarts(), 1);
    EXPECT_EQ(test.envs[0]->Step(Act(0)).status().code(), StatusCode::kFailedPrecondition) << bad;
    EXPECT_EQ(test.envs[0]->Reset(9).observation, std::vector<float>({0, 9}));
    ExpectSteps(test.StepAll()[0], 1, 9);

    TestGroup strict = StartedGroup({{"bad", bad}, {"at", "1"}}, 0);
    EXPECT_EQ(std::string(strict.StepAll()[0].status().message()),
              absl::StrCat("environment 'gymnasium:Fake-v0', step 1: ", message,
                           "\ngiven up after 0 restarts (env.max_restarts)"));
  }
}

TEST(WorkerGroupTest, CountsADeathWhileItDraws) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({{"bad", "render_exit"}}, 1);
  test.StepAll();
  EXPECT_EQ(test.envs[0]->RenderRgb().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(test.group->num_restarts(), 1);
  EXPECT_EQ(test.envs[0]->RenderRgb().status().code(), StatusCode::kFailedPrecondition);
  ExpectInterrupted(test.envs[1]->Step(Act(0)), 1, 101);
  test.envs[0]->Reset(1);
  EXPECT_FALSE(test.envs[0]->RenderRgb().ok());
  EXPECT_THAT(std::string(test.envs[0]->Step(Act(0)).status().message()),
              HasSubstr("given up after 1 restarts"));
}

TEST(WorkerGroupTest, GivesItsProcessBackToThePool) {
  LZ_NEEDS_FAKE_WORKER();
  const auto pool = std::make_shared<WorkerPool>();
  const auto make = [&](int num_envs, const EnvSettingTexts& settings = {}) {
    return *WorkerGroup::Create(GroupOptions(FakeCommand(settings)), num_envs, pool);
  };
  auto group = make(2);
  const pid_t first = group->pid();
  group.reset();
  group = make(3);
  EXPECT_EQ(group->pid(), first);
  auto beside = make(1);
  EXPECT_NE(beside->pid(), first) << "that one is in use";
  group.reset();
  const auto another_task = make(1, {{"length", "9"}});
  EXPECT_NE(another_task->pid(), first);
  const auto again = make(1);
  EXPECT_EQ(again->pid(), first);
}

TEST(WorkerGroupTest, KeepsFewProcessesThatNobodyUses) {
  LZ_NEEDS_FAKE_WORKER();
  auto pool = std::make_shared<WorkerPool>();
  std::vector<std::shared_ptr<WorkerGroup>> groups;
  for (int i = 0; i < 6; ++i) {
    groups.push_back(*WorkerGroup::Create(GroupOptions(FakeCommand()), 1, pool));
  }
  EXPECT_EQ(Children().size(), 6u);
  groups.clear();
  EXPECT_EQ(Children().size(), 4u);
  pool.reset();
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerGroupTest, TakesNoDeadProcessFromThePool) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({});
  const pid_t first = test.group->pid();
  test.KillWorker();  // nobody has heard of it when the group is given back
  test.envs.clear();
  test.group.reset();
  const auto group = WorkerGroup::Create(GroupOptions(FakeCommand()), 1, test.pool);
  ASSERT_TRUE(group.ok()) << group.status();
  EXPECT_NE((*group)->pid(), first);
  EXPECT_EQ((*group)->num_restarts(), 0);
}

// Left between Begin and Finish: the next user of the process must not get that answer.
TEST(WorkerGroupTest, GivesNoProcessBackThatOwesAnAnswer) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({}, 3, 1);
  Env* const env = test.envs[0].get();
  const Action action = Act(0);
  test.group->Begin({&env, 1}, {&action, 1});
  test.envs.clear();
  test.group.reset();
  TestGroup next(GroupOptions(FakeCommand()), 1);
  next.envs.clear();
  next.group = *WorkerGroup::Create(GroupOptions(FakeCommand()), 1, test.pool);
  next.envs.push_back(WorkerGroup::MakeEnv(next.group, 0, "gymnasium:Fake-v0", 0));
  EXPECT_EQ(next.envs[0]->Reset(44).observation, std::vector<float>({0, 44}));
  ExpectSteps(next.envs[0]->Step(Act(0)), 1, 44);
  EXPECT_EQ(next.group->num_restarts(), 0);
}

TEST(WorkerGroupTest, OutlivesItsPoolsOwner) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({});
  test.pool.reset();
  ExpectSteps(test.StepAll()[2], 1, 102);
  test.envs.erase(test.envs.begin(), test.envs.begin() + 2);
  test.group.reset();  // the last environment holds it
  ExpectSteps(test.envs[0]->Step(Act(0)), 2, 102);
  test.envs.clear();
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerGroupDeathTest, StopsAtBugsOfOurs) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test = StartedGroup({}, 3, 1), other = StartedGroup({}, 3, 1);
  Env* const env = other.envs[0].get();
  const Action action = Act(0);
  EXPECT_DEATH(test.group->Begin({&env, 1}, {&action, 1}), "an environment of another group");
  EXPECT_DEATH(test.group->Finish({}), "Begin");
  Env* const own = test.envs[0].get();
  test.group->Begin({&own, 1}, {&action, 1});
  EXPECT_DEATH(test.group->Begin({&own, 1}, {&action, 1}), "Finish");
  EXPECT_DEATH(test.envs[0]->Reset(1), "Finish");
  EXPECT_DEATH(test.group->Finish({}), "0 results for 1");
}

}  // namespace
}  // namespace lzero::worker_group_test
