// Entries of `tasks`: each a whole config, problems with file and line, and the way back to text.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/dump.h"
#include "lzero/config/load.h"
#include "tests/config/config_test_tools.h"

namespace lzero::assemble_tasks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kTwoTasks[] = R"(seed: 7
replay: {discount: 0.9}
env: {settings: {a: 1, b: 2}}
train: {batch_size: 32, learning_rate: 0.002}
tasks:
  - name: pole
    env: {id: cartpole}
    train: {batch_size: 16}
  - name: board
    env: {id: tictactoe, settings: {b: null, c: 3}}
    model: {encoder: board}
    replay: {discount: 1}
)";

LoadedConfig Load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const auto loaded = LoadConfigText(text, "f.yaml", overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.value_or(LoadedConfig());
}

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {},
                    const ConfigRule& rule = nullptr) {
  return std::string(LoadConfigText(text, "f.yaml", overrides, rule).status().message());
}

TEST(AssembleTasks, ATaskIsWhatStandsBesideAndItsOwnEntries) {
  const ExperimentConfig config = Load(kTwoTasks).config;
  EXPECT_EQ(config.name, "");
  ASSERT_EQ(config.tasks.size(), 2u);
  const ExperimentConfig& pole = config.tasks[0];
  EXPECT_EQ(pole.name, "pole");
  EXPECT_EQ(pole.env.id, "cartpole");
  EXPECT_EQ(pole.train.batch_size, 16);
  EXPECT_EQ(pole.train.learning_rate, 0.002);
  EXPECT_EQ(pole.replay.discount, 0.9);
  EXPECT_EQ(pole.seed, 7);
  const ExperimentConfig& board = config.tasks[1];
  EXPECT_EQ(board.model.encoder, EncoderKind::kBoard);
  EXPECT_EQ(board.train.batch_size, 32);
  EXPECT_EQ(board.replay.discount, 1.0);
  const std::map<std::string, std::string> settings = {{"a", "1"}, {"c", "3"}};
  EXPECT_EQ(board.env.settings, settings);
  EXPECT_EQ(config.model.encoder, EncoderKind::kVector);
}

TEST(AssembleTasks, AnExtendedFileMayHaveThem) {
  const ScratchFolder folder;
  folder.Write("base.yaml", kTwoTasks);
  const std::string top = folder.Write("top.yaml",
                                       "extends: base.yaml\nseed: 8\n"
                                       "replay: {discount: 0.5}\n");
  const auto loaded = LoadConfig(top, {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->config.tasks.size(), 2u);
  EXPECT_EQ(loaded->config.tasks[1].seed, 8);
  EXPECT_EQ(loaded->config.tasks[0].replay.discount, 0.5);
  EXPECT_EQ(loaded->config.tasks[1].replay.discount, 1.0);  // its own entry
}

TEST(AssembleTasks, OverridesReachAllTasksOrOne) {
  const ExperimentConfig all = Load(kTwoTasks, {"train.batch_size=8", "seed=9"}).config;
  EXPECT_EQ(all.train.batch_size, 8);
  for (const ExperimentConfig& task : all.tasks) {
    EXPECT_EQ(task.train.batch_size, 8);
    EXPECT_EQ(task.seed, 9);
  }
  for (const bool first : {false, true}) {
    std::vector<std::string> overrides = {"train.batch_size=8"};
    overrides.insert(first ? overrides.begin() : overrides.end(), "tasks.pole.train.batch_size=4");
    const ExperimentConfig one = Load(kTwoTasks, overrides).config;
    EXPECT_EQ(one.tasks[0].train.batch_size, 4);
    EXPECT_EQ(one.tasks[1].train.batch_size, 8);
  }
}

TEST(AssembleTasks, TheTextOfAConfigReadsBackTheSame) {
  const ExperimentConfig config = Load(kTwoTasks).config;
  const auto read = ParseResolvedConfig(ResolvedYaml(config));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RawValues(*read), RawValues(config));
  ASSERT_EQ(read->tasks.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->tasks[i].name, config.tasks[i].name);
    EXPECT_EQ(RawValues(read->tasks[i]), RawValues(config.tasks[i]));
  }
  EXPECT_THAT(
      ResolvedYaml(config),
      HasSubstr("tasks:\n  - name: pole\n    train:\n      batch_size: 16\n  - name: board\n"));
}

TEST(AssembleTasks, DifferencesNameTheTask) {
  const ExperimentConfig a = Load(kTwoTasks).config;
  ExperimentConfig b = Load(kTwoTasks, {"tasks.board.train.batch_size=5", "seed=1"}).config;
  b.tasks.erase(b.tasks.begin());
  std::vector<std::string> lines;
  for (const ConfigDifference& difference : DiffConfigs(a, b)) {
    lines.push_back(absl::StrCat(difference.key, ": ", difference.a, " -> ", difference.b));
  }
  EXPECT_THAT(lines, ElementsAre("seed: 7 -> 1", "tasks.board.train.batch_size: 32 -> 5",
                                 "tasks.pole: a task -> none"));
}

TEST(AssembleTasks, ProblemsOfAnEntryNameTheTaskAndThePlace) {
  const std::string start = "tasks:\n  - name: a\n    ";
  EXPECT_EQ(ErrorOf(start + "train: {batch_size: x}"),
            "f.yaml:3:25: tasks.a.train.batch_size: not an integer; got 'x'; allowed: an integer "
            "from 1 to 65536");
  EXPECT_EQ(ErrorOf(start + "train: {batchsize: 4}"),
            "f.yaml:3:13: tasks.a.train.batchsize: unknown key; did you mean 'train.batch_size'?");
  EXPECT_EQ(ErrorOf(start + "train: {learning_rate: 0.1}"),
            "f.yaml:3:13: tasks.a.train.learning_rate: all tasks share it; allowed: beside "
            "`tasks`");
  EXPECT_EQ(ErrorOf(start + "seed: 3"),
            "f.yaml:3:5: tasks.a.seed: all tasks share it; allowed: beside `tasks`");
  EXPECT_THAT(ErrorOf(start + "tasks: []"), HasSubstr("f.yaml:3:5: tasks.a.tasks: unknown key"));
}

TEST(AssembleTasks, RulesBetweenFieldsPointIntoTheTask) {
  EXPECT_EQ(ErrorOf("replay: {capacity: 500}\ntasks:\n  - name: a\n    train: {batch_size: 600, "
                    "start_env_steps: 0}\n  - name: b\n"),
            "f.yaml:4:25: tasks.a.replay.capacity: must hold a batch; got capacity 500, batch_size "
            "600");
  EXPECT_EQ(
      ErrorOf("tasks: [{name: a}]", {"model.support_size=4"}),
      "command line: model.support_size=4: tasks.a.model.support_size: must be odd, so that one "
      "atom is zero; got 4");
}

TEST(AssembleTasks, WhatIsWrongBesideTheTasksIsToldOnce) {
  EXPECT_EQ(ErrorOf("sede: 1\ntasks: [{name: a}, {name: b}]"),
            "f.yaml:1:1: sede: unknown key; did you mean 'seed'?");
  EXPECT_EQ(ErrorOf("tasks: [{name: a}, {name: b}]", {"train.batch_size=0"}),
            "command line: train.batch_size=0: out of range; got '0'; allowed: an integer from 1 "
            "to 65536");
}

TEST(AssembleTasks, TheListAndTheNamesAreChecked) {
  for (const auto& [list, got] : {std::pair("3", "'3'"), {"{}", "a map"}, {"[]", "an empty one"}}) {
    EXPECT_EQ(ErrorOf(absl::StrCat("tasks: ", list)),
              absl::StrCat("f.yaml:1:8: tasks: a list of at least one task is needed; got ", got,
                           "; allowed: - {name: NAME, env: {id: ID}, ...}"));
  }
  EXPECT_EQ(ErrorOf("tasks: [{name: a}, {name: a}]"), "f.yaml:1:20: tasks: two are called a");
  EXPECT_THAT(ErrorOf("tasks: [{name: A b}]"), HasSubstr("f.yaml:1:16: tasks: a name is 1 to 40"));
  EXPECT_THAT(ErrorOf("tasks: [{env: {id: catch}}]"), HasSubstr("f.yaml:1:9: tasks: a name is"));
  EXPECT_THAT(ErrorOf("tasks: [catch]"), HasSubstr("tasks: a name is"));
}

TEST(AssembleTasks, OverridesOfATaskAreChecked) {
  const std::string text = "tasks: [{name: a}]";
  EXPECT_EQ(ErrorOf(text, {"tasks.b.train.batch_size=4"}),
            "command line: 'tasks.b.train.batch_size=4': no such task, or no key of one; "
            "allowed: tasks.NAME.key.path=value");
  EXPECT_EQ(ErrorOf("seed: 1", {"tasks.b.train.batch_size=4"}),
            "command line: 'tasks.b.train.batch_size=4': no such task, or no key of one; "
            "allowed: tasks.NAME.key.path=value");
  EXPECT_EQ(ErrorOf(text, {"tasks.a.train.learning_rate=1"}),
            "command line: tasks.a.train.learning_rate=1: all tasks share it; allowed: "
            "train.learning_rate=1");
  EXPECT_EQ(ErrorOf(text, {"tasks.a.train.batch_size=0"}),
            "command line: tasks.a.train.batch_size=0: out of range; got '0'; allowed: an integer "
            "from 1 to 65536");
}

TEST(AssembleTasks, ARuleOfAnotherFloorSeesEachTaskAndThenAllOfThem) {
  std::vector<std::string> seen;
  const auto rule = [&seen](const ExperimentConfig& config) {
    seen.push_back(config.tasks.empty() ? config.name : absl::StrCat(config.tasks.size()));
    return std::vector<ConsistencyError>();
  };
  EXPECT_EQ(ErrorOf("tasks: [{name: a}, {name: b}]", {}, rule), "");
  EXPECT_THAT(seen, ElementsAre("a", "b", "2"));
}

TEST(AssembleTasks, ARuleBetweenTasksPointsAtWhatOneOfThemSays) {
  const auto rule = [](const ExperimentConfig& config) {
    std::vector<ConsistencyError> errors;
    if (!config.tasks.empty()) errors.push_back({{"model.encoder_group"}, "unlike"});
    return errors;
  };
  EXPECT_EQ(ErrorOf("model: {encoder_group: all}\ntasks: [{name: a}, {name: b}]", {}, rule),
            "f.yaml:1:24: model.encoder_group: unlike");
  EXPECT_EQ(ErrorOf("model: {encoder_group: all}\n"
                    "tasks: [{name: a}, {name: b, model: {encoder_group: few}}]",
                    {}, rule),
            "f.yaml:2:53: model.encoder_group: unlike");
}

// A rule as those of unread settings: the batch size is read where the discount is 1.
TEST(AssembleTasks, WhatStandsBesideIsUnreadWhenNoTaskReadsIt) {
  const auto rule = [](const ExperimentConfig& config) {
    std::vector<ConsistencyError> errors;
    if (!config.tasks.empty() || config.replay.discount == 1.0) return errors;
    errors.push_back({{"train.batch_size", "replay.discount"}, "unread", true});
    return errors;
  };
  const std::string beside = "train: {batch_size: 3}\ntasks: [{name: a}, {name: b";
  EXPECT_EQ(ErrorOf(beside + ", replay: {discount: 1}}]", {}, rule), "");
  EXPECT_EQ(ErrorOf(beside + "}]", {}, rule), "f.yaml:1:21: train.batch_size: unread");
  EXPECT_EQ(ErrorOf("tasks: [{name: a, train: {batch_size: 3}}, {name: b}]", {}, rule),
            "f.yaml:1:39: tasks.a.train.batch_size: unread");
}

}  // namespace
}  // namespace lzero::assemble_tasks_test
