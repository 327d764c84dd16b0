#include "lzero/replay/batch/targets.h"

#include <algorithm>

#include "lzero/base/check.h"

namespace lzero {

ValueTargetRule::ValueTargetRule(int td_steps, double discount, ValueBootstrap bootstrap,
                                 double root_value_share)
    : td_steps_(td_steps),
      bootstrap_(bootstrap),
      root_value_share_(root_value_share),
      powers_(td_steps + 1) {
  LZ_CHECK(td_steps > 0, "got ", td_steps);
  double power = 1.0;
  for (double& value : powers_) {
    value = power;
    power *= discount;
  }
}

ValueTarget ValueTargetRule::Compute(const StepWindow& window, int step) const {
  const int size = static_cast<int>(window.rewards.size());
  const bool terminated = window.end == SegmentEnd::kTerminated;
  // How many rewards the target sums.
  int num_rewards = std::min(td_steps_, size - step);
  LZ_DCHECK(step >= 0 && step < size, "step ", step, " of ", size);
  LZ_DCHECK(num_rewards == td_steps_ || terminated || window.end == SegmentEnd::kTruncated, "step ",
            step, " of ", size, " needs ", td_steps_, " steps");
  const bool at_end = step + num_rewards == size;
  if (bootstrap_ == ValueBootstrap::kSearch && at_end && !terminated) --num_rewards;

  // Their discounted sum, signed by the player of each step.
  const uint8_t player = window.to_play[step];
  double sum = 0.0;
  for (int i = 0; i < num_rewards; ++i) {
    const double term = powers_[i] * window.rewards[step + i];
    sum += window.to_play[step + i] == player ? term : -term;
  }
  // The bootstrap, which is nothing past a termination.
  ValueTarget target;
  target.bootstrap_step = step + num_rewards;
  if (!(at_end && terminated)) {
    const bool same_player = window.to_play[target.bootstrap_step] == player;
    const double scale = same_player ? powers_[num_rewards] : -powers_[num_rewards];
    if (bootstrap_ == ValueBootstrap::kSearch) {
      sum += scale * window.root_values[target.bootstrap_step];
    } else {
      target.bootstrap_scale = static_cast<float>(scale);
    }
  }
  if (root_value_share_ > 0.0) {
    sum += root_value_share_ * (window.root_values[step] - sum);
    target.bootstrap_scale *= static_cast<float>(1.0 - root_value_share_);
  }
  target.partial_return = static_cast<float>(sum);
  return target;
}

}  // namespace lzero
