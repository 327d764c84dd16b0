// Plays the training environments: one call steps all of them once, with one batched search. What
// it sees is staged until the trainer takes it. Unfinished episodes go on from call to call.
// Used by one thread at a time.
#ifndef LZERO_WORKER_COLLECTOR_H_
#define LZERO_WORKER_COLLECTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/agent/agent.h"
#include "lzero/base/named_array.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/vector_env.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/worker/count_bonus.h"
#include "lzero/worker/episode_tracker.h"
#include "lzero/worker/episode_values.h"
#include "lzero/worker/exploration.h"
#include "lzero/worker/staged_steps.h"

namespace lzero {

struct CollectorOptions {
  uint64_t seed = 0;
  int64_t max_past_steps = 0;  // of a root's context
  double discount = 1.0;       // of returns that root values are compared with
  double count_bonus = 0.0;    // env.count_bonus
  bool count_bonus_once = true;
};

struct FinishedEpisode {
  double episode_return = 0.0;
  int64_t length = 0;
};

// Sums since the last TakeStats.
struct CollectStats {
  std::vector<FinishedEpisode> episodes;
  int64_t num_interrupted = 0;  // episodes whose environment's process died; not in `episodes`
  int64_t num_searches = 0;     // roots searched
  int64_t num_explored = 0;     // of these, roots at which a random action was taken
  double root_value_sum = 0.0;
  double depth_sum = 0.0;           // of leaves, mean of a search
  double policy_entropy_sum = 0.0;  // of the search distribution, nats
  double bonus_sum = 0.0;           // of rewards by env.count_bonus
  ValueSums values;                 // of the steps of these episodes (EpisodeValues::Compare)
};

class Collector {
 public:
  // `model` answers the searches of `agent` and outlives the collector. The agent's config says how
  // often exploration acts.
  Collector(const CollectorOptions& options, std::unique_ptr<VectorEnv> envs,
            std::unique_ptr<Agent> agent, InferenceModel* model);

  // One step of every environment; `env_steps` (of the run so far) drives the temperature schedule.
  // Errors name the environment. Blocks.
  absl::Status Step(int64_t env_steps);

  int num_envs() const { return envs_->num_envs(); }
  StagedSteps& staged() { return staged_; }
  const CollectStats& stats() const { return stats_; }
  CollectStats TakeStats();
  double env_seconds() const { return env_time_.seconds(); }
  double search_seconds() const { return search_time_.seconds(); }

  // Environments, trackers and counters for a checkpoint. Call with nothing staged.
  absl::StatusOr<std::vector<NamedArray>> Export() const;
  // Environments that cannot be saved start a new episode; their number is returned.
  absl::StatusOr<int> Import(absl::Span<const NamedArray> arrays);

 private:
  // Number of the episode that goes on, unique in the run.
  uint64_t EpisodeIndex(EnvId env) const;
  void BeginEpisode(EnvId env);
  // The transition of environment i by its action, which led to `next`, with such a reward.
  Transition TransitionOf(size_t i, const TimeStep& next, float reward) const;
  // Fills taken_ and actions_: what was decided, or exploration's choice.
  void ChooseActions(int64_t env_steps);
  void RecordSearch(const Decision& decision);
  void RecordEpisode(EnvId env);

  CollectorOptions options_;
  std::unique_ptr<VectorEnv> envs_;
  std::unique_ptr<Agent> agent_;
  InferenceModel* model_;
  std::vector<EnvId> ids_;
  std::vector<EpisodeTracker> trackers_;
  std::vector<EpisodeValues> values_;
  std::vector<int64_t> episode_counts_;
  CountBonus bonus_;
  StagedSteps staged_;
  CollectStats stats_;
  Stopwatch env_time_, search_time_;
  bool started_ = false;
  std::vector<Root> roots_;
  std::vector<std::string> states_;  // of roots
  std::vector<Exploration> explorations_;
  std::vector<Action> taken_;    // numbers of box actions in [-1, 1]
  std::vector<Action> actions_;  // the same as the environments know them
  Decision decision_;
};

}  // namespace lzero

#endif  // LZERO_WORKER_COLLECTOR_H_
