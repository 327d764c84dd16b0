#include "lzero/run/training_state.h"

#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

// Calls visit(name, field) for every field of the run.
template <typename State, typename Visit>
void VisitFields(State& state, Visit visit) {
  visit("env_steps", state.env_steps);
  visit("updates", state.updates);
  visit("episodes", state.episodes);
  visit("evaluations", state.evaluations);
  visit("wall_seconds", state.wall_seconds);
  visit("last_return", state.last_return);
  visit("last_return_env_steps", state.last_return_env_steps);
  visit("best_return", state.best_return);
  visit("best_env_steps", state.best_env_steps);
  visit("target_streak", state.target_streak);
  visit("solved_env_steps", state.solved_env_steps);
  visit("solved_wall_seconds", state.solved_wall_seconds);
  visit("last_evaluation_update", state.last_evaluation_update);
  visit("next_metrics_update", state.next_metrics_update);
  visit("next_evaluation_update", state.next_evaluation_update);
  visit("next_checkpoint_update", state.next_checkpoint_update);
  visit("metrics_bytes", state.metrics_bytes);
}

// The same for a task. Those of an only task have the names, and the values, that the run's have.
template <typename Task, typename Visit>
void VisitTaskFields(Task& task, Visit visit) {
  visit("env_steps", task.env_steps);
  visit("updates", task.updates);
  visit("episodes", task.episodes);
  visit("last_return", task.last_return);
  visit("best_return", task.best_return);
  visit("target_return", task.target_return);
  visit("target_streak", task.target_streak);
  visit("solved_env_steps", task.solved_env_steps);
  visit("solved_wall_seconds", task.solved_wall_seconds);
  visit("sampler_key", task.sampler.key);
  visit("sampler_position", task.sampler.position);
  visit("reanalyzer_key", task.reanalyzer.key);
  visit("reanalyzer_position", task.reanalyzer.position);
  visit("reanalyzed", task.reanalyzed);
  visit("reanalyze_searches", task.reanalyze_searches);
}

// What a run has that makes updates after its last step; the states of others do not tell.
constexpr char kTailSteps[] = "tail_steps";
// Likewise of a run with replay.fresh_share.
constexpr char kReanalysesDue[] = "reanalyses_due";

template <typename Reader>
void ReadTaskFields(const Reader& json, TaskState* task) {
  VisitTaskFields(*task, [&json](const char* name, auto& field) { json.Read(name, &field); });
  if (json.Has(kTailSteps)) json.Read(kTailSteps, &task->tail_steps);
  if (json.Has(kReanalysesDue)) json.Read(kReanalysesDue, &task->reanalyses_due);
}

// Writes a field into a JSON object.
struct FieldWriter {
  Json* json;
  template <typename Field>
  void operator()(const char* name, const Field& field) const {
    if constexpr (requires { field.has_value(); }) {
      (*json)[name] = field.has_value() ? Json(*field) : Json(nullptr);
    } else {
      (*json)[name] = field;
    }
  }
};

void WriteTaskFields(const TaskState& task, Json* json) {
  VisitTaskFields(task, FieldWriter{json});
  if (task.tail_steps > 0) (*json)[kTailSteps] = task.tail_steps;
  if (task.reanalyses_due > 0.0) (*json)[kReanalysesDue] = task.reanalyses_due;
}

constexpr char kTasks[] = "tasks";

}  // namespace

std::string TrainingStateToJson(const TrainingState& state) {
  Json json = Json::object();
  VisitFields(state, FieldWriter{&json});
  if (state.tasks.size() == 1) {
    WriteTaskFields(state.tasks[0], &json);
  } else {
    for (const TaskState& task : state.tasks) {
      WriteTaskFields(task, &json[kTasks][task.name]);
      FieldWriter{&json[kTasks][task.name]}("last_score", task.last_score);
    }
  }
  return json.dump(2) + "\n";
}

absl::StatusOr<TrainingState> TrainingStateFromJson(const std::string& text) {
  LZ_ASSIGN_OR_RETURN(const JsonReader json, JsonReader::Parse(text, {"state.json"}));
  TrainingState state;
  VisitFields(state, [&json](const char* name, auto& field) { json.Read(name, &field); });
  if (!json.Has(kTasks)) {
    ReadTaskFields(json, &state.tasks[0]);
    LZ_RETURN_IF_ERROR(json.status());
    return state;
  }
  state.tasks.clear();
  const JsonReader tasks = json.Object(kTasks);
  for (const std::string& name : tasks.Names()) {
    const JsonReader of_task = tasks.Object(name);
    state.tasks.emplace_back().name = name;
    ReadTaskFields(of_task, &state.tasks.back());
    of_task.Read("last_score", &state.tasks.back().last_score);
  }
  LZ_RETURN_IF_ERROR(json.status());
  return state;
}

}  // namespace lzero
