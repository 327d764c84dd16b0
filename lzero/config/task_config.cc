#include "lzero/config/task_config.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/fields.h"

namespace lzero {
namespace {

// Sections and fields that belong to one task.
constexpr const char* kTaskSections[] = {"env", "loss", "search", "replay", "score"};
constexpr const char* kTaskFields[] = {"model.context_length",
                                       "train.batch_size",
                                       "train.updates_per_env_step",
                                       "train.start_env_steps",
                                       "train.tail_updates",
                                       "train.steps_per_round",
                                       "evaluate.episodes",
                                       "evaluate.num_simulations",
                                       "stop.max_env_steps",
                                       "stop.target_return",
                                       "stop.patience",
                                       "init.like"};
constexpr char kEncoder[] = "model.encoder";       // and all that begins so
constexpr char kEnvThreads[] = "env.num_threads";  // those of one pool for all

constexpr size_t kMaxNameLength = 40;

}  // namespace

void ScoreConfig::Visit(FieldList& field) {
  field.Begin("score", "What an evaluation is worth: what it measures becomes a normalised score.");
  field("measure", &measure, {"return", "grade"},
        "The mean return; or the share of optimal moves of the search, in games with an exact "
        "grader, where the return of self-play says nothing");
  field("random", &random, {-1e12, 1e12},
        "What uniformly random actions reach, which counts as 0; null: no score");
  field("expert", &expert, {-1e12, 1e12}, "What counts as 1; null: no score");
}

void MultitaskConfig::Visit(FieldList& field) {
  field.Begin("multitask", "What several tasks in one model have in common.");
  field("share", &share,
        "Parts of the network that all tasks use; the others are each task's own. The policy head "
        "and the table of actions are always own, the encoder is shared by model.encoder_group");
  field("updates", &updates, {"together", "apart"},
        "Tasks that are owed an update at the same time get one step of the optimiser together, or "
        "one each, in the order of their names");
  field("balance", &balance, {"none", "grad_norm", "pcgrad"},
        "How the gradients of tasks that are updated together become one for the shared parts: "
        "their sum; each scaled to their median norm first; each without what points against "
        "another's",
        "", "PCGrad (Yu et al. 2020)");
  field("adapter_rank", &adapter_rank, {0, 1024},
        "Rank of the matrices that each task adds to every shared linear layer, trained with it "
        "and merged into the weights that search uses; 0: none",
        "", "LoRA (Hu et al. 2021)");
  field("freeze", &freeze, "Parts that do not learn: shared, groups of encoders, names of tasks");
  field(
      "evaluate_only", &evaluate_only,
      "Tasks that make no steps and no updates, as those of init.from whose forgetting is watched");
}

double BoundedScore(double score) { return std::clamp(score, 0.0, kMostScore); }

void InitConfig::Visit(FieldList& field) {
  field.Begin("init", "Where a new run takes its first weights from.");
  field("from", &from,
        "Run folder or checkpoint, as `lzero eval` takes it, from where the program runs; none: "
        "fresh weights. Replay and optimiser begin anew");
  field("parts", &parts,
        "What is taken: shared, the parts that tasks share; own, what tasks of the same name have "
        "of their own; or parts of the network by name: encoder, action_embedding, transformer, "
        "latent_head, value_head, reward_head, policy_head");
  field("like", &like,
        "Task there whose own parts this task takes; none: the one of the same name");
}

bool IsTaskSetting(absl::string_view path) {
  const absl::string_view section = path.substr(0, path.find('.'));
  if (path == kEnvThreads) return false;
  return absl::StartsWith(path, kEncoder) ||
         std::count(std::begin(kTaskSections), std::end(kTaskSections), section) > 0 ||
         std::count(std::begin(kTaskFields), std::end(kTaskFields), path) > 0;
}

std::string TaskNameProblem(absl::string_view name) {
  const bool fits =
      !name.empty() && name.size() <= kMaxNameLength && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (fits && name != "shared" && name != "own" && name != "group") return "";
  return absl::StrCat("a name is 1 to ", kMaxNameLength,
                      " of a-z, 0-9 and _, and none of shared, own, group");
}

std::vector<EnvConfig*> EnvConfigsOf(ExperimentConfig* config) {
  std::vector<EnvConfig*> environments = {&config->env};
  for (ExperimentConfig& task : config->tasks) environments.push_back(&task.env);
  return environments;
}

std::vector<ExperimentConfig> TaskConfigs(const ExperimentConfig& config) {
  if (config.tasks.empty()) return {config};
  std::vector<ExperimentConfig> tasks = config.tasks;
  if (tasks.size() == 1) return tasks;
  std::ranges::sort(tasks, {}, &ExperimentConfig::name);
  for (ExperimentConfig& task : tasks) {
    const uint64_t key =
        StreamKey(static_cast<uint64_t>(config.seed), absl::StrCat("task ", task.name));
    task.seed = static_cast<int64_t>(key >> 11);  // within the range of `seed`
  }
  return tasks;
}

}  // namespace lzero
