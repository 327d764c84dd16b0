// Normalised scores of the tasks of a run at one evaluation, and what they come to together: 0 is
// random play, 1 the expert of each task's config. In what they come to, scores are bounded
// (BoundedScore). Plain arithmetic.
#ifndef LZERO_TRAIN_TASK_SCORE_TABLE_H_
#define LZERO_TRAIN_TASK_SCORE_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "lzero/train/learner.h"

namespace lzero {

struct TaskScore {
  std::string task;
  double mean_return = 0.0;
  std::optional<double> score;  // nullopt: the config says no scale
};

class ScoreTable {
 public:
  explicit ScoreTable(std::vector<TaskScore> rows) : rows_(std::move(rows)) {}

  // Those of the tasks that have one, within their bounds.
  std::vector<double> Bounded() const;
  // The mean of these; nullopt where there are none.
  std::optional<double> Mean() const;
  // "score/{mean,median,iqm,worst}" and "task/NAME/score", which is not bounded.
  void AddMetrics(MetricMap* metrics) const;
  // "score 0.83, worst tictactoe 0.41"; "" where there is no score.
  std::string Summary() const;
  // The same, then every task: ": cartpole 1.00, ..."; returns where there is no score.
  std::string Text() const;

 private:
  std::vector<TaskScore> rows_;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_SCORE_TABLE_H_
