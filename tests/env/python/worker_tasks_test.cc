// worker_tasks.py: how the spaces of Gymnasium become numbers and back, for environments that show
// what they were given (lzero_test_envs.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/env/python/python_tests.h"

namespace lzero::worker_tasks_test {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// One environment of lzero_test_envs. The processes of a test are not reused: settings differ.
TestGroup Make(const std::string& name, const EnvSettingTexts& settings) {
  return TestGroup(GroupOptions(TestCommand(name, settings), 0), 1);
}

std::string MakeError(const std::string& name, const EnvSettingTexts& settings) {
  const auto group = WorkerGroup::Create(GroupOptions(TestCommand(name, settings)), 1,
                                         std::make_shared<WorkerPool>());
  EXPECT_FALSE(group.ok());
  return std::string(group.status().message());
}

// What the environment Acts was given for each of the discrete actions; the last number says
// whether its type was right.
std::vector<std::vector<float>> Given(const std::string& kind) {
  const TestGroup test = Make("Acts", {{"actions", kind}});
  if (test.envs.empty()) return {};
  test.envs[0]->Reset(0);
  std::vector<std::vector<float>> given;
  for (int32_t i = 0; i < test.envs[0]->spec().action.num_actions; ++i) {
    // Twice: what the environment does to its action must not be seen the next time.
    EXPECT_EQ(test.envs[0]->Step(Action::Discrete(i))->observation,
              test.envs[0]->Step(Action::Discrete(i))->observation);
    given.push_back(test.envs[0]->Step(Action::Discrete(i))->observation);
  }
  return given;
}

TEST(WorkerTasksTest, CountsDiscreteActionsFromTheirStart) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("discrete"),
              ElementsAre(ElementsAre(-5, -99, -99, -99, 1), ElementsAre(-4, -99, -99, -99, 1),
                          ElementsAre(-3, -99, -99, -99, 1)));
}

TEST(WorkerTasksTest, ListsProductsOfActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_discrete"),
              ElementsAre(ElementsAre(0, 0, -99, -99, 1), ElementsAre(0, 1, -99, -99, 1),
                          ElementsAre(0, 2, -99, -99, 1), ElementsAre(1, 0, -99, -99, 1),
                          ElementsAre(1, 1, -99, -99, 1), ElementsAre(1, 2, -99, -99, 1)));
  EXPECT_THAT(Given("multi_discrete_start"),
              ElementsAre(ElementsAre(10, 20, -99, -99, 1), ElementsAre(10, 21, -99, -99, 1),
                          ElementsAre(11, 20, -99, -99, 1), ElementsAre(11, 21, -99, -99, 1)));
}

TEST(WorkerTasksTest, ListsProductsOfGridsOfActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_discrete_grid"),
              ElementsAre(ElementsAre(0, 0, 0, 0, 1), ElementsAre(0, 0, 0, 1, 1),
                          ElementsAre(0, 0, 0, 2, 1), ElementsAre(1, 0, 0, 0, 1),
                          ElementsAre(1, 0, 0, 1, 1), ElementsAre(1, 0, 0, 2, 1)));
}

TEST(WorkerTasksTest, ListsSwitches) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_binary"),
              ElementsAre(ElementsAre(0, 0, -99, -99, 1), ElementsAre(0, 1, -99, -99, 1),
                          ElementsAre(1, 0, -99, -99, 1), ElementsAre(1, 1, -99, -99, 1)));
}

TEST(WorkerTasksTest, ListsGridsOfSwitches) {
  LZ_NEEDS_GYMNASIUM();
  const auto given = Given("multi_binary_grid");
  ASSERT_EQ(given.size(), 16u);
  EXPECT_THAT(given[0], ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(given[9], ElementsAre(1, 0, 0, 1, 1));
  EXPECT_THAT(given[15], ElementsAre(1, 1, 1, 1, 1));
}

std::vector<float> Play(const TestGroup& test, std::vector<float> values) {
  Action action;
  action.values = std::move(values);
  const auto step = test.envs[0]->Step(action);
  EXPECT_TRUE(step.ok()) << step.status();
  return step.ok() ? step->observation : std::vector<float>();
}

TEST(WorkerTasksTest, HandsBoxActionsOverInTheirTypeAndShape) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup box = Make("Acts", {{"actions", "box"}});
  EXPECT_THAT(box.envs[0]->spec().action.low, ElementsAre(-1, -2));
  EXPECT_THAT(box.envs[0]->spec().action.high, ElementsAre(1, kInfinity));
  box.envs[0]->Reset(0);
  EXPECT_THAT(Play(box, {0.5f, 1000.0f}), ElementsAre(0.5f, 1000.0f, -99, -99, 1));
  EXPECT_THAT(Play(box, {-3.0f, -3.0f}), ElementsAre(-1, -2, -99, -99, 1));

  const TestGroup grid = Make("Acts", {{"actions", "box_grid"}});
  EXPECT_EQ(grid.envs[0]->spec().action.low.size(), 4u);
  grid.envs[0]->Reset(0);
  EXPECT_THAT(Play(grid, {0.1f, 0.2f, 0.3f, 0.4f}), ElementsAre(0.1f, 0.2f, 0.3f, 0.4f, 1));

  const TestGroup integers = Make("Acts", {{"actions", "box_integers"}});
  integers.envs[0]->Reset(0);
  EXPECT_THAT(Play(integers, {3.0f, 10.0f}), ElementsAre(3, 10, -99, -99, 1));
  EXPECT_THAT(Play(integers, {2.6f, 99.0f}), ElementsAre(3, 10, -99, -99, 1)) << "the nearest";
}

// The nearest float32 of a bound may lie beyond it, where the environment may refuse it.
TEST(WorkerTasksTest, KeepsBoxActionsInsideBoundsOfDoubles) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = Make("Acts", {{"actions", "box_fine"}});
  test.envs[0]->Reset(0);
  for (const float value : {-9.0f, -0.1f, 0.3f, 9.0f}) {
    const std::vector<float> shown = Play(test, {value, value});
    EXPECT_EQ(shown[4], 1.0f) << value;
    EXPECT_FLOAT_EQ(shown[0], value < 0 ? -0.1f : 0.3f);
  }
}

TEST(WorkerTasksTest, TakesScalarsAndLargeBounds) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup scalar = Make("Acts", {{"actions", "box_scalar"}});
  scalar.envs[0]->Reset(0);
  EXPECT_THAT(Play(scalar, {0.5f}), ElementsAre(0.5f, -99, -99, -99, 1));
  const TestGroup large = Make("Acts", {{"actions", "box_large_bounds"}});
  EXPECT_THAT(large.envs[0]->spec().action.low, ElementsAre(-kInfinity));
  large.envs[0]->Reset(0);
  EXPECT_THAT(Play(large, {3e38f}), ElementsAre(3e38f, -99, -99, -99, 1));
}

TEST(WorkerTasksTest, RefusesActionsThatItCannotChoose) {
  LZ_NEEDS_GYMNASIUM();
  const std::string allowed = "; allowed: Discrete, MultiDiscrete, MultiBinary, Box";
  EXPECT_THAT(MakeError("Acts", {{"actions", "text"}}), HasSubstr(allowed));
  EXPECT_THAT(MakeError("Acts", {{"actions", "tuple"}}),
              HasSubstr("cannot choose actions of the space Tuple(Discrete(2), Discrete(2))"));
}

TEST(WorkerTasksTest, RefusesTooManyActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_EQ(MakeError("Acts", {{"actions", "many"}}),
            "environment 'gymnasium:lzero_test_envs:Acts-v0': the action space MultiDiscrete([100 "
            "100]) has more than 4096 combinations");
  EXPECT_EQ(MakeError("Acts", {{"actions", "huge"}}),
            "environment 'gymnasium:lzero_test_envs:Acts-v0': the action space "
            "Discrete(1099511627776) has more than 65536 actions");
}

// Shape, number type, bounds and the first observation of an environment that gives samples.
struct Seen {
  ObservationSpec spec;
  std::vector<float> first;
};
Seen Observe(const std::string& kind) {
  const TestGroup test = Make("Observes", {{"observations", kind}});
  if (test.envs.empty()) return {};
  return {test.envs[0]->spec().observation, test.envs[0]->Reset(3).observation};
}

TEST(WorkerTasksTest, FlattensDictionariesAndTuples) {
  LZ_NEEDS_GYMNASIUM();
  Seen seen = Observe("dict");  // a: one of three, b: two numbers; by name
  EXPECT_THAT(seen.spec.shape, ElementsAre(5));
  EXPECT_THAT(seen.spec.low, ElementsAre(0, 0, 0, -1, -1));
  EXPECT_THAT(seen.spec.high, ElementsAre(1, 1, 1, 2, 2));
  EXPECT_EQ(seen.first[0] + seen.first[1] + seen.first[2], 1.0f);
  seen = Observe("tuple");
  EXPECT_THAT(seen.spec.low, ElementsAre(0, 0, -1, -1));
  EXPECT_EQ(seen.first[0] + seen.first[1], 1.0f);
  seen = Observe("dict_with_text");
  EXPECT_THAT(seen.spec.shape, ElementsAre(2)) << "words are left out";
  EXPECT_THAT(seen.spec.low, ElementsAre(-1));
}

TEST(WorkerTasksTest, FlattensChoices) {
  LZ_NEEDS_GYMNASIUM();
  Seen seen = Observe("discrete");
  EXPECT_THAT(seen.spec.shape, ElementsAre(4));
  EXPECT_THAT(seen.first, testing::UnorderedElementsAre(0, 0, 0, 1));
  EXPECT_THAT(Observe("multi_binary").spec.shape, ElementsAre(3));
  seen = Observe("multi_discrete");
  EXPECT_THAT(seen.spec.shape, ElementsAre(5));
  EXPECT_EQ(seen.first[0] + seen.first[1], 1.0f);
}

TEST(WorkerTasksTest, KeepsBoxesInTheirShape) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Observe("scalar").spec.shape, ElementsAre(1));
  Seen seen = Observe("grid");
  EXPECT_THAT(seen.spec.shape, ElementsAre(2, 3));
  EXPECT_EQ(seen.spec.type, ObservationType::kFloat32);
  EXPECT_THAT(seen.spec.high, ElementsAre(9));
  seen = Observe("bytes");
  EXPECT_EQ(seen.spec.type, ObservationType::kFloat32) << "too small for a picture";
  EXPECT_THAT(seen.spec.high, ElementsAre(255));
  seen = Observe("mixed_bounds");
  EXPECT_THAT(seen.spec.low, ElementsAre(-1, -kInfinity));
  EXPECT_THAT(seen.spec.high, ElementsAre(1, kInfinity));
}

TEST(WorkerTasksTest, PutsTheChannelsOfPicturesFirst) {
  LZ_NEEDS_GYMNASIUM();
  const Seen seen = Observe("picture");
  EXPECT_THAT(seen.spec.shape, ElementsAre(3, 9, 8));
  EXPECT_EQ(seen.spec.type, ObservationType::kUint8);
  EXPECT_THAT(seen.spec.high, ElementsAre(1));
  EXPECT_THAT(Observe("grey_picture").spec.shape, ElementsAre(1, 9, 8));
  const auto stack = Observe("stack");  // four grey ones, channels first already
  EXPECT_THAT(stack.spec.shape, ElementsAre(4, 9, 8));
  EXPECT_EQ(stack.spec.type, ObservationType::kUint8);
}

TEST(WorkerTasksTest, RefusesObservationsWithoutNumbers) {
  LZ_NEEDS_GYMNASIUM();
  for (const char* kind : {"dict_of_text", "sequence", "nothing"}) {
    EXPECT_THAT(MakeError("Observes", {{"observations", kind}}),
                HasSubstr("cannot make numbers of the observation space"))
        << kind;
  }
}

TEST(WorkerTasksTest, SaysWhatAnEnvironmentMisses) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(MakeError("Misses", {{"how", "space"}}), HasSubstr("it has no action_space"));
  EXPECT_THAT(MakeError("Misses", {{"how", "reset"}}),
              HasSubstr("reset() must return two things: observation, a dictionary of facts"));
  for (const auto& [how, text] :
       {std::pair("step", "step() must return five things, not 4: observation, reward,"),
        std::pair("end", "terminated and truncated must be truth values; got 'False', False"),
        std::pair("facts", "step() must return a dictionary of facts last; got None"),
        std::pair("picture", "a picture of float64; its space has uint8")}) {
    const TestGroup test = Make("Misses", {{"how", how}});
    test.envs[0]->Reset(0);
    EXPECT_THAT(std::string(test.envs[0]->Step(Action::Discrete(0)).status().message()),
                HasSubstr(text));
  }
  const TestGroup draws = Make("Misses", {{"how", "nothing"}});
  draws.envs[0]->Reset(0);
  EXPECT_EQ(
      draws.envs[0]->RenderRgb().status(),
      absl::UnimplementedError("the environment draws a picture of float64; uint8 is needed"));
}

// What the environment Values gives is no number: without restarts that is an error.
std::string FirstStepError(const std::string& what, int32_t action) {
  const TestGroup test = Make("Values", {{"what", what}, {"length", "99"}});
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
  for (const int32_t action : {9, 10}) {  // None and a text: an exception in the worker
    test.envs[0]->Reset(0);
    EXPECT_TRUE(test.envs[0]->Step(Action::Discrete(action))->interrupted) << action;
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
  const TestGroup test = Make("SameArray", {});
  EXPECT_THAT(test.envs[0]->Reset(0).observation, ElementsAre(0, 0));
  const TimeStep first = *test.envs[0]->Step(Action::Discrete(0));
  const TimeStep second = *test.envs[0]->Step(Action::Discrete(0));
  EXPECT_THAT(first.observation, ElementsAre(1, 1));
  EXPECT_THAT(second.observation, ElementsAre(2, 2));
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
