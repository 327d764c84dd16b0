#include "tools/verbs/sweep/sweep_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/run/progress.h"
#include "lzero/statistics/statistics.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using Words = std::vector<std::string>;

std::string ReturnText(const std::optional<double>& value) {
  return value.has_value() ? absl::StrFormat("%.2f", *value) : "-";
}

// `first`, then `about_solving` where there is a target, then `others`.
Words Columns(bool has_target, Words first, const Words& about_solving, const Words& others) {
  if (has_target) first.insert(first.end(), about_solving.begin(), about_solving.end());
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

std::string MinutesText(double seconds) { return absl::StrFormat("%.1f", seconds / 60.0); }

// The line of one run.
Words RunWords(const SweepResult& result, bool has_target) {
  const std::string name = absl::StrCat(result.cell, "/seed_", result.seed);
  if (!result.state.has_value()) return {name, result.why_not};
  const TrainingState& state = *result.state;
  return Columns(
      has_target, {name},
      {state.solved_env_steps.has_value() ? FormatCount(*state.solved_env_steps) : "never"},
      {ReturnText(state.last_return), ReturnText(state.best_return), FormatCount(state.env_steps),
       MinutesText(state.wall_seconds)});
}

// The line of one combination, `results` being all of its runs.
Words CellWords(absl::Span<const SweepResult> results, bool has_target) {
  std::vector<std::optional<int64_t>> steps;
  std::vector<double> returns;
  double seconds = 0.0;
  int64_t num_solved = 0;
  for (const SweepResult& result : results) {
    if (!result.state.has_value()) continue;
    steps.push_back(result.state->solved_env_steps);
    if (result.state->last_return.has_value()) returns.push_back(*result.state->last_return);
    seconds += result.state->wall_seconds;
    num_solved += steps.back().has_value() ? 1 : 0;
  }
  const std::string finished = absl::StrCat(steps.size(), " of ", results.size());
  if (steps.empty()) return {results[0].cell, finished};
  const std::optional<double> median = MedianOrNever(steps);
  const bool none = returns.empty();
  return Columns(has_target, {results[0].cell, finished},
                 {absl::StrCat(num_solved, " of ", steps.size()),
                  median.has_value() ? FormatCount(std::llround(*median)) : "never"},
                 {none ? "-" : ReturnText(*std::min_element(returns.begin(), returns.end())),
                  none ? "-" : ReturnText(Median(returns)),
                  none ? "-" : ReturnText(*std::max_element(returns.begin(), returns.end())),
                  MinutesText(seconds)});
}

}  // namespace

std::string SweepTable(absl::Span<const SweepResult> results, bool has_target) {
  // The runs.
  TextTable runs("lrrrrr", Columns(has_target, {"run"}, {"solved at"},
                                   {"last return", "best return", "env steps", "minutes"}));
  bool is_self_play = false;
  for (const SweepResult& result : results) {
    runs.Add(RunWords(result, has_target));
    const auto& state = result.state;
    is_self_play |=
        state.has_value() && state->last_return.has_value() && !state->best_return.has_value();
  }
  // The combinations.
  TextTable cells("lrrrrrrr",
                  Columns(has_target, {"combination", "finished"}, {"solved", "median steps"},
                          {"worst return", "median", "highest", "minutes"}));
  for (size_t first = 0, end = 0; first < results.size(); first = end) {
    while (end < results.size() && results[end].cell == results[first].cell) ++end;
    cells.Add(CellWords(results.subspan(first, end - first), has_target));
  }
  std::string text = absl::StrCat(runs.Text(), "\n", cells.Text());
  if (is_self_play)
    absl::StrAppend(&text, "\nreturns are those of self-play, ", kNoMeasureOfStrength, "\n");
  return text;
}

}  // namespace lzero
