// worker_spaces.py: how the spaces of Gymnasium become numbers and back, for environments that show
// what they were given (lzero_test_envs.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/env/python/python_tests.h"

namespace lzero::worker_spaces_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What the environment Acts was given for each of the discrete actions; the last number says
// whether its type was right.
std::vector<std::vector<float>> Given(const std::string& kind) {
  const TestGroup test = MakeTestGroup("Acts", {{"actions", kind}});
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

TEST(WorkerSpacesTest, CountsDiscreteActionsFromTheirStart) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("discrete"),
              ElementsAre(ElementsAre(-5, -99, -99, -99, 1), ElementsAre(-4, -99, -99, -99, 1),
                          ElementsAre(-3, -99, -99, -99, 1)));
}

TEST(WorkerSpacesTest, ListsProductsOfActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_discrete"),
              ElementsAre(ElementsAre(0, 0, -99, -99, 1), ElementsAre(0, 1, -99, -99, 1),
                          ElementsAre(0, 2, -99, -99, 1), ElementsAre(1, 0, -99, -99, 1),
                          ElementsAre(1, 1, -99, -99, 1), ElementsAre(1, 2, -99, -99, 1)));
  EXPECT_THAT(Given("multi_discrete_start"),
              ElementsAre(ElementsAre(10, 20, -99, -99, 1), ElementsAre(10, 21, -99, -99, 1),
                          ElementsAre(11, 20, -99, -99, 1), ElementsAre(11, 21, -99, -99, 1)));
}

TEST(WorkerSpacesTest, TellsWhatActionsStandFor) {
  LZ_NEEDS_GYMNASIUM();
  const auto meaning = [](const std::string& kind) {
    return MakeTestGroup("Acts", {{"actions", kind}}).envs[0]->spec().action.meaning;
  };
  EXPECT_EQ(meaning("multi_discrete"),
            "0 is [0, 0], 1 is [0, 1], ..., 5 is [1, 2] of MultiDiscrete([2 3]); the last number "
            "changes fastest");
  EXPECT_EQ(meaning("discrete"), "0 is -5, 1 is -4, 2 is -3 of Discrete(3, start=-5)");
  EXPECT_EQ(MakeTestGroup("Count", {}).envs[0]->spec().action.meaning, "") << "themselves";
}

TEST(WorkerSpacesTest, ListsProductsOfGridsOfActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_discrete_grid"),
              ElementsAre(ElementsAre(0, 0, 0, 0, 1), ElementsAre(0, 0, 0, 1, 1),
                          ElementsAre(0, 0, 0, 2, 1), ElementsAre(1, 0, 0, 0, 1),
                          ElementsAre(1, 0, 0, 1, 1), ElementsAre(1, 0, 0, 2, 1)));
}

TEST(WorkerSpacesTest, ListsSwitches) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(Given("multi_binary"),
              ElementsAre(ElementsAre(0, 0, -99, -99, 1), ElementsAre(0, 1, -99, -99, 1),
                          ElementsAre(1, 0, -99, -99, 1), ElementsAre(1, 1, -99, -99, 1)));
}

TEST(WorkerSpacesTest, ListsGridsOfSwitches) {
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

TEST(WorkerSpacesTest, HandsBoxActionsOverInTheirTypeAndShape) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup box = MakeTestGroup("Acts", {{"actions", "box"}});
  EXPECT_THAT(box.envs[0]->spec().action.low, ElementsAre(-1, -2));
  EXPECT_THAT(box.envs[0]->spec().action.high, ElementsAre(1, kInfinity));
  box.envs[0]->Reset(0);
  EXPECT_THAT(Play(box, {0.5f, 1000.0f}), ElementsAre(0.5f, 1000.0f, -99, -99, 1));
  EXPECT_THAT(Play(box, {-3.0f, -3.0f}), ElementsAre(-1, -2, -99, -99, 1));

  const TestGroup grid = MakeTestGroup("Acts", {{"actions", "box_grid"}});
  EXPECT_EQ(grid.envs[0]->spec().action.low.size(), 4u);
  grid.envs[0]->Reset(0);
  EXPECT_THAT(Play(grid, {0.1f, 0.2f, 0.3f, 0.4f}), ElementsAre(0.1f, 0.2f, 0.3f, 0.4f, 1));

  const TestGroup integers = MakeTestGroup("Acts", {{"actions", "box_integers"}});
  integers.envs[0]->Reset(0);
  EXPECT_THAT(Play(integers, {3.0f, 10.0f}), ElementsAre(3, 10, -99, -99, 1));
  EXPECT_THAT(Play(integers, {2.6f, 99.0f}), ElementsAre(3, 10, -99, -99, 1)) << "the nearest";
}

// The nearest float32 of a bound may lie beyond it, where the environment may refuse it.
TEST(WorkerSpacesTest, KeepsBoxActionsInsideBoundsOfDoubles) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup test = MakeTestGroup("Acts", {{"actions", "box_fine"}});
  test.envs[0]->Reset(0);
  for (const float value : {-9.0f, -0.1f, 0.3f, 9.0f}) {
    const std::vector<float> shown = Play(test, {value, value});
    EXPECT_EQ(shown[4], 1.0f) << value;
    EXPECT_FLOAT_EQ(shown[0], value < 0 ? -0.1f : 0.3f);
  }
}

TEST(WorkerSpacesTest, TakesScalarsAndLargeBounds) {
  LZ_NEEDS_GYMNASIUM();
  const TestGroup scalar = MakeTestGroup("Acts", {{"actions", "box_scalar"}});
  scalar.envs[0]->Reset(0);
  EXPECT_THAT(Play(scalar, {0.5f}), ElementsAre(0.5f, -99, -99, -99, 1));
  const TestGroup large = MakeTestGroup("Acts", {{"actions", "box_large_bounds"}});
  EXPECT_THAT(large.envs[0]->spec().action.low, ElementsAre(-kInfinity));
  large.envs[0]->Reset(0);
  EXPECT_THAT(Play(large, {3e38f}), ElementsAre(3e38f, -99, -99, -99, 1));
}

TEST(WorkerSpacesTest, RefusesActionsThatItCannotChoose) {
  LZ_NEEDS_GYMNASIUM();
  const std::string allowed = "; allowed: Discrete, MultiDiscrete, MultiBinary, Box";
  EXPECT_THAT(MakeTestError("Acts", {{"actions", "text"}}), HasSubstr(allowed));
  EXPECT_THAT(MakeTestError("Acts", {{"actions", "tuple"}}),
              HasSubstr("cannot choose actions of the space Tuple(Discrete(2), Discrete(2))"));
}

TEST(WorkerSpacesTest, RefusesTooManyActions) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_EQ(MakeTestError("Acts", {{"actions", "many"}}),
            "environment 'gymnasium:lzero_test_envs:Acts-v0': the action space MultiDiscrete([100 "
            "100]) has more than 4096 combinations");
  EXPECT_EQ(MakeTestError("Acts", {{"actions", "huge"}}),
            "environment 'gymnasium:lzero_test_envs:Acts-v0': the action space "
            "Discrete(1099511627776) has more than 65536 actions");
}

// What the spec says, and the first observation.
struct Seen {
  ObservationSpec spec;
  std::vector<float> first;
};
Seen Observe(const EnvSettingTexts& settings, const std::string& form = "auto") {
  WorkerCommand command = TestCommand("Observes", settings);
  command.task.observation = form;
  const TestGroup test(GroupOptions(command), 1);
  if (test.envs.empty()) return {};
  return {test.envs[0]->spec().observation, test.envs[0]->Reset(3).observation};
}
Seen ObserveSamples(const std::string& kind) { return Observe({{"observations", kind}}); }

TEST(WorkerSpacesTest, FlattensDictionariesAndTuples) {
  LZ_NEEDS_GYMNASIUM();
  Seen seen = ObserveSamples("dict");  // a: one of three, b: two numbers; by name
  EXPECT_THAT(seen.spec.shape, ElementsAre(5));
  EXPECT_THAT(seen.spec.low, ElementsAre(0, 0, 0, -1, -1));
  EXPECT_THAT(seen.spec.high, ElementsAre(1, 1, 1, 2, 2));
  EXPECT_EQ(seen.first[0] + seen.first[1] + seen.first[2], 1.0f);
  EXPECT_THAT(seen.spec.parts,
              ElementsAre("a            [0..3) one of 3, one-hot", "b            [3..5) {2}"));
  seen = ObserveSamples("tuple");
  EXPECT_THAT(seen.spec.low, ElementsAre(0, 0, -1, -1));
  EXPECT_EQ(seen.first[0] + seen.first[1], 1.0f);
  seen = ObserveSamples("dict_with_text");
  EXPECT_THAT(seen.spec.shape, ElementsAre(2)) << "words are left out";
  EXPECT_THAT(seen.spec.low, ElementsAre(-1));
  EXPECT_THAT(seen.spec.parts, ElementsAre("n            [0..2) {2}",
                                           "words        left out, a Text holds no numbers"));
  seen = ObserveSamples("deep");
  EXPECT_THAT(seen.spec.low, ElementsAre(-1, -1, 0, 0, -1, -1));
  EXPECT_EQ(seen.first[2] + seen.first[3], 1.0f);
  EXPECT_THAT(
      seen.spec.parts,
      ElementsAre("a            [0..2) {2}", "z.0          [2..4) one of 2, one-hot",
                  "z.1          left out, a Text holds no numbers", "z.2          [4..6) {2}"));
}

TEST(WorkerSpacesTest, FlattensChoices) {
  LZ_NEEDS_GYMNASIUM();
  Seen seen = ObserveSamples("discrete");
  EXPECT_THAT(seen.spec.shape, ElementsAre(4));
  EXPECT_THAT(seen.first, testing::UnorderedElementsAre(0, 0, 0, 1));
  EXPECT_THAT(seen.spec.parts, ElementsAre("[0..4) one of 4, one-hot"));
  EXPECT_THAT(ObserveSamples("multi_binary").spec.shape, ElementsAre(3));
  seen = ObserveSamples("multi_discrete");
  EXPECT_THAT(seen.spec.shape, ElementsAre(5));
  EXPECT_EQ(seen.first[0] + seen.first[1], 1.0f);
  EXPECT_THAT(seen.spec.parts, ElementsAre("[0..5) one of each of 2, 3, one-hot"));
}

TEST(WorkerSpacesTest, KeepsOtherArraysAsTheyAre) {
  LZ_NEEDS_GYMNASIUM();
  EXPECT_THAT(ObserveSamples("scalar").spec.shape, ElementsAre(1));
  Seen seen = Observe({{"shape", "[2, 3]"}, {"high", "9"}, {"dtype", "int32"}});
  EXPECT_THAT(seen.spec.shape, ElementsAre(2, 3));
  EXPECT_EQ(seen.spec.type, ObservationType::kFloat32);
  EXPECT_THAT(seen.spec.high, ElementsAre(9));
  EXPECT_THAT(seen.spec.parts, ElementsAre());
  seen = Observe({{"shape", "[4]"}});
  EXPECT_EQ(seen.spec.type, ObservationType::kFloat32) << "no picture";
  EXPECT_THAT(seen.spec.high, ElementsAre(255));
  EXPECT_THAT(seen.first, ElementsAre(0, 1, 2, 3));
  seen = ObserveSamples("mixed_bounds");
  EXPECT_THAT(seen.spec.low, ElementsAre(-1, -kInfinity));
  EXPECT_THAT(seen.spec.high, ElementsAre(1, kInfinity));
}

// What the rule makes of an array that holds 0, 1, 2, ...
struct ArrayCase {
  std::string shape, high, dtype, form;
  std::vector<int64_t> expected_shape;
  int64_t at = 0;       // an index of the observation, and the number of the array that is there
  float number = 0.0f;  // before the division
  float divisor = 1.0f;
  bool is_bytes = false;
  std::string part = "";
};

const ArrayCase kCases[] = {
    // Channels last where that axis is the shortest: number (row * 4 + column) * 3 + channel.
    {"[5, 4, 3]",
     "255",
     "uint8",
     "auto",
     {3, 5, 4},
     2 * 20 + 1 * 4 + 3,
     23,
     255,
     true,
     "picture, channels last {5, 4, 3} -> {3, 5, 4}, bytes / 255 (env.observation: "
     "picture_last)"},
    {"[7, 7, 5]", "255", "uint8", "auto", {5, 7, 7}, 1 * 49 + 0 * 7 + 2, 11, 255, true},
    {"[5, 4, 3]",
     "255",
     "float32",
     "auto",
     {3, 5, 4},
     43 + 4,
     23,
     255,
     false,
     "picture, channels last {5, 4, 3} -> {3, 5, 4}, numbers / 255 "
     "(env.observation: picture_last)"},
    {"[5, 4, 3]", "1", "float32", "auto", {3, 5, 4}, 47, 23, 1, false},
    {"[5, 4, 3]",
     "59",
     "uint8",
     "auto",
     {3, 5, 4},
     47,
     23,
     1,
     false,
     "board, channels last {5, 4, 3} -> {3, 5, 4}, numbers as they are "
     "(env.observation: board_last)"},
    // Else channels first.
    {"[4, 5, 6]",
     "255",
     "uint8",
     "auto",
     {4, 5, 6},
     50,
     50,
     255,
     true,
     "picture, channels first {4, 5, 6}, bytes / 255 (env.observation: picture_first)"},
    {"[3, 3, 3]", "2", "int8", "auto", {3, 3, 3}, 25, 25, 1, false},
    // One channel.
    {"[2, 3]", "255", "uint8", "auto", {1, 2, 3}, 5, 5, 255, true},
    {"[2, 3]", "2", "uint8", "auto", {2, 3}, 5, 5, 1, false},
    {"[2, 3]", "2", "uint8", "board_first", {1, 2, 3}, 5, 5, 1, false},
    // Forced: element (1, 2, 0) of channels last is number (2 * 3 + 0) * 3 + 1.
    {"[3, 3, 3]", "2", "int8", "board_last", {3, 3, 3}, 9 + 6, 19, 1, false},
    {"[3, 3, 3]", "255", "uint8", "picture_last", {3, 3, 3}, 15, 19, 255, true},
    {"[5, 4, 3]", "255", "uint8", "board_first", {5, 4, 3}, 47, 47, 1, false},
    {"[5, 4, 3]", "255", "uint8", "vector", {60}, 47, 47, 1, false, "[0..60) {5, 4, 3}"},
};

TEST(WorkerSpacesTest, ReadsPicturesAndBoardsByOneRule) {
  LZ_NEEDS_GYMNASIUM();
  for (const ArrayCase& expected : kCases) {
    const Seen seen =
        Observe({{"shape", expected.shape}, {"high", expected.high}, {"dtype", expected.dtype}},
                expected.form);
    const std::string what = absl::StrCat(expected.shape, " ", expected.dtype, " up to ",
                                          expected.high, ", ", expected.form);
    EXPECT_EQ(seen.spec.shape, expected.expected_shape) << what;
    EXPECT_EQ(seen.spec.type == ObservationType::kUint8, expected.is_bytes) << what;
    ASSERT_GT(static_cast<int64_t>(seen.first.size()), expected.at) << what;
    EXPECT_EQ(seen.first[expected.at], expected.number / expected.divisor) << what;
    EXPECT_EQ(seen.spec.high[0], std::stof(expected.high) / expected.divisor) << what;
    if (!expected.part.empty()) {
      EXPECT_THAT(seen.spec.parts, ElementsAre(expected.part));
    }
  }
}

TEST(WorkerSpacesTest, RefusesAFormThatDoesNotFit) {
  LZ_NEEDS_GYMNASIUM();
  WorkerCommand command = TestCommand("Observes", {{"shape", "[4]"}});
  command.task.observation = "board_last";
  EXPECT_EQ(MakeTestError(command),
            "environment 'gymnasium:lzero_test_envs:Observes-v0': observation: got board_last, "
            "which needs an array of 2 or 3 axes; its space is Box(0, 255, (4,), uint8); allowed: "
            "auto, vector");
}

TEST(WorkerSpacesTest, RefusesObservationsWithoutNumbers) {
  LZ_NEEDS_GYMNASIUM();
  for (const EnvSettingTexts& settings :
       {EnvSettingTexts{{"observations", "dict_of_text"}},
        EnvSettingTexts{{"observations", "sequence"}}, EnvSettingTexts{{"shape", "[0]"}}}) {
    EXPECT_THAT(MakeTestError("Observes", settings),
                HasSubstr("cannot make numbers of the observation space"));
  }
}

}  // namespace
}  // namespace lzero::worker_spaces_test
