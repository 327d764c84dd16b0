// state.json: every field survives, and every field that is missing or wrong is named.
#include "lzero/run/training_state.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace lzero::training_state_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

// No two fields alike, but those that an only task has in common with its run.
TrainingState Example() {
  TrainingState state;
  state.env_steps = 1001;
  state.updates = 1002;
  state.episodes = 1003;
  state.evaluations = 1004;
  state.wall_seconds = 0.1;
  state.last_return = -1.0 / 3.0;
  state.last_return_env_steps = 1011;
  state.best_return = 1e-300;
  state.best_env_steps = 1012;
  state.target_streak = 1005;
  state.solved_env_steps = 1006;
  state.solved_wall_seconds = 12.5;
  state.last_evaluation_update = 1007;
  state.next_metrics_update = 1008;
  state.next_evaluation_update = 1009;
  state.next_checkpoint_update = 1010;
  state.metrics_bytes = int64_t{1} << 40;
  TaskState& task = state.tasks[0];
  task.env_steps = 1001;
  task.updates = 1002;
  task.episodes = 1003;
  task.last_return = -1.0 / 3.0;
  task.best_return = 1e-300;
  task.target_return = 0.7;
  task.target_streak = 1005;
  task.solved_env_steps = 1006;
  task.solved_wall_seconds = 12.5;
  task.sampler.key = std::numeric_limits<uint64_t>::max();
  task.sampler.position = std::numeric_limits<uint64_t>::max() - 1;
  task.reanalyzer.key = std::numeric_limits<uint64_t>::max() - 2;
  task.reanalyzer.position = std::numeric_limits<uint64_t>::max() - 3;
  task.reanalyzed = 1013;
  task.reanalyze_searches = 1014;
  return state;
}

// Two tasks whose counters differ from each other's and from the run's.
TrainingState TwoTasks() {
  TrainingState state = Example();
  state.tasks.push_back(state.tasks[0]);
  state.tasks[0].name = "catch";
  state.tasks[1].name = "pong";
  state.tasks[1].env_steps = 2001;
  state.tasks[1].updates = 2002;
  state.tasks[1].last_return = 7.0;
  state.tasks[1].last_score = 0.25;
  state.tasks[1].solved_env_steps.reset();
  state.tasks[1].sampler.position = 3;
  state.tasks[1].tail_steps = 4;
  state.tasks[1].reanalyses_due = 4.625;
  return state;
}

void ExpectEqualTasks(const TaskState& got, const TaskState& expected) {
  EXPECT_EQ(got.name, expected.name);
  EXPECT_EQ(got.env_steps, expected.env_steps);
  EXPECT_EQ(got.updates, expected.updates);
  EXPECT_EQ(got.episodes, expected.episodes);
  EXPECT_EQ(got.last_return, expected.last_return);
  EXPECT_EQ(got.best_return, expected.best_return);
  EXPECT_EQ(got.last_score, expected.last_score);
  EXPECT_EQ(got.target_return, expected.target_return);
  EXPECT_EQ(got.target_streak, expected.target_streak);
  EXPECT_EQ(got.solved_env_steps, expected.solved_env_steps);
  EXPECT_EQ(got.solved_wall_seconds, expected.solved_wall_seconds);
  EXPECT_EQ(got.sampler.key, expected.sampler.key);
  EXPECT_EQ(got.sampler.position, expected.sampler.position);
  EXPECT_EQ(got.reanalyzer.key, expected.reanalyzer.key);
  EXPECT_EQ(got.reanalyzer.position, expected.reanalyzer.position);
  EXPECT_EQ(got.reanalyzed, expected.reanalyzed);
  EXPECT_EQ(got.reanalyze_searches, expected.reanalyze_searches);
  EXPECT_EQ(got.tail_steps, expected.tail_steps);
  EXPECT_EQ(got.reanalyses_due, expected.reanalyses_due);
}

void ExpectEqual(const TrainingState& got, const TrainingState& expected) {
  EXPECT_EQ(got.env_steps, expected.env_steps);
  EXPECT_EQ(got.updates, expected.updates);
  EXPECT_EQ(got.episodes, expected.episodes);
  EXPECT_EQ(got.evaluations, expected.evaluations);
  EXPECT_EQ(got.wall_seconds, expected.wall_seconds);
  EXPECT_EQ(got.last_return, expected.last_return);
  EXPECT_EQ(got.last_return_env_steps, expected.last_return_env_steps);
  EXPECT_EQ(got.best_return, expected.best_return);
  EXPECT_EQ(got.best_env_steps, expected.best_env_steps);
  EXPECT_EQ(got.target_streak, expected.target_streak);
  EXPECT_EQ(got.solved_env_steps, expected.solved_env_steps);
  EXPECT_EQ(got.solved_wall_seconds, expected.solved_wall_seconds);
  EXPECT_EQ(got.last_evaluation_update, expected.last_evaluation_update);
  EXPECT_EQ(got.next_metrics_update, expected.next_metrics_update);
  EXPECT_EQ(got.next_evaluation_update, expected.next_evaluation_update);
  EXPECT_EQ(got.next_checkpoint_update, expected.next_checkpoint_update);
  EXPECT_EQ(got.metrics_bytes, expected.metrics_bytes);
  ASSERT_EQ(got.tasks.size(), expected.tasks.size());
  for (size_t i = 0; i < got.tasks.size(); ++i) ExpectEqualTasks(got.tasks[i], expected.tasks[i]);
}

TEST(TrainingStateTest, EveryFieldSurvives) {
  for (const TrainingState& state : {Example(), TrainingState(), TwoTasks()}) {
    const auto read = TrainingStateFromJson(TrainingStateToJson(state));
    ASSERT_TRUE(read.ok()) << read.status();
    ExpectEqual(*read, state);
  }
}

TEST(TrainingStateTest, FieldsHaveTheirOwnNames) {
  const Json json = Json::parse(TrainingStateToJson(Example()));
  EXPECT_EQ(json["env_steps"], 1001);
  EXPECT_EQ(json["updates"], 1002);
  EXPECT_EQ(json["target_streak"], 1005);
  EXPECT_EQ(json["last_return"], -1.0 / 3.0);
  EXPECT_EQ(json["sampler_key"], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(TrainingStateToJson(Example()).back(), '\n');
  const Json fresh = Json::parse(TrainingStateToJson(TrainingState()));
  EXPECT_TRUE(fresh["last_return"].is_null());
  EXPECT_TRUE(fresh["solved_env_steps"].is_null());
}

TEST(TrainingStateTest, TasksAreObjectsOfTheirOwn) {
  const Json json = Json::parse(TrainingStateToJson(TwoTasks()));
  EXPECT_EQ(json["env_steps"], 1001);
  EXPECT_EQ(json["tasks"]["pong"]["env_steps"], 2001);
  EXPECT_FALSE(json.contains("sampler_key"));
  Json missing = json;
  missing["tasks"]["pong"].erase("updates");
  EXPECT_THAT(std::string(TrainingStateFromJson(missing.dump()).status().message()),
              HasSubstr("state.json: tasks.pong.updates is "));
}

void ExpectRefused(const Json& json, const std::string& name) {
  const auto read = TrainingStateFromJson(json.dump());
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << name;
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("state.json: " + name + " is "));
}

TEST(TrainingStateTest, AFieldThatIsMissingOrOfAnotherTypeIsNamed) {
  const Json whole = Json::parse(TrainingStateToJson(Example()));
  EXPECT_EQ(whole.size(), 24u);
  for (const auto& [name, value] : whole.items()) {
    Json missing = whole;
    missing.erase(name);
    ExpectRefused(missing, name);
    for (const Json& wrong : {Json("5"), Json(true), Json::array({5}), Json::object()}) {
      Json changed = whole;
      changed[name] = wrong;
      ExpectRefused(changed, name);
    }
  }
}

TEST(TrainingStateTest, NullIsAllowedOnlyWhereAValueMayBeMissing) {
  const Json whole = Json::parse(TrainingStateToJson(Example()));
  Json nulls = whole;
  for (const char* name : {"last_return", "last_return_env_steps", "best_return",
                           "solved_env_steps", "solved_wall_seconds"}) {
    nulls[name] = nullptr;
  }
  const auto read = TrainingStateFromJson(nulls.dump());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->best_return.has_value());
  EXPECT_FALSE(read->solved_env_steps.has_value());
  Json changed = whole;
  changed["updates"] = nullptr;
  ExpectRefused(changed, "updates");
}

TEST(TrainingStateTest, CountsAreWholeNumbers) {
  const Json whole = Json::parse(TrainingStateToJson(Example()));
  for (const char* name : {"env_steps", "updates", "solved_env_steps", "sampler_position"}) {
    Json changed = whole;
    changed[name] = 3.5;
    ExpectRefused(changed, name);
  }
  Json whole_seconds = whole;
  whole_seconds["wall_seconds"] = 7;
  const auto read = TrainingStateFromJson(whole_seconds.dump());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->wall_seconds, 7.0);
}

TEST(TrainingStateTest, WhatIsNoObjectIsRefused) {
  EXPECT_EQ(TrainingStateFromJson("[]").status(),
            absl::InvalidArgumentError("state.json: the document is []; allowed: an object"));
}

}  // namespace
}  // namespace lzero::training_state_test
