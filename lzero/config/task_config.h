// What a config says of several tasks in one model. A task is an ordinary experiment: an
// ExperimentConfig of its own with a name, put together from what stands beside `tasks` and what
// its entry there says. Sections beside the others, rules between tasks. Plain data, no thread
// rule.
#ifndef LZERO_CONFIG_TASK_CONFIG_H_
#define LZERO_CONFIG_TASK_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace lzero {

class FieldList;
struct EnvConfig;
struct ExperimentConfig;

enum class ScoreMeasure { kReturn, kGrade };

// What stands for 0 and 1 when scores of unlike environments are compared.
struct ScoreConfig {
  ScoreMeasure measure = ScoreMeasure::kReturn;
  std::optional<double> random;
  std::optional<double> expert;
  bool is_set() const { return random.has_value() && expert.has_value(); }
  // (measured - random) / (expert - random); both must be set.
  double Normalized(double measured) const { return (measured - *random) / (*expert - *random); }
  void Visit(FieldList& field);
};

enum class UpdateTasks { kTogether, kApart };
enum class Balance { kNone, kGradNorm, kPcGrad };

struct MultitaskConfig {
  std::vector<std::string> share = {"transformer", "value_head", "reward_head"};
  UpdateTasks updates = UpdateTasks::kTogether;
  Balance balance = Balance::kNone;
  int64_t adapter_rank = 0;  // 0: no adapters
  std::vector<std::string> freeze;
  std::vector<std::string> evaluate_only;
  void Visit(FieldList& field);
};

// The most that a score counts for where scores of several tasks are brought together, so that one
// task cannot hide the others; the least is 0.
inline constexpr double kMostScore = 1.2;
double BoundedScore(double score);

inline constexpr char kNoRun[] = "none";
inline constexpr char kNoTask[] = "none";

struct InitConfig {
  std::string from = kNoRun;  // run folder or checkpoint
  std::vector<std::string> parts = {"shared"};
  std::string like = kNoTask;  // a task there
  void Visit(FieldList& field);
};

// Whether an entry of `tasks` may set this field: what belongs to one environment. Everything else
// is shared by all tasks.
bool IsTaskSetting(absl::string_view path);

// What is wrong with the name of a task; "" when nothing is.
std::string TaskNameProblem(absl::string_view name);

// The environment of a config and those of its tasks.
std::vector<EnvConfig*> EnvConfigsOf(ExperimentConfig* config);

// One config for each task, in the order of their names: the config itself where it has no tasks.
// Among several, each has a seed of its own, a function of the run's seed and the task's name.
std::vector<ExperimentConfig> TaskConfigs(const ExperimentConfig& config);

}  // namespace lzero

#endif  // LZERO_CONFIG_TASK_CONFIG_H_
