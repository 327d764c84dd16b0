// Value targets: n-step returns with two-player signs and their bootstrap. Pure functions over what
// is known of an episode from some step on; no storage, no randomness, any thread.
// [MuZero App. F]
#ifndef LZERO_REPLAY_BATCH_TARGETS_H_
#define LZERO_REPLAY_BATCH_TARGETS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/game_segment.h"

namespace lzero {

// Steps of one episode, in order. Rewards and root values are from the view of the player who moves
// at their step.
struct StepWindow {
  absl::Span<const float> rewards;       // [n] float32
  absl::Span<const float> root_values;   // [n] float32, of ValueBootstrap::kSearch and shares
  absl::Span<const uint8_t> to_play;     // [n + 1] uint8
  SegmentEnd end = SegmentEnd::kRunsOn;  // what follows step n - 1
};

// Value target = partial_return + bootstrap_scale * V(observation `bootstrap_step` of the window).
struct ValueTarget {
  float partial_return = 0.0f;
  float bootstrap_scale = 0.0f;  // 0: nothing to add
  int bootstrap_step = 0;
};

// What the targets of a sample are made of.
struct TargetTerms {
  int td_steps = 0;               // rewards before the bootstrap
  double root_value_share = 0.0;  // of a target that is the root value of its own step
};

// The terms of a sample `age` transitions old, `num_updates` after they began to be annealed:
// replay.td_steps, from there to td_steps_final geometrically over td_decay_updates [Schwarzer et
// al. 2023, Bigger, better, faster], less one for every td_age transitions of age, 1 at least
// [EfficientZero, Ye et al. 2021, section 4.3]; root_value_share from root_value_min_age on.
TargetTerms TargetTermsOf(const ReplayConfig& config, int64_t num_updates, int64_t age);

class ValueTargetRule {
 public:
  // For terms of at most `td_steps`.
  ValueTargetRule(int td_steps, double discount, ValueBootstrap bootstrap);

  // The target of window step `step`, 0 <= step < n, from the view of the player who moves there:
  //   sum_{i < m} sign_i discount^i r_{step + i} + sign_m discount^m v_{step + m},
  // sign_i = +1 where the same player moves at step + i, else -1; m = terms.td_steps, less at the
  // end of the episode. v is nothing past a termination. ValueBootstrap::kTargetNetwork: v is left
  // to the caller (at a truncation it is that of the last observation). ValueBootstrap::kSearch: v
  // is the stored root value; the observation after a truncation was never searched, so there m
  // stops one step earlier, at the last searched one (for the last step itself m = 0: its own root
  // value). The caller must give a window that holds all m steps where it runs on.
  ValueTarget Compute(const StepWindow& window, int step, const TargetTerms& terms) const;

 private:
  int td_steps_;
  ValueBootstrap bootstrap_;
  std::vector<double> powers_;  // discount^i, i = 0 .. td_steps
};

}  // namespace lzero

#endif  // LZERO_REPLAY_BATCH_TARGETS_H_
