#include "lzero/train/task/score_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/config/task_config.h"
#include "lzero/statistics/statistics.h"

namespace lzero {

std::vector<double> ScoreTable::Bounded() const {
  std::vector<double> scores;
  for (const TaskScore& row : rows_) {
    if (row.score.has_value()) scores.push_back(BoundedScore(*row.score));
  }
  return scores;
}

std::optional<double> ScoreTable::Mean() const {
  const std::vector<double> scores = Bounded();
  if (scores.empty()) return std::nullopt;
  return lzero::Mean(scores);
}

void ScoreTable::AddMetrics(MetricMap* metrics) const {
  for (const TaskScore& row : rows_) {
    if (row.score.has_value()) (*metrics)[absl::StrCat("task/", row.task, "/score")] = *row.score;
  }
  const std::vector<double> scores = Bounded();
  if (scores.empty()) return;
  (*metrics)["score/mean"] = lzero::Mean(scores);
  (*metrics)["score/median"] = Median(scores);
  (*metrics)["score/iqm"] = InterquartileMean(scores);
  (*metrics)["score/worst"] = *std::ranges::min_element(scores);
}

std::string ScoreTable::Summary() const {
  const TaskScore* worst = nullptr;
  for (const TaskScore& row : rows_) {
    if (row.score.has_value() && (worst == nullptr || *row.score < *worst->score)) worst = &row;
  }
  if (worst == nullptr) return "";
  return absl::StrFormat("score %.2f, worst %s %.2f", *Mean(), worst->task, *worst->score);
}

std::string ScoreTable::Text() const {
  const std::string all = absl::StrJoin(rows_, ", ", [](std::string* out, const TaskScore& row) {
    if (row.score.has_value()) {
      absl::StrAppendFormat(out, "%s %.2f", row.task, *row.score);
    } else {
      absl::StrAppendFormat(out, "%s (return %.2f)", row.task, row.mean_return);
    }
  });
  const std::string summary = Summary();
  return absl::StrCat(summary.empty() ? "no score" : summary, ": ", all);
}

}  // namespace lzero
