#include "tools/verbs/support/stop_report.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace lzero {
namespace {

struct MetRule {
  std::string text;     // "stop.max_updates=30 is reached"
  std::string setting;  // that lets the run go on
};

void AddLimit(const char* key, const std::optional<int64_t>& limit, int64_t num_made,
              std::vector<MetRule>* met) {
  if (!limit.has_value() || num_made < *limit) return;
  met->push_back({absl::StrCat(key, "=", *limit, " is reached (", num_made, " are done)"),
                  absl::StrCat(key, "=", 2 * num_made)});
}

}  // namespace

std::string NotSolvedText(const StopConfig& stop, const TrainingState& state) {
  if (!stop.target_return.has_value() || state.solved_env_steps.has_value()) return "";
  std::string text = absl::StrFormat("target %g", *stop.target_return);
  if (stop.patience > 1) {
    absl::StrAppendFormat(&text, " in %d evaluations in a row", stop.patience);
  }
  if (state.best_return.has_value())
    absl::StrAppendFormat(&text, ", best %.2f", *state.best_return);
  return text;
}

std::string NothingLearnedText(const TrainConfig& train, const TrainingState& state) {
  if (state.updates > 0) return "";
  const int64_t counted = state.env_steps - train.start_env_steps;
  if (static_cast<double>(counted) * train.updates_per_env_step < 1.0) {
    return absl::StrFormat(
        "not one update was due: train.updates_per_env_step %g for each of %d steps after "
        "train.start_env_steps %d",
        train.updates_per_env_step, counted > 0 ? counted : 0, train.start_env_steps);
  }
  return "not one update was made: no stored position could be sampled yet, because no episode had "
         "ended and none was as long as its targets reach (replay.num_unroll_steps + "
         "replay.td_steps); more stop.max_env_steps, fewer env.num_collectors or a smaller "
         "replay.td_steps help";
}

std::string MetStopRuleText(const StopConfig& stop, const TrainingState& state,
                            const std::string& command) {
  std::vector<MetRule> met;
  if (stop.target_return.has_value() && stop.end_at_target &&
      state.target_streak >= stop.patience) {
    met.push_back({absl::StrFormat("stop.target_return=%g is reached", *stop.target_return),
                   "stop.end_at_target=false"});
  }
  AddLimit("stop.max_env_steps", stop.max_env_steps, state.env_steps, &met);
  AddLimit("stop.max_updates", stop.max_updates, state.updates, &met);
  if (met.empty()) return "";
  const auto text = [](std::string* out, const MetRule& rule) { out->append(rule.text); };
  const auto setting = [](std::string* out, const MetRule& rule) { out->append(rule.setting); };
  return absl::StrCat(absl::StrJoin(met, " and ", text), "; go on with:  ", command, " ",
                      absl::StrJoin(met, " ", setting));
}

}  // namespace lzero
