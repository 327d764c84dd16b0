#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lzero/base/machine.h"
#include "tests/env/python/open_things.h"
#include "tests/env/python/python_tests.h"

namespace lzero::worker_env_test {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

Action Act(int32_t index) { return Action::Discrete(index); }

Action Numbers(std::vector<float> values) {
  Action action;
  action.values = std::move(values);
  return action;
}

TestGroup OneEnv(const EnvSettingTexts& settings, int64_t max_episode_steps = 0) {
  return TestGroup(GroupOptions(FakeCommand(settings)), 1, max_episode_steps);
}

TEST(WorkerEnvTest, SaysWhatItIs) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"cap", "70"}});
  Env& env = *test.envs[0];
  EXPECT_EQ(env.spec().id, "gymnasium:Fake-v0");
  EXPECT_THAT(env.spec().observation.shape, ElementsAre(2));
  EXPECT_EQ(env.spec().observation.type, ObservationType::kFloat32);
  EXPECT_EQ(env.spec().action.num_actions, 3);
  EXPECT_EQ(env.spec().num_players, 1);
  EXPECT_EQ(env.spec().max_episode_steps, 70) << "the package's";
  EXPECT_FALSE(env.spec().can_save);
  EXPECT_FALSE(env.spec().can_set_state);
  EXPECT_FALSE(env.spec().deterministic) << "nobody knows";
  EXPECT_TRUE(env.spec().truncates_itself);
  EXPECT_EQ(env.batch(), test.group.get());
  EXPECT_EQ(env.Save().status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(OneEnv({{"cap", "70"}}, 5).envs[0]->spec().max_episode_steps, 5);
}

TEST(WorkerEnvTest, PlaysAnEpisode) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"length", "2"}});
  Env& env = *test.envs[0];
  const TimeStep first = env.Reset(42);
  EXPECT_THAT(first.observation, ElementsAre(0, 42));
  EXPECT_THAT(first.legal_action_mask, ElementsAre(1, 1, 1));
  EXPECT_FALSE(first.ended());
  EXPECT_EQ(first.episode_return, 0.0);
  TimeStep step = *env.Step(Act(1));
  EXPECT_THAT(step.observation, ElementsAre(1, 42));
  EXPECT_EQ(step.reward, 0.5f);
  EXPECT_EQ(step.to_play, 0);
  EXPECT_EQ(step.chance_outcome, -1);
  step = *env.Step(Act(2));
  EXPECT_TRUE(step.terminated);
  EXPECT_FALSE(step.truncated);
  EXPECT_FALSE(step.interrupted);
  EXPECT_EQ(step.episode_return, 1.5);
  EXPECT_THAT(step.legal_action_mask, ElementsAre(0, 0, 0));
  EXPECT_EQ(env.Step(Act(0)).status(),
            absl::FailedPreconditionError("cannot step 'gymnasium:Fake-v0': the episode has ended; "
                                          "call Reset first"));
  const TimeStep again = env.Reset(43);
  EXPECT_THAT(again.observation, ElementsAre(0, 43));
  EXPECT_EQ(again.episode_return, 0.0);
  EXPECT_EQ(env.Step(Act(1))->episode_return, 0.5);
}

TEST(WorkerEnvTest, RefusesAStepBeforeTheFirstReset) {
  LZ_NEEDS_FAKE_WORKER();
  EXPECT_EQ(
      OneEnv({}).envs[0]->Step(Act(0)).status(),
      absl::FailedPreconditionError("cannot step 'gymnasium:Fake-v0': no episode was started; "
                                    "call Reset first"));
}

TEST(WorkerEnvTest, BeginsAnewInTheMidstOfAnEpisode) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"length", "3"}}, 4);
  Env& env = *test.envs[0];
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(env.Reset(7).observation, ElementsAre(0, 7));
    EXPECT_THAT(env.Step(Act(0))->observation, ElementsAre(1, 7));
    EXPECT_EQ(env.Step(Act(0))->episode_return, 1.5);
  }
}

TEST(WorkerEnvTest, TruncatesAtTheCap) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"length", "5"}}, 3);
  Env& env = *test.envs[0];
  for (int episode = 0; episode < 2; ++episode) {
    env.Reset(1);
    EXPECT_FALSE(env.Step(Act(0))->ended());
    EXPECT_FALSE(env.Step(Act(0))->ended());
    const TimeStep last = *env.Step(Act(0));
    EXPECT_TRUE(last.truncated);
    EXPECT_FALSE(last.terminated);
    EXPECT_FALSE(last.interrupted);
    EXPECT_THAT(last.legal_action_mask, ElementsAre(0, 0, 0));
    EXPECT_EQ(env.Step(Act(0)).status().code(), StatusCode::kFailedPrecondition);
  }
}

// Legal are all actions after an even number of steps, 0 and 2 after an odd one.
TEST(WorkerEnvTest, KeepsToTheMask) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"mask", "true"}, {"length", "4"}});
  Env& env = *test.envs[0];
  EXPECT_THAT(env.Reset(1).legal_action_mask, ElementsAre(1, 1, 1));
  EXPECT_THAT(env.Step(Act(1))->legal_action_mask, ElementsAre(1, 0, 1));
  EXPECT_EQ(
      env.Step(Act(1)).status(),
      absl::InvalidArgumentError("action 1 is illegal here; 'gymnasium:Fake-v0' takes now: 0 2"));
  EXPECT_THAT(env.Step(Act(2))->legal_action_mask, ElementsAre(1, 1, 1));
  EXPECT_THAT(env.Step(Act(0))->legal_action_mask, ElementsAre(1, 0, 1));
  EXPECT_THAT(env.Reset(1).legal_action_mask, ElementsAre(1, 1, 1)) << "of the reset, not the step";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(env.Step(Act(0)).ok());
  EXPECT_THAT(env.Step(Act(0))->legal_action_mask, ElementsAre(0, 0, 0));
}

TEST(WorkerEnvTest, RefusesAMaskThatIsNone) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"mask", "true"}, {"bad", "step_mask"}});
  test.envs[0]->Reset(1);
  EXPECT_TRUE(test.envs[0]->Step(Act(0))->interrupted);
}

TEST(WorkerEnvTest, ClipsBoxActionsToTheirBounds) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"box", "true"}});
  Env& env = *test.envs[0];
  EXPECT_EQ(env.spec().action.kind, ActionKind::kBox);
  EXPECT_TRUE(env.Reset(0).legal_action_mask.empty());
  const auto played = [&](float first, float second) {
    return env.Step(Numbers({first, second}))->observation;
  };
  EXPECT_THAT(played(0.25f, -3.0f), ElementsAre(0.25f, -3.0f));
  EXPECT_THAT(played(2.0f, 7.0f), ElementsAre(1.0f, 5.0f));
  EXPECT_THAT(played(-1e30f, -1e30f), ElementsAre(-1.0f, -1e30f)) << "no bound on that side";
  EXPECT_THAT(played(-0.0f, 5.0f), ElementsAre(-0.0f, 5.0f));
  EXPECT_TRUE(env.Step(Numbers({0, 0}))->legal_action_mask.empty());
}

TEST(WorkerEnvTest, RefusesBoxActionsThatAreNone) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"box", "true"}});
  Env& env = *test.envs[0];
  env.Reset(0);
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(env.Step(Numbers({0.0f, nan})).status(),
            absl::InvalidArgumentError("action[1] is nan; 'gymnasium:Fake-v0' takes a number, -inf "
                                       ".. 5 (clipped beyond)"));
  EXPECT_EQ(env.Step(Numbers({-inf, 0.0f})).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(env.Step(Numbers({1.0f})).status(),
            absl::InvalidArgumentError("action has 1 values; 'gymnasium:Fake-v0' takes 2"));
  EXPECT_EQ(env.Step(Act(1)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(env.Step(Numbers({0, 0}))->reward, 0.5f) << "the first step";
}

TEST(WorkerEnvTest, TellsWithTheNextStepWhatAResetCouldNot) {
  LZ_NEEDS_FAKE_WORKER();
  TestGroup test(GroupOptions(FakeCommand({{"bad", "reset_fail"}}), 1), 1);
  const TimeStep first = test.envs[0]->Reset(0);
  EXPECT_THAT(first.observation, ElementsAre(0, 0)) << "of the right size";
  EXPECT_THAT(first.legal_action_mask, ElementsAre(1, 1, 1)) << "so that the step is tried";
  EXPECT_FALSE(first.ended());
  EXPECT_THAT(std::string(test.envs[0]->Step(Act(0)).status().message()),
              HasSubstr("env.max_restarts"));
  EXPECT_EQ(test.envs[0]->RenderRgb().status().code(), StatusCode::kFailedPrecondition);
}

TEST(WorkerEnvTest, DrawsOnceAnEpisodeHasBegun) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({{"length", "1"}});
  Env& env = *test.envs[0];
  EXPECT_EQ(
      env.RenderRgb().status(),
      absl::FailedPreconditionError("'gymnasium:Fake-v0' has nothing to draw; call Reset first"));
  env.Reset(0);
  EXPECT_EQ(env.RenderRgb()->pixels[0], 0);
  EXPECT_TRUE(env.Step(Act(0))->terminated);
  EXPECT_EQ(env.RenderRgb()->pixels[0], 1) << "the last state, too";
}

// A view that goes on with the game where an episode terminated, as Atari's does after a lost life,
// and writes down what it is asked.
class GoingOnView : public FrameView {
 public:
  GoingOnView(const WorkerSpec& spec, int num_noops, std::string* log)
      : FrameView(spec), num_noops_(num_noops), log_(log) {}

  int max_repeat() const override { return 5; }
  bool BeginEpisode(uint64_t seed) override {
    absl::StrAppend(log_, "begin ", seed, ", ");
    is_fresh_ = !goes_on_;
    return is_fresh_;
  }
  void Forget() override {
    log_->append("forget, ");
    goes_on_ = false;
  }
  std::vector<int32_t> Prelude() override {
    return std::vector<int32_t>(static_cast<size_t>(is_fresh_ ? num_noops_ : 1), 0);
  }
  absl::Status First(const WorkerResult& result) override {
    log_->append("first, ");
    goes_on_ = false;
    return FrameView::First(result);
  }
  absl::StatusOr<ViewedStep> Next(const WorkerResult& result) override {
    goes_on_ = result.terminated;
    return FrameView::Next(result);
  }

 private:
  const int num_noops_;
  std::string* const log_;
  bool goes_on_ = false;
  bool is_fresh_ = false;
};

TestGroup GoingOnGroup(const EnvSettingTexts& settings, int num_envs, int num_noops,
                       std::string* log) {
  WorkerGroup::Options options = GroupOptions(FakeCommand(settings));
  options.make_view = [=](const WorkerSpec& spec) -> absl::StatusOr<std::unique_ptr<FrameView>> {
    return std::make_unique<GoingOnView>(spec, num_noops, log);
  };
  return TestGroup(std::move(options), num_envs);
}

TEST(WorkerEnvTest, GoesOnWhereTheViewSaysSo) {
  LZ_NEEDS_FAKE_WORKER();
  std::string log;
  const TestGroup test = GoingOnGroup({{"length", "2"}}, 1, 0, &log);
  Env& env = *test.envs[0];
  EXPECT_THAT(env.Reset(5).observation, ElementsAre(0, 5));
  env.Step(Act(0)).IgnoreError();
  EXPECT_TRUE(env.Step(Act(0))->terminated);
  EXPECT_THAT(env.Reset(6).observation, ElementsAre(3, 5)) << "no reset, but one more step";
  EXPECT_EQ(log, "begin 5, first, begin 6, first, ");
  EXPECT_EQ(env.Step(Act(0))->episode_return, 2.0) << "of this episode: the fourth step's reward";
}

TEST(WorkerEnvTest, PlaysWhatTheViewWantsBeforeTheFirstObservation) {
  LZ_NEEDS_FAKE_WORKER();
  std::string log;
  const TestGroup test = GoingOnGroup({}, 1, 4, &log);
  EXPECT_EQ(test.group->spec().action.num_actions, 3);
  EXPECT_THAT(test.envs[0]->Reset(5).observation[1], 5);
  EXPECT_EQ(log, "begin 5, first, first, ");
}

// The process that knew the game has died, and this episode had ended before: nothing is to be
// interrupted, but there is nothing to go on with either.
TEST(WorkerEnvTest, DoesNotGoOnInAProcessThatIsNew) {
  LZ_NEEDS_FAKE_WORKER();
  std::string log;
  TestGroup test = GoingOnGroup({{"length", "1"}}, 2, 0, &log);
  for (const auto& env : test.envs) env->Reset(5);
  EXPECT_TRUE(test.envs[0]->Step(Act(0))->terminated);
  test.KillWorker();
  EXPECT_TRUE(test.envs[1]->Step(Act(0))->interrupted);
  log.clear();
  EXPECT_THAT(test.envs[0]->Reset(6).observation, ElementsAre(0, 6)) << "a new game";
  EXPECT_EQ(log, "forget, begin 6, first, ");
  EXPECT_EQ(test.group->num_restarts(), 1);
}

TEST(WorkerEnvTest, BeginsAnewWhereThePreludeEndsTheGame) {
  LZ_NEEDS_FAKE_WORKER();
  std::string log;
  const TestGroup test = GoingOnGroup({{"length", "1"}}, 1, 3, &log);
  Env& env = *test.envs[0];
  EXPECT_THAT(env.Reset(5).observation, ElementsAre(0, 5)) << "without the no-ops";
  EXPECT_EQ(log, "begin 5, first, forget, begin 5, first, ")
      << "the view must not count what was played in vain";
  EXPECT_TRUE(env.Step(Act(0))->terminated);
}

TEST(WorkerGroupTest, PassesOnThatAViewDoesNotFit) {
  LZ_NEEDS_FAKE_WORKER();
  WorkerGroup::Options options = GroupOptions(FakeCommand());
  options.make_view = [](const WorkerSpec&) -> absl::StatusOr<std::unique_ptr<FrameView>> {
    return absl::InvalidArgumentError("no game");
  };
  EXPECT_EQ(WorkerGroup::Create(options, 1, std::make_shared<WorkerPool>()).status(),
            absl::InvalidArgumentError("no game"));
  EXPECT_TRUE(Children().empty());
}

// An interpreter alone takes some MiB.
TEST(WorkerEnvTest, TellsWhatItsProcessHolds) {
  LZ_NEEDS_FAKE_WORKER();
  const TestGroup test = OneEnv({});
  EXPECT_EQ(test.group->ProcessBytes(), ResidentBytesOf(test.group->pid()));
  EXPECT_GT(test.group->ProcessBytes(), int64_t{4} << 20);
}

TEST(WorkerEnvTest, TellsATracebackOnceForAllGroupsOfAPool) {
  LZ_NEEDS_FAKE_WORKER();
  const auto pool = std::make_shared<WorkerPool>();
  testing::internal::CaptureStderr();
  for (const int first_env : {0, 6}) {
    WorkerGroup::Options options =
        GroupOptions(FakeCommand({{"bad", "step_fail"}, {"slot", "1"}}), 2);
    options.first_env = first_env;
    const auto group = WorkerGroup::Create(options, 2, pool);
    ASSERT_TRUE(group.ok()) << group.status();
    const auto env = WorkerGroup::MakeEnv(*group, 1, "gymnasium:Fake-v0", 0);
    for (const uint64_t seed : {1, 2}) {
      env->Reset(seed);
      EXPECT_TRUE(env->Step(Action::Discrete(0))->interrupted);
    }
  }
  const std::string what = "warning: environment 'gymnasium:Fake-v0' raised an exception:";
  const std::string again = " Traceback of slot 1 (again, as told above)\nenvironment ";
  const std::string times = " times in its process (env.max_restarts)\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            absl::StrCat(what, "\nTraceback of slot 1\nenvironment 1 is made again, 1 of 2", times,
                         what, again, "1 is made again, 2 of 2", times,  //
                         what, again, "7 is made again, 1 of 2", times,  //
                         what, again, "7 is made again, 2 of 2", times));
}

}  // namespace
}  // namespace lzero::worker_env_test
