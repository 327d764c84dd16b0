#include "lzero/env/python/worker_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/match.h"
#include "lzero/env/check/conformance.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_registry_test {
namespace {

using absl::StatusCode;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kCount[] = "gymnasium:lzero_test_envs:Count-v0";

EnvRegistry Registry() {
  EnvRegistry registry;
  RegisterWorkerEnvs(registry);
  return registry;
}

EnvOptions FakeOptions(const EnvSettingTexts& settings = {}) {
  EnvOptions options;
  options.settings = settings;
  options.workers.python = LZ_TEST_DATA "/env/python/fake_worker.py";
  return options;
}

const WorkerGroup& GroupOf(const std::unique_ptr<Env>& env) {
  return static_cast<const WorkerGroup&>(*env->batch());
}

// How many environments each process has, in order of the environments.
std::vector<int> Shares(const std::vector<std::unique_ptr<Env>>& envs) {
  std::vector<int> shares;
  for (size_t i = 0; i < envs.size(); ++i) {
    if (i == 0 || envs[i]->batch() != envs[i - 1]->batch()) shares.push_back(0);
    ++shares.back();
  }
  return shares;
}

std::vector<int> SharesOf(int num_envs, int64_t num_workers) {
  const EnvRegistry registry = Registry();
  EnvOptions options = FakeOptions();
  options.workers.num_workers = num_workers;
  const auto envs = registry.MakeGroup("gymnasium:Fake-v0", options, num_envs);
  EXPECT_TRUE(envs.ok()) << envs.status();
  return Shares(*envs);
}

std::string MakeError(const std::string& id, const EnvOptions& options = {}) {
  const auto env = Registry().Make(id, options);
  EXPECT_FALSE(env.ok()) << id;
  return std::string(env.status().message());
}

TEST(WorkerRegistryTest, HasThreeFamilies) {
  const EnvRegistry registry = Registry();
  std::vector<std::string> ids;
  for (const EnvRegistry::Entry* entry : registry.entries()) ids.push_back(entry->id);
  EXPECT_THAT(ids, ElementsAre("dm_control:", "gymnasium:", "gymnasium:ALE/"));
  EXPECT_EQ((*registry.Find("gymnasium:ALE/Pong-v5"))->id, "gymnasium:ALE/");
  EXPECT_EQ((*registry.Find("gymnasium:CartPole-v1"))->id, "gymnasium:");
  EXPECT_EQ((*registry.Find("dm_control:cartpole/swingup"))->id, "dm_control:");
}

TEST(WorkerRegistryTest, SharesEnvironmentsAmongWorkers) {
  LZ_NEEDS_FAKE_WORKER();
  EXPECT_THAT(SharesOf(8, 2), ElementsAre(4, 4));
  EXPECT_THAT(SharesOf(7, 3), ElementsAre(2, 2, 3));
  EXPECT_THAT(SharesOf(3, 8), ElementsAre(1, 1, 1)) << "no process without environments";
  EXPECT_THAT(SharesOf(5, 1), ElementsAre(5));
}

TEST(WorkerRegistryTest, TakesAWorkerForEachCoreByDefault) {
  LZ_NEEDS_FAKE_WORKER();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores > 6) GTEST_SKIP() << cores << " cores: as many processes";
  EXPECT_EQ(SharesOf(6, 0).size(), static_cast<size_t>(cores));
}

TEST(WorkerRegistryTest, HandsItsOptionsOn) {
  LZ_NEEDS_FAKE_WORKER();
  const EnvRegistry registry = Registry();
  EnvOptions options = FakeOptions({{"bad", "step_hang"}, {"cap", "70"}});
  options.max_episode_steps = 12;
  options.workers.step_timeout_s = 0.2;
  options.workers.max_restarts = 0;
  const auto env = registry.Make("gymnasium:Fake-v0", options);
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_EQ((*env)->spec().id, "gymnasium:Fake-v0");
  EXPECT_EQ((*env)->spec().max_episode_steps, 12);
  (*env)->Reset(0);
  EXPECT_THAT(std::string((*env)->Step(Action::Discrete(0)).status().message()),
              AllOf(HasSubstr("(env.step_timeout_s)"), HasSubstr("after 0 restarts")));
}

TEST(WorkerRegistryTest, RefusesOptionsThatAreForOthers) {
  EnvOptions options;
  options.max_episode_steps = -1;
  EXPECT_EQ(MakeError("gymnasium:CartPole-v1", options),
            "max_episode_steps of 'gymnasium:CartPole-v1' is -1; allowed: 0 (its own cap) or a "
            "positive number");
  options = {};
  options.random_opening_fraction = 0.5;
  EXPECT_EQ(MakeError("dm_control:cartpole/swingup", options),
            "random_opening_fraction of 'dm_control:cartpole/swingup' is 0.5; allowed: 0, random "
            "openings are for boards");
  options = {};
  options.board_size = 9;
  EXPECT_EQ(MakeError("gymnasium:CartPole-v1", options),
            "board_size of 'gymnasium:CartPole-v1' is 9; allowed: 0, it comes in one size");
  options = {};
  options.settings = {{"frames", "4"}};
  EXPECT_THAT(MakeError("gymnasium:ALE/Pong-v5", options),
              HasSubstr("'gymnasium:ALE/Pong-v5' has no setting 'frames'"));
  options.settings = {{"sticky", "-0.5"}};
  EXPECT_EQ(MakeError("gymnasium:ALE/Pong-v5", options),
            "sticky of 'gymnasium:ALE/Pong-v5': got -0.5; allowed: -1, or a number from 0 to 1");
}

TEST(WorkerRegistryTest, SaysWhichInterpreterIsMissing) {
  EnvOptions options;
  options.workers.python = "no_such_python";
  EXPECT_EQ(MakeError("gymnasium:CartPole-v1", options),
            "the Python of environments (env.python): cannot start 'no_such_python': No such file "
            "or directory");
}

TEST(WorkerRegistryTest, SaysWhatIsWrongWithAName) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(MakeError("gymnasium:CartPol-v1"),
              HasSubstr("environment 'gymnasium:CartPol-v1': NameNotFound: Environment `CartPol` "
                        "doesn't exist. Did you mean: `CartPole`?"));
  EXPECT_THAT(MakeError("gymnasium:CartPole-v99"), HasSubstr("VersionNotFound"));
  EXPECT_THAT(MakeError("gymnasium:no_such_module:X-v0"),
              HasSubstr("No module named 'no_such_module'"));
  EXPECT_FALSE(absl::StrContains(MakeError("gymnasium:CartPole-v99"), "Traceback"));
  EXPECT_FALSE(absl::StrContains(MakeError("gymnasium:bad name"), "Traceback"));
  EnvOptions options;
  options.settings = {{"gravityy", "1"}};
  EXPECT_THAT(
      MakeError("gymnasium:CartPole-v1", options),
      AllOf(HasSubstr("unexpected keyword argument 'gravityy'"), Not(HasSubstr("Traceback"))));
}

// By an interpreter that has no packages at all.
TEST(WorkerRegistryTest, SaysHowToInstallWhatIsMissing) {
  LZ_NEEDS(WhyNot("/usr/bin/python3", "import os; os.eventfd"));
  if (WhyNot("/usr/bin/python3", "import gymnasium").empty()) {
    GTEST_SKIP() << "the system's Python has gymnasium";
  }
  EnvOptions options;
  options.workers.python = "/usr/bin/python3";
  const auto env = Registry().Make("gymnasium:CartPole-v1", options);
  EXPECT_EQ(env.status(),
            absl::FailedPreconditionError(
                "environment 'gymnasium:CartPole-v1' needs the Python package 'gymnasium', which "
                "/usr/bin/python3 has not (No module named 'gymnasium'); install it with: "
                "tools/setup.sh --python-envs, or: /usr/bin/python3 -m pip install gymnasium, or "
                "name another interpreter by env.python"));
}

TEST(WorkerRegistryTest, UsesAProcessAgain) {
  LZ_NEEDS_GYMNASIUM();
  const EnvRegistry registry = Registry();
  std::set<pid_t> pids;
  const int descriptors = NumDescriptors();
  int of_worker = 0;
  for (int i = 0; i < 200; ++i) {
    const auto envs = registry.MakeGroup(kCount, {}, 1 + i % 3);
    ASSERT_TRUE(envs.ok()) << envs.status();
    for (const auto& env : *envs) {
      ASSERT_EQ(env->Reset(5).observation[2], 5.0f);
      ASSERT_EQ(env->Step(Action::Discrete(1))->observation[0], 1.0f);
      pids.insert(GroupOf(env).pid());
    }
    if (i % 3 == 0) {  // one environment
      const int now = NumDescriptors(absl::StrCat(GroupOf(envs->front()).pid()));
      if (i == 0) of_worker = now;
      ASSERT_EQ(now, of_worker) << "cycle " << i;
      ASSERT_EQ(NumMappings("memfd:lzero_worker ", absl::StrCat(GroupOf(envs->front()).pid())), 1);
    }
  }
  EXPECT_LE(pids.size(), std::thread::hardware_concurrency()) << "one for each worker at a time";
  // Each that is kept has a socket, a pipe, its output, its end and two events here, and no memory
  // but the last.
  EXPECT_LE(NumDescriptors() - descriptors, 7 * static_cast<int>(pids.size()));
}

TEST(WorkerRegistryTest, LeavesNothingBehind) {
  LZ_NEEDS_FAKE_WORKER();
  const int descriptors = NumDescriptors();
  for (int i = 0; i < 10; ++i) {
    const EnvRegistry registry = Registry();
    EnvOptions options = FakeOptions();
    options.workers.num_workers = 2;
    const auto envs = registry.MakeGroup("gymnasium:Fake-v0", options, 3);
    ASSERT_TRUE(envs.ok()) << envs.status();
    (*envs)[2]->Reset(1);
    ASSERT_TRUE((*envs)[2]->Step(Action::Discrete(0)).ok());
  }
  EXPECT_EQ(NumDescriptors(), descriptors);
  EXPECT_EQ(NumMappings("lzero_worker"), 0);
  EXPECT_TRUE(Children().empty());
}

TEST(WorkerRegistryTest, MayEndBeforeItsEnvironments) {
  LZ_NEEDS_FAKE_WORKER();
  std::vector<std::unique_ptr<Env>> envs;
  {
    const EnvRegistry registry = Registry();
    EnvOptions options = FakeOptions();
    options.workers.num_workers = 1;
    envs = *registry.MakeGroup("gymnasium:Fake-v0", options, 3);
  }
  envs.erase(envs.begin());
  envs[0]->Reset(6);
  EXPECT_THAT(envs[0]->Step(Action::Discrete(0))->observation, ElementsAre(1, 6));
  envs.clear();
  EXPECT_TRUE(Children().empty());
}

void ExpectConforms(const std::string& id, int64_t num_steps, const EnvOptions& options = {}) {
  const EnvRegistry registry = Registry();
  const auto checks = RunConformance([&] { return registry.Make(id, options); }, {7, num_steps});
  EXPECT_GT(checks.size(), 10u) << id;
  for (const ConformanceCheck& check : checks) {
    EXPECT_TRUE(check.passed) << id << ": " << check.name << ": " << check.detail;
  }
}

TEST(WorkerRegistryTest, GivesEnvironmentsThatConform) {
  LZ_NEEDS_GYMNASIUM();
  ExpectConforms("gymnasium:CartPole-v1", 200);
  ExpectConforms("gymnasium:Pendulum-v1", 200);
  EnvOptions options;
  options.settings = {{"mask", "true"}};
  ExpectConforms(kCount, 100, options);
}

TEST(WorkerRegistryTest, GivesAtariGamesByPreset) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium ale_py"));
  const EnvRegistry registry = Registry();
  EnvOptions options;
  auto env = registry.Make("gymnasium:ALE/Pong-v5", options);
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_THAT((*env)->spec().observation.shape, ElementsAre(3, 64, 64));
  EXPECT_EQ((*env)->spec().action.num_actions, 6);
  EXPECT_EQ((*env)->spec().max_episode_steps, 0) << "frames are counted instead";
  options.settings = {
      {"preset", "200m"}, {"colors", "grey"}, {"stack", "4"}, {"screen_size", "96"}};
  env = registry.Make("gymnasium:ALE/Pong-v5", options);
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_THAT((*env)->spec().observation.shape, ElementsAre(4, 96, 96));
  EXPECT_EQ((*env)->spec().action.num_actions, 18);
  EXPECT_THAT(MakeError("gymnasium:ALE/Pongg-v5"), HasSubstr("NameNotFound"));
}

// A task that draws what it is when it is made: every copy must be the same.
TEST(WorkerRegistryTest, MakesEqualTasksOfTheControlSuite) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium dm_control"));
  const EnvRegistry registry = Registry();
  EnvOptions options;
  options.workers.num_workers = 2;
  auto envs = *registry.MakeGroup("dm_control:lqr/lqr_2_1", options, 2);
  EXPECT_EQ(envs[0]->Reset(3).observation, envs[1]->Reset(3).observation);
  Action action;
  action.values = {0.5f};
  for (int t = 0; t < 5; ++t) {
    const TimeStep first = *envs[0]->Step(action), second = *envs[1]->Step(action);
    EXPECT_EQ(first.observation, second.observation) << t;
    EXPECT_EQ(first.reward, second.reward) << t;
  }
}

TEST(WorkerRegistryTest, FindsTheNewestVersionOfANameWithoutOne) {
  LZ_NEEDS_GYMNASIUM();
  const auto env = Registry().Make("gymnasium:CartPole", {});
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_EQ((*env)->spec().max_episode_steps, 500);
}

TEST(WorkerRegistryTest, HandsListsOn) {
  LZ_NEEDS_GYMNASIUM();
  EnvOptions options;
  options.settings = {{"numbers", "[7, 8]"}};
  const auto env = Registry().Make("gymnasium:lzero_test_envs:Shows-v0", options);
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_EQ((*env)->Reset(0).observation[1], 7.0f);
}

TEST(WorkerRegistryTest, FailsTheCheckOfAnEnvironmentThatCrashes) {
  LZ_NEEDS_GYMNASIUM();
  EnvOptions options;
  options.settings = {{"at", "3"}};
  options.workers.max_restarts = 1000;
  const auto make = [&] { return Registry().Make("gymnasium:lzero_test_envs:Faulty-v0", options); };
  for (const ConformanceCheck& check : RunConformance(make, {})) {
    if (check.name != "random_steps") continue;
    EXPECT_FALSE(check.passed);
    EXPECT_THAT(check.detail, HasSubstr("seed 0, step 2: the environment failed"));
  }
}

TEST(WorkerRegistryTest, GivesTasksOfTheControlSuite) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium dm_control"));
  const EnvRegistry registry = Registry();
  const auto env = registry.Make("dm_control:cartpole/swingup", {});
  ASSERT_TRUE(env.ok()) << env.status();
  EXPECT_EQ((*env)->spec().max_episode_steps, 1000);
  EXPECT_THAT((*env)->spec().action.low, ElementsAre(-1.0f));
  const TimeStep first = (*env)->Reset(~uint64_t{0});
  EXPECT_EQ(first.observation.size(), 5u);
  EXPECT_NE((*env)->Reset(1).observation, first.observation);
  EXPECT_EQ((*env)->Reset(~uint64_t{0}).observation, first.observation);
  EnvOptions options;
  options.settings = {{"time_limit", "0.5"}};
  EXPECT_EQ((*registry.Make("dm_control:cartpole/swingup", options))->spec().max_episode_steps, 50);
  EXPECT_THAT(MakeError("dm_control:cartpole/fly"),
              HasSubstr("no task 'cartpole/fly' in dm_control's suite; known: acrobot/swingup"));
}

TEST(WorkerRegistryTest, HoldsAnActionOfTheControlSuiteAndAddsItsRewards) {
  LZ_NEEDS(WhyNoModules("numpy gymnasium dm_control"));
  const EnvRegistry registry = Registry();
  EnvOptions options;
  options.settings = {{"time_limit", "0.1"}};  // 10 steps
  const auto single = *registry.Make("dm_control:cartpole/balance", options);
  options.settings["action_repeat"] = "4";
  const auto held = *registry.Make("dm_control:cartpole/balance", options);
  EXPECT_EQ(held->spec().max_episode_steps, 3);  // of 4, 4 and 2 steps of the suite
  EXPECT_EQ(held->Reset(5).observation, single->Reset(5).observation);
  Action action;
  for (const int num_steps : {4, 4, 2}) {
    action.values = {0.25f * static_cast<float>(num_steps)};
    TimeStep last;
    double reward = 0.0;
    for (int i = 0; i < num_steps; ++i) {
      last = *single->Step(action);
      reward += last.reward;
    }
    const TimeStep step = *held->Step(action);
    EXPECT_EQ(step.observation, last.observation);
    EXPECT_NEAR(step.reward, reward, 1e-6);
    EXPECT_EQ(step.truncated, num_steps == 2);
  }
  options.settings = {{"action_repeat", "0"}};
  EXPECT_THAT(MakeError("dm_control:cartpole/balance", options),
              HasSubstr("action_repeat: got 0; allowed: an integer from 1 to 1000"));
}

}  // namespace
}  // namespace lzero::worker_registry_test
