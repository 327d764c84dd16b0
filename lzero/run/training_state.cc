#include "lzero/run/training_state.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
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

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename T>
  void operator()(const char* name, T& field) {
    const auto found = json_.find(name);
    if (found == json_.end() || !Is<T>(*found)) return Fail(name, Kind<T>());
    field = found->template get<T>();
  }
  template <typename T>
  void operator()(const char* name, std::optional<T>& field) {
    const auto found = json_.find(name);
    if (found == json_.end() || !(Is<T>(*found) || found->is_null())) {
      return Fail(name, absl::StrCat(Kind<T>(), " or null"));
    }
    if (found->is_null()) {
      field.reset();
    } else {
      field = found->template get<T>();
    }
  }
  const absl::Status& status() const { return status_; }

 private:
  template <typename T>
  static bool Is(const Json& value) {
    if constexpr (std::is_unsigned_v<T>) return value.is_number_unsigned();
    return std::is_integral_v<T> ? value.is_number_integer() : value.is_number();
  }
  template <typename T>
  static std::string Kind() {
    return std::is_integral_v<T> ? "a whole number" : "a number";
  }
  void Fail(const char* name, const std::string& expected) {
    if (status_.ok()) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("state.json: field '", name, "' is not ", expected));
    }
  }

  const Json& json_;
  absl::Status status_;
};

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
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError("state.json is not a JSON object");
  TrainingState state;
  Reader reader(json);
  VisitFields(state, [&reader](const char* name, auto& field) { reader(name, field); });
  if (!reader.status().ok()) return reader.status();
  return state;
}

}  // namespace lzero
