// The recent past of one running episode: what a root needs to rebuild its context, and what a
// resumed run must know. Not a replay store. One thread.
#ifndef LZERO_WORKER_EPISODE_TRACKER_H_
#define LZERO_WORKER_EPISODE_TRACKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"
#include "lzero/env/vector_env.h"
#include "lzero/mcts/inference_model.h"

namespace lzero {

class EpisodeTracker {
 public:
  // Keeps the last `max_past` steps. `action_dim`: numbers of a box action, 0 for discrete ones.
  EpisodeTracker(int64_t max_past, int64_t observation_size, int64_t action_dim = 0);

  // A new episode begins with this observation [observation size] float32, which is copied.
  void Begin(absl::Span<const float> observation);
  // `action` was taken (box: with these values [D] float32); `observation` [observation size]
  // float32 is what followed. Both are copied.
  void Add(int32_t action, absl::Span<const float> action_values,
           absl::Span<const float> observation);

  // Steps taken in this episode.
  int64_t step() const { return step_; }
  // The root at the newest observation; its spans point into this object and into `time_step`.
  Root MakeRoot(EnvId env, const TimeStep& time_step) const;

  // State for a checkpoint, names begin with `prefix`.
  void Export(const std::string& prefix, std::vector<NamedArray>* arrays) const;
  absl::Status Import(const std::string& prefix, absl::Span<const NamedArray> arrays);

 private:
  int64_t max_past_;
  int64_t observation_size_;
  int64_t action_dim_;
  int64_t step_ = 0;
  std::vector<float> observations_;   // [num_past + 1, observation size], oldest first
  std::vector<int32_t> actions_;      // [num_past]
  std::vector<float> action_values_;  // [num_past, D]
};

// For models that simulate with the environment (InferenceModel::NeedsState): points `state` of
// each of `roots` [B] to what its environment, Root::env of `envs`, saves now into `states`; good
// until the next call. Errors of Env::Save, which name the environment. Does nothing where `model`
// does not ask for it.
absl::Status FillRootStates(const InferenceModel& model, VectorEnv& envs, absl::Span<Root> roots,
                            std::vector<std::string>* states);

}  // namespace lzero

#endif  // LZERO_WORKER_EPISODE_TRACKER_H_
