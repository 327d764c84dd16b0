// Every setting of an experiment, with its default. A field is declared once, in Visit; the YAML
// key path is section.name. Cross-field rules are in ConsistencyErrors; what several tasks in one
// model need is in task_config.h. Plain data, no thread rule.
#ifndef LZERO_CONFIG_EXPERIMENT_CONFIG_H_
#define LZERO_CONFIG_EXPERIMENT_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lzero/config/device.h"
#include "lzero/config/model/model_config.h"
#include "lzero/config/search/search_config.h"
#include "lzero/config/task_config.h"

namespace lzero {

class FieldList;

// How observations of Python environments are read; their names in configs, in the same order.
enum class ObservationForm { kAuto, kPictureLast, kPictureFirst, kBoardLast, kBoardFirst, kVector };
inline constexpr const char* kObservationForms[] = {"auto",       "picture_last", "picture_first",
                                                    "board_last", "board_first",  "vector"};

struct EnvConfig {
  std::string id = "cartpole";
  int64_t board_size = 0;                       // 0: what the environment says
  std::map<std::string, std::string> settings;  // of this environment alone
  int64_t max_episode_steps = 0;                // 0: what the environment says
  int64_t num_collectors = 8;
  int64_t num_evaluators = 8;
  int64_t num_threads = 1;  // that step environments
  int64_t num_workers = 0;  // 0: one for each core
  int64_t max_restarts = 3;
  double step_timeout_s = 60.0;
  std::string python = "auto";
  std::vector<std::string> python_path;  // folders of modules
  std::vector<std::string> wrappers;     // "module:function" each
  ObservationForm observation = ObservationForm::kAuto;
  // Exploring starts while collecting: with this probability an episode of a board game begins
  // after 1 .. random_opening_plies uniformly random legal moves.
  double random_opening_fraction = 0.0;
  int64_t random_opening_plies = 6;
  double count_bonus = 0.0;      // added to rewards of what was seen rarely; 0: never
  bool count_bonus_once = true;  // where an episode sees it first
  void Visit(FieldList& field);
};

struct LossConfig {
  double latent_weight = 10.0;
  double reward_weight = 1.0;
  double value_weight = 0.5;
  double policy_weight = 1.0;
  double entropy_weight = 5e-3;
  double chance_weight = 1.0;  // stochastic_muzero
  void Visit(FieldList& field);
};

enum class ValueBootstrap { kSearch, kTargetNetwork };
enum class PriorityError { kMean, kFirst };
enum class InitialPriority { kLargest, kOwnError };
enum class SampleFrom { kAnywhere, kEpisodeStarts };

struct ReplayConfig {
  int64_t capacity = 100000;  // transitions
  int64_t max_mebibytes = 4096;
  int64_t segment_length = 200;  // transitions
  int64_t num_unroll_steps = 5;  // U
  int64_t td_steps = 20;
  int64_t num_context_steps = 0;
  SampleFrom sample_from = SampleFrom::kAnywhere;
  double discount = 0.997;
  bool prioritized = false;
  double priority_exponent = 0.6;
  double importance_exponent = 0.4;
  double min_importance_weight = 0.0;
  PriorityError priority_error = PriorityError::kMean;
  InitialPriority initial_priority = InitialPriority::kLargest;
  ValueBootstrap value_bootstrap = ValueBootstrap::kTargetNetwork;
  int64_t bootstrap_context_steps = 0;
  int64_t td_decay_updates = 0;  // from td_steps to td_steps_final; 0: no decay
  int64_t td_steps_final = 3;
  int64_t td_age = 0;              // transitions of age for which td_steps falls by one; 0: never
  double root_value_share = 0.0;   // of value targets
  int64_t root_value_min_age = 0;  // transitions, of samples that have this share
  bool augment_symmetries = false;
  int64_t augment_shift = 0;
  double augment_intensity = 0.0;
  double reanalyze_ratio = 0.0;  // positions searched again for each env step
  double fresh_share = 0.0;      // of samples; 0: reanalyze_ratio counts
  int64_t fresh_updates = 0;     // so old is fresh; 0: not told
  bool reanalyzes() const { return reanalyze_ratio > 0.0 || fresh_share > 0.0; }
  // Positions to search again for each env step while `num_stored` are stored and so many updates
  // are made for each.
  double ReanalyzeRatioAt(int64_t num_stored, double updates_per_env_step) const;
  void Visit(FieldList& field);

 private:
  void VisitTargets(FieldList& field);
  void VisitSampling(FieldList& field);  // the last ones: augmentation, searches made again
};

enum class LearningRateSchedule { kConstant, kCosine, kLinear };
enum class OnNan { kStop, kRollback };
enum class TrainDtype { kFp32, kTf32, kBf16 };

struct TrainConfig {
  int64_t batch_size = 64;
  double updates_per_env_step = 0.25;
  double learning_rate = 1e-3;
  LearningRateSchedule learning_rate_schedule = LearningRateSchedule::kConstant;
  double final_learning_rate = 0.0;  // where a schedule ends, at stop.max_env_steps
  int64_t warmup_updates = 0;        // linear, from 0
  double weight_decay = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double grad_clip = 5.0;
  double target_update_rate = 0.05;  // EMA a update
  int64_t start_env_steps = 500;
  int64_t tail_updates = 0;         // after the last env step
  int64_t reset_every_updates = 0;  // 0: never
  double reset_share = 0.5;         // of fresh weights in what is not a head
  int64_t steps_per_round = 1;
  std::optional<int64_t> num_threads;  // nullopt: auto
  int64_t log_every_updates = 50;      // a line of metrics
  OnNan on_nan = OnNan::kStop;
  TrainDtype dtype = TrainDtype::kFp32;
  std::optional<Device> device;  // null: inference.device
  int threads() const;           // num_threads, with auto as it is on this machine
  void Visit(FieldList& field);
};

enum class Runner { kAuto, kEager, kPacked, kCudaGraph, kCudaSearchGraph };
enum class Graphs { kRequired, kPreferred, kOff };
enum class InferenceDtype { kFp32, kTf32, kBf16 };
enum class CacheStorage { kStatic, kGrowing };
enum class RootContext { kRebuild, kCarry };

struct InferenceConfig {
  Device device = Device::kCpu;
  Runner runner = Runner::kAuto;
  Graphs graphs = Graphs::kPreferred;
  InferenceDtype dtype = InferenceDtype::kFp32;
  CacheStorage cache_storage = CacheStorage::kStatic;
  RootContext root_context = RootContext::kRebuild;
  std::optional<int64_t> num_threads;  // nullopt: auto
  int threads() const;                 // num_threads, with auto as it is on this machine
  void Visit(FieldList& field);
};

struct EvaluateConfig {
  int64_t every_updates = 200;  // 0: only at the end
  int64_t episodes = 8;
  std::optional<int64_t> num_simulations;  // null: search.num_simulations
  void Visit(FieldList& field);
};

struct CheckpointConfig {
  int64_t every_updates = 500;  // 0: only at the end and on Ctrl-C
  int64_t keep = 3;
  void Visit(FieldList& field);
};

struct StopConfig {
  std::optional<int64_t> max_env_steps = 20000;
  std::optional<int64_t> max_updates;
  std::optional<double> target_return;
  int64_t patience = 3;       // evaluations in a row at target_return or more
  bool end_at_target = true;  // false: report it and go on
  void Visit(FieldList& field);
};

struct ExperimentConfig {
  EnvConfig env;
  ModelConfig model;
  LossConfig loss;
  SearchConfig search;
  ReplayConfig replay;
  TrainConfig train;
  InferenceConfig inference;
  EvaluateConfig evaluate;
  CheckpointConfig checkpoint;
  StopConfig stop;
  ScoreConfig score;
  MultitaskConfig multitask;
  InitConfig init;
  std::vector<std::string> plugins;  // libraries with environments from outside
  int64_t seed = 0;
  bool deterministic = false;
  std::string name;  // of an entry of `tasks`; "" beside them
  // Each whole, what it shares with the others included; empty: this config is the experiment.
  std::vector<ExperimentConfig> tasks;
  Device learner_device() const { return train.device.value_or(inference.device); }
  // Whether searches may run libtorch's operations on a device while an update does.
  bool searches_beside_updates() const { return inference.device.is_cuda() && !deterministic; }
  void Visit(FieldList& field);
};

}  // namespace lzero

#endif  // LZERO_CONFIG_EXPERIMENT_CONFIG_H_
