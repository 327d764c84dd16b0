// Plays whole episodes greedily with its own environments and model, so that evaluation never
// disturbs collection. Used by one thread at a time.
#ifndef LZERO_WORKER_EVALUATOR_H_
#define LZERO_WORKER_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/agent/agent.h"
#include "lzero/env/vector_env.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/worker/episode_tracker.h"
#include "lzero/worker/episode_values.h"

namespace lzero {

struct EvaluatedEpisode {
  uint64_t seed = 0;
  double episode_return = 0.0;  // from player 0's view
  int64_t length = 0;
  bool terminated = false;
  bool truncated = false;
  // Root values of its searches against the discounted returns that followed. All are of one
  // network, which those of a collected episode, during which the network learns, are not.
  ValueSums values = {};
  std::vector<ValueAndReturn> compared = {};
};

class Evaluator {
 public:
  // `model` answers the searches of `agent` and outlives the evaluator. `discount` is that of
  // EvaluatedEpisode::values.
  Evaluator(int64_t max_past_steps, double discount, std::unique_ptr<VectorEnv> envs,
            std::unique_ptr<Agent> agent, InferenceModel* model);

  // Plays one greedy episode for each of `seeds` [n]; results [n] in the order of the seeds.
  // Searches, whose number keys what is sampled, are counted anew: nothing depends on an earlier
  // call. `on_step`, if given, is called for environment 0 after its reset and after every step
  // (rendering), `on_episode` for each episode as it ends. An episode whose environment's process
  // died begins again. `stop` is polled before every step: Cancelled when it becomes true. A long
  // evaluation says now and then how far it is.
  absl::StatusOr<std::vector<EvaluatedEpisode>> Run(
      absl::Span<const uint64_t> seeds,
      const std::function<void(Env&, const TimeStep&)>& on_step = {},
      const std::function<bool()>& stop = {},
      const std::function<void(const EvaluatedEpisode&)>& on_episode = {});

  // The greedy actions [n] at `positions` [n] that stand alone (no past): with search, or by the
  // policy head alone. InvalidArgument for a search of a model that simulates with the environment
  // (InferenceModel::NeedsState) where a position brings no TimeStep::state.
  absl::StatusOr<std::vector<int32_t>> ChooseActions(absl::Span<const TimeStep> positions,
                                                     bool with_search);
  // The same, [n], at roots [n] with at most max_past_steps() steps of their past. Their `env` has
  // no meaning: every context is built anew.
  absl::StatusOr<std::vector<int32_t>> ChooseRootActions(absl::Span<const Root> roots,
                                                         bool with_search);

  // The chance outcomes that a model with chance nodes foretells after actions[i] at positions[i],
  // which stands alone as above: probabilities [n, C] float32. FailedPrecondition for a model
  // without chance nodes.
  absl::StatusOr<std::vector<float>> PredictChance(absl::Span<const TimeStep> positions,
                                                   absl::Span<const int32_t> actions);

  const EnvSpec& spec() const { return envs_->spec(); }
  int64_t max_past_steps() const { return max_past_steps_; }
  int num_envs() const { return envs_->num_envs(); }
  // How long Run may go on without a word.
  void set_quiet_seconds(double seconds) { quiet_seconds_ = seconds; }
  // What it plays with, for who chooses the positions himself: the calls above must not be mixed
  // with searches of the caller.
  Agent* agent() { return agent_.get(); }
  InferenceModel* model() { return model_; }

 private:
  // One batched search at `roots`, which it makes of `trackers`, and one step of these
  // environments.
  absl::Status PlayStep(absl::Span<const EnvId> envs, absl::Span<const EpisodeTracker> trackers,
                        std::vector<Root>* roots);
  // Says how far Run is where it `told` nothing for long: `num_played` of `num_episodes`.
  void TellProgress(size_t num_played, size_t num_episodes,
                    absl::Span<const EpisodeTracker> trackers, double* told) const;
  // Roots of positions that stand alone.
  std::vector<Root> MakeRoots(absl::Span<const TimeStep> positions) const;
  // One batch of PredictChance: roots [n], actions [n], probabilities [n, C].
  absl::Status PredictBatch(absl::Span<const Root> roots, absl::Span<const int32_t> actions,
                            absl::Span<float> probabilities);
  // Calls body(first, roots) for as many of `roots` at a time as there are environments, each the
  // root of its own one, with no context of before.
  template <typename Body>
  absl::Status InBatches(std::vector<Root> roots, const Body& body);
  absl::Status ChooseBySearch(absl::Span<const Root> roots, int32_t* actions);
  // The likeliest action of the policy head; of those that were drawn, where actions are sampled.
  absl::Status ChooseByPolicy(absl::Span<const Root> roots, int32_t* actions);

  int64_t max_past_steps_;
  double discount_;
  double quiet_seconds_ = 30.0;
  std::unique_ptr<VectorEnv> envs_;
  std::unique_ptr<Agent> agent_;
  InferenceModel* model_;
  std::vector<std::string> states_;  // of roots
  Decision decision_;
};

}  // namespace lzero

#endif  // LZERO_WORKER_EVALUATOR_H_
