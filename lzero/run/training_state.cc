#include "lzero/run/training_state.h"

#include "lzero/base/status_macros.h"
#include "lzero/base/text/json_reader.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using Json = nlohmann::json;

// Calls visit(name, field) for every field of the state.
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
  visit("target_return", state.target_return);
  visit("target_streak", state.target_streak);
  visit("solved_env_steps", state.solved_env_steps);
  visit("solved_wall_seconds", state.solved_wall_seconds);
  visit("last_evaluation_update", state.last_evaluation_update);
  visit("next_metrics_update", state.next_metrics_update);
  visit("next_evaluation_update", state.next_evaluation_update);
  visit("next_checkpoint_update", state.next_checkpoint_update);
  visit("metrics_bytes", state.metrics_bytes);
  visit("sampler_key", state.sampler.key);
  visit("sampler_position", state.sampler.position);
  visit("reanalyzer_key", state.reanalyzer.key);
  visit("reanalyzer_position", state.reanalyzer.position);
  visit("reanalyzed", state.reanalyzed);
  visit("reanalyze_searches", state.reanalyze_searches);
}

}  // namespace

std::string TrainingStateToJson(const TrainingState& state) {
  Json json = Json::object();
  VisitFields(state, [&json](const char* name, const auto& field) {
    if constexpr (requires { field.has_value(); }) {
      json[name] = field.has_value() ? Json(*field) : Json(nullptr);
    } else {
      json[name] = field;
    }
  });
  return json.dump(2) + "\n";
}

absl::StatusOr<TrainingState> TrainingStateFromJson(const std::string& text) {
  LZ_ASSIGN_OR_RETURN(const JsonReader json, JsonReader::Parse(text, {"state.json"}));
  TrainingState state;
  VisitFields(state, [&json](const char* name, auto& field) { json.Read(name, &field); });
  LZ_RETURN_IF_ERROR(json.status());
  return state;
}

}  // namespace lzero
