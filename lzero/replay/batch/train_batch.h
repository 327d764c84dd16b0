// What the learner gets from the replay buffer: contiguous arrays, allocated once and reused. Their
// names, types and sizes stand once, in VisitArrays: a new array is a member and a line there.
// Axes: N samples, C context steps, U unroll steps, A actions, obs = observation size. Box
// actions have D numbers each and, in place of A, K sampled ones a position.
// Plain data; belongs to whoever holds it.
#ifndef LZERO_REPLAY_BATCH_TRAIN_BATCH_H_
#define LZERO_REPLAY_BATCH_TRAIN_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "lzero/base/observation_type.h"

namespace lzero {

// Where a sample came from; `generation` tells a recycled leaf from the one that was sampled.
struct PositionHandle {
  int32_t leaf = 0;
  uint32_t generation = 0;
};

struct BatchShape {
  int num_samples = 0;        // N
  int num_context_steps = 0;  // C
  int num_unroll_steps = 0;   // U
  int num_actions = 0;        // A
  int observation_size = 0;
  // Which of two arrays holds the observations, the other one being empty: numbers, or the bytes
  // that stand for them (byte k for k / 255.0f).
  ObservationType observation_type = ObservationType::kFloat32;
  int action_dim = 0;                   // D of box actions; 0: discrete
  bool has_chance = false;              // whether there are chance_outcomes
  int num_bootstrap_context_steps = 0;  // B
  bool operator==(const BatchShape&) const = default;
};

// Elements of all observations of a TrainBatch of this shape, those to bootstrap from among them.
int64_t NumObservationElements(const BatchShape& shape);

// Bytes of all arrays of a TrainBatch of this shape.
int64_t TrainBatchBytes(const BatchShape& shape);

struct TrainBatch : BatchShape {
  // Sequence o_{-C} a_{-C} ... o_0 a_0 ... a_{U-1} o_U; past the end of an episode the last
  // observation repeats and actions are random. Context before an episode's start repeats o of its
  // first step, action 0, with context_mask 0.
  std::vector<float> observations;         // [N, C + U + 1, obs]
  std::vector<uint8_t> observation_bytes;  // or this one
  std::vector<int32_t> actions;            // [N, C + U]; box: empty
  std::vector<float> action_values;        // box: [N, C + U, D] in [-1, 1]
  std::vector<float> context_mask;         // [N, C] 1 = a real step of this episode

  // Targets of unroll step k = 0 .. U-1, and where each may be used (1) or not (0). Where a mask is
  // 0 its target is 0. After a termination steps are absorbing (TerminalMode::kAbsorb: reward 0 and
  // value 0 count, the latent repeats, no policy) or nothing counts (kMask); after a truncation
  // nothing counts.
  std::vector<float> rewards;          // [N, U]
  std::vector<float> reward_mask;      // [N, U]
  std::vector<float> latent_mask;      // [N, U] target is the encoding of o_{k+1}
  std::vector<float> policies;         // [N, U, A]; box: [N, U, K], of
  std::vector<float> sampled_actions;  // box: [N, U, K, D]
  std::vector<float> policy_mask;      // [N, U]
  // [N, U] outcome of the step; -1: none. Past the end (policy_mask 0) it is drawn uniformly, as
  // actions are: no outcome moves an absorbing state. Empty without chance.
  std::vector<int32_t> chance_outcomes;
  std::vector<uint8_t> legal_action_masks;  // [N, U, A] all 1 past the end; box: empty
  std::vector<float> value_mask;            // [N, U]
  // Value target = partial_returns + bootstrap_scales * V(bootstrap_observations). The scale is
  // +-discount^n, 0 when there is nothing to bootstrap from (a termination within n steps). With
  // value_bootstrap: search the stored root value is already inside partial_returns, scale 0.
  std::vector<float> partial_returns;                // [N, U]
  std::vector<float> bootstrap_scales;               // [N, U]
  std::vector<float> bootstrap_observations;         // [N, U, obs] zeros where the scale is 0
  std::vector<uint8_t> bootstrap_observation_bytes;  // or this one
  // With B > 0 they are [N, B + U, obs], a sequence that begins up to B steps before the first one
  // to bootstrap from, with its actions and how many tokens, two a step, come before its episode;
  // position bootstrap_rows[n, u] of it is what target u bootstraps from.
  std::vector<int32_t> bootstrap_actions;      // [N, B + U]; box: empty
  std::vector<float> bootstrap_action_values;  // box: [N, B + U, D]
  std::vector<int64_t> bootstrap_rows;         // [N, U]
  std::vector<int64_t> bootstrap_padding;      // [N]

  std::vector<float> importance_weights;  // [N], 1 for uniform replay
  std::vector<PositionHandle> positions;  // [N]
  double mean_age = 0.0;                  // appended transitions since the sampled ones, mean
  std::optional<double> fresh_share;      // of the samples, where replay.fresh_updates is set

  const BatchShape& shape() const { return *this; }
  // Makes every array the size that `shape` says; does nothing when it has that shape already.
  void Resize(const BatchShape& shape);
};

// The row of `array` [N, ...] that belongs to `sample`.
template <typename T>
absl::Span<T> RowOf(std::vector<T>& array, int sample, int num_samples) {
  const size_t size = array.size() / static_cast<size_t>(num_samples);
  return absl::MakeSpan(array).subspan(static_cast<size_t>(sample) * size, size);
}

// The axes of an array. An array that the shape lacks is empty: its first axis is 0.
using ArrayDims = std::vector<int64_t>;
inline int64_t NumElements(const ArrayDims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Calls visit(name, array, dims) for every array of numbers of `batch`, a TrainBatch, const or not,
// in the sizes that it has under `shape`. Observations have one name, whichever array holds them.
template <typename Batch, typename Visitor>
void VisitArrays(Batch& batch, const BatchShape& shape, const Visitor& visit) {
  const int64_t n = shape.num_samples, c = shape.num_context_steps, u = shape.num_unroll_steps;
  const int64_t a = shape.num_actions, d = shape.action_dim, obs = shape.observation_size;
  const bool are_bytes = shape.observation_type == ObservationType::kUint8;
  const int64_t of_numbers = are_bytes ? 0 : n, of_bytes = are_bytes ? n : 0;
  const int64_t of_discrete = d > 0 ? 0 : n, of_box = d > 0 ? n : 0;
  visit("observations", batch.observations, {of_numbers, c + u + 1, obs});
  visit("observations", batch.observation_bytes, {of_bytes, c + u + 1, obs});
  visit("actions", batch.actions, {of_discrete, c + u});
  visit("action_values", batch.action_values, {of_box, c + u, d});
  visit("sampled_actions", batch.sampled_actions, {of_box, u, a, d});
  visit("chance_outcomes", batch.chance_outcomes, {shape.has_chance ? n : 0, u});
  visit("context_mask", batch.context_mask, {n, c});
  visit("rewards", batch.rewards, {n, u});
  visit("reward_mask", batch.reward_mask, {n, u});
  visit("latent_mask", batch.latent_mask, {n, u});
  visit("policies", batch.policies, {n, u, a});
  visit("policy_mask", batch.policy_mask, {n, u});
  visit("legal_action_masks", batch.legal_action_masks, {of_discrete, u, a});
  visit("value_mask", batch.value_mask, {n, u});
  visit("partial_returns", batch.partial_returns, {n, u});
  visit("bootstrap_scales", batch.bootstrap_scales, {n, u});
  const int64_t b = shape.num_bootstrap_context_steps;
  const auto with_context = [b](int64_t count) { return b > 0 ? count : 0; };
  visit("bootstrap_observations", batch.bootstrap_observations, {of_numbers, b + u, obs});
  visit("bootstrap_observations", batch.bootstrap_observation_bytes, {of_bytes, b + u, obs});
  visit("bootstrap_actions", batch.bootstrap_actions, {with_context(of_discrete), b + u});
  visit("bootstrap_action_values", batch.bootstrap_action_values, {with_context(of_box), b + u, d});
  visit("bootstrap_rows", batch.bootstrap_rows, {with_context(n), u});
  visit("bootstrap_padding", batch.bootstrap_padding, {with_context(n)});
  visit("importance_weights", batch.importance_weights, {n});
}

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_TRAIN_BATCH_H_
