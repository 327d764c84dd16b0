// worker_tasks.py: how environments are made and wrapped, and what is said of those that do not
// keep to their interface (lzero_test_envs.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lzero/base/files.h"
#include "tests/env/python/python_tests.h"
#include "tests/run/test_folder.h"

namespace lzero::worker_tasks_test {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(WorkerTasksTest, SaysWhatAnEnvironmentMisses) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(MakeTestError("Misses", {{"how", "space"}}), HasSubstr("it has no action_space"));
  EXPECT_THAT(MakeTestError("Misses", {{"how", "reset"}}),
              HasSubstr("reset() must return two things: observation, a dictionary of facts"));
  // An observation that does not fit is found before training.
  EXPECT_EQ(MakeTestError("Misses", {{"how", "picture"}}),
            "environment 'gymnasium:lzero_test_envs:Misses-v0': ValueError: a picture of float64; "
            "its space has uint8");
  EXPECT_THAT(MakeTestError("Misses", {{"how", "axes"}}),
              HasSubstr("a picture of shape (3, 9, 8); its space has (9, 8, 3)"));
  EXPECT_THAT(MakeTestError("Misses", {{"how", "words"}}),
              HasSubstr("an observation that is no array of numbers: array(['a']"));
  for (const auto& [how, text] :
       {std::pair("step", "step() must return five things, not 4: observation, reward,"),
        std::pair("end", "terminated and truncated must be truth values; got 'False', False"),
        std::pair("facts", "step() must return a dictionary of facts last; got None")}) {
    const TestGroup test = MakeTestGroup("Misses", {{"how", how}});
    test.envs[0]->Reset(0);
    EXPECT_THAT(std::string(test.envs[0]->Step(Action::Discrete(0)).status().message()),
                HasSubstr(text));
  }
  const TestGroup draws = MakeTestGroup("Misses", {{"how", "nothing"}});
  draws.envs[0]->Reset(0);
  EXPECT_EQ(
      draws.envs[0]->RenderRgb().status(),
      absl::UnimplementedError("the environment draws a picture of float64; uint8 is needed"));
}

TEST(WorkerTasksTest, DrawsTextWhereThereAreNoPictures) {
  LZ_NEEDS_GYMNASIUM();
  const auto make = [](const std::string& name) {
    WorkerCommand command = TestCommand(name, {});
    command.task.id = absl::StrCat("lzero_test_texts:", name, "-v0");
    return TestGroup(GroupOptions(command, 0), 1);
  };
  const TestGroup test = make("DrawsText");
  test.envs[0]->Reset(0);
  EXPECT_TRUE(test.envs[0]->Step(Action::Discrete(0)).ok());
  EXPECT_EQ(*test.envs[0]->RenderText(), "1 of 10\n");
  EXPECT_EQ(test.envs[0]->RenderRgb().status(),
            absl::UnimplementedError("the environment draws no picture"));
  // One that refuses both modes is made all the same.
  const TestGroup nowhere = make("DrawsNowhere");
  nowhere.envs[0]->Reset(0);
  EXPECT_EQ(nowhere.envs[0]->RenderText().status().code(), absl::StatusCode::kUnimplemented);
}

// What the environment Values gives is no number: without restarts that is an error.
std::string FirstStepError(const std::string& what, int32_t action) {
  const TestGroup test = MakeTestGroup("Values", {{"what", what}, {"length", "99"}});
  test.envs[0]->Reset(0);
  return std::string(test.envs[0]->Step(Action::Discrete(action)).status().message());
}

TEST(WorkerTasksTest, TakesRewardsOfAnyNumberType) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test(GroupOptions(TestCommand("Values", {{"what", "rewards"}, {"length", "99"}}), 100),
                 1);
  const std::vector<float> expected = {3, 0.25f, 0.5f, 1, -2, 0.75f};
  test.envs[0]->Reset(0);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(test.envs[0]->Step(Action::Discrete(static_cast<int32_t>(i)))->reward, expected[i])
        << i;
  }
  for (const auto& [action, text] :
       {std::pair(6, "reward nan"), std::pair(7, "reward inf"), std::pair(8, "reward 1e+300")}) {
    EXPECT_THAT(FirstStepError("rewards", action), HasSubstr(text));
  }
  for (const auto& [action, text] :
       {std::pair(9, "reward; got None"), std::pair(10, "reward; got 'text'"),
        std::pair(11, "reward; got an array of shape (2,)")}) {
    EXPECT_THAT(FirstStepError("rewards", action), HasSubstr(text));
  }
}

TEST(WorkerTasksTest, TakesObservationsOfAnyNumberType) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test(GroupOptions(TestCommand("Values", {{"what", "observations"}}), 100), 1);
  test.envs[0]->Reset(0);
  const auto step = [&](int32_t action) {
    return test.envs[0]->Step(Action::Discrete(action))->observation;
  };
  EXPECT_THAT(step(0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(step(1), ElementsAre(1, 2, 3, 4, 5, 6)) << "a list";
  EXPECT_THAT(step(2), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(step(3)[0], static_cast<float>(1e-40));
  EXPECT_EQ(step(4)[5], 0.1f);
  for (const auto& [action, text] :
       {std::pair(5, "observation[0] = nan"), std::pair(6, "observation[0] = -inf"),
        std::pair(7, "observation[0] = inf")}) {
    EXPECT_THAT(FirstStepError("observations", action), HasSubstr(text));
  }
}

// One number for six would be the same number six times.
TEST(WorkerTasksTest, TakesNoObservationOfAnotherShape) {
  LZ_NEEDS_GYMNASIUM();
  TestGroup test(GroupOptions(TestCommand("Values", {{"what", "observations"}}), 100), 1);
  for (int32_t action = 8; action <= 12; ++action) {
    test.envs[0]->Reset(0);
    EXPECT_TRUE(test.envs[0]->Step(Action::Discrete(action))->interrupted) << action;
  }
}

TEST(WorkerTasksTest, ShowsAnArrayThatChangesInPlace) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = MakeTestGroup("SameArray", {});
  EXPECT_THAT(test.envs[0]->Reset(0).observation, ElementsAre(0, 0));
  const TimeStep first = *test.envs[0]->Step(Action::Discrete(0));
  const TimeStep second = *test.envs[0]->Step(Action::Discrete(0));
  EXPECT_THAT(first.observation, ElementsAre(1, 1));
  EXPECT_THAT(second.observation, ElementsAre(2, 2));
}

// A command whose environment is wrapped.
WorkerCommand Wrapped(std::vector<std::string> wrappers) {
  WorkerCommand command = TestCommand("Count");
  command.task.wrappers = std::move(wrappers);
  return command;
}

TEST(WorkerTasksTest, WrapsInTheOrderThatIsGiven) {
  LZ_NEEDS_GYMNASIUM();
  // Its first number: the steps, times 2, plus 10.
  for (const auto& [wrappers, first] :
       {std::pair(
            std::vector<std::string>{"lzero_test_wrappers:doubled", "lzero_test_wrappers:plus(10)"},
            12.0f),
        std::pair(std::vector<std::string>{"lzero_test_wrappers:plus(number=10)",
                                           "lzero_test_wrappers:doubled"},
                  22.0f)}) {
    const TestGroup test(GroupOptions(Wrapped(wrappers)), 1);
    EXPECT_EQ(test.envs[0]->spec().max_episode_steps, 70) << "as registered";
    test.envs[0]->Reset(0);
    EXPECT_EQ(test.envs[0]->Step(Action::Discrete(1))->observation[0], first);
  }
  const TestGroup stacked(
      GroupOptions(Wrapped({"gymnasium.wrappers:FrameStackObservation(stack_size=2)"})), 1);
  EXPECT_THAT(stacked.envs[0]->spec().observation.shape, testing::ElementsAre(2, 6));
}

TEST(WorkerTasksTest, SaysWhatIsWrongWithAWrapper) {
  LZ_NEEDS_GYMNASIUM();
  for (const auto& [wrapper, text] :
       {std::pair("lzero_test_wrapers:doubled",
                  "is not there: No module named 'lzero_test_wrapers'; did you mean "
                  "'lzero_test_wrappers'?"),
        std::pair("lzero_test_wrappers:dubled",
                  "is not there: lzero_test_wrappers has no function 'dubled'; did you mean "
                  "'doubled'?"),
        std::pair("doubled", "is no function; allowed: module:function, or module:function(1, "),
        std::pair("lzero_test_wrappers:plus(true)", "is no function; allowed: "),
        std::pair("lzero_test_wrappers:plus(nmber=1)",
                  "fails: TypeError: plus() got an unexpected keyword argument 'nmber'"),
        std::pair("lzero_test_wrappers:broken", "fails: ValueError: this went wrong on purpose"),
        std::pair("lzero_test_wrappers:nothing", "returns a NoneType; an environment is needed")}) {
    EXPECT_THAT(
        MakeTestError(Wrapped({wrapper})),
        HasSubstr(absl::StrCat("environment 'gymnasium:lzero_test_envs:Count-v0': wrapper '",
                               wrapper, "' ", text)));
  }
}

TEST(WorkerTasksTest, LooksForModulesInTheGivenFoldersFirst) {
  LZ_NEEDS_GYMNASIUM();
  const TestFolder folder;
  ASSERT_TRUE(
      WriteFileAtomic(folder.path() + "/lzero_elsewhere.py", "def same(env): return env\n").ok());
  WorkerCommand command = Wrapped({"lzero_elsewhere:same"});
  EXPECT_THAT(MakeTestError(command), HasSubstr("No module named 'lzero_elsewhere'"));
  command.task.python_path = {"/nowhere/at/all"};
  EXPECT_THAT(MakeTestError(command),
              HasSubstr("\nmodules are looked for in /nowhere/at/all (no such folder), "));
  command.task.python_path = {folder.path()};
  EXPECT_FALSE(TestGroup(GroupOptions(command), 1).envs.empty());
}

TEST(WorkerTasksTest, GivesTheLastTwoFramesOfAStep) {
  LZ_NEEDS_GYMNASIUM();
  WorkerCommand command = TestCommand("SameArray", {{"picture", "true"}, {"length", "9"}});
  command.task.keeps_pixels = true;
  const auto process = WorkerProcess::Start(command);
  ASSERT_TRUE(process.ok()) << process.status();
  EXPECT_THAT((*process)->spec().observation.shape, ElementsAre(9, 8, 1)) << "as they are";
  ASSERT_TRUE((*process)->Open(1, 2, 4).ok());
  WorkerMemory& memory = (*process)->memory();
  const auto play = [&](size_t num_actions) {
    memory.BeginRequest();
    if (num_actions == 0) memory.AskReset(0, 1, false);
    if (num_actions > 0) memory.AskStep(0, std::vector<int32_t>(num_actions, 1));
    (*process)->Send();
    EXPECT_TRUE((*process)->Wait().ok());
    return *memory.Read(0);
  };
  WorkerResult result = play(0);
  EXPECT_EQ(result.frames[72], 0);
  result = play(4);
  EXPECT_EQ(result.num_frames, 4u);
  EXPECT_EQ(result.reward, 4.0);
  EXPECT_EQ(result.frames[0], 3) << "the frame before";
  EXPECT_EQ(result.frames[143], 4) << "the newest";
  result = play(2);
  EXPECT_EQ(result.frames[71], 5);
  EXPECT_EQ(result.frames[72], 6);
  result = play(4);  // 7, 8, 9: it ends
  EXPECT_EQ(result.num_frames, 3u);
  EXPECT_TRUE(result.terminated);
  EXPECT_EQ(result.reward, 3.0);
  EXPECT_EQ(result.frames[0], 8);
  EXPECT_EQ(result.frames[72], 9);
}

}  // namespace
}  // namespace lzero::worker_tasks_test
