#include "lzero/replay/batch/targets.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/check.h"

namespace lzero {

TargetTerms TargetTermsOf(const ReplayConfig& config, int64_t num_updates, int64_t age) {
  auto steps = static_cast<double>(config.td_steps);
  if (config.td_decay_updates > 0) {
    const double share = std::min(
        1.0, static_cast<double>(num_updates) / static_cast<double>(config.td_decay_updates));
    steps *= std::pow(static_cast<double>(config.td_steps_final) / steps, share);
  }
  int64_t whole = std::llround(steps);
  if (config.td_age > 0) whole = std::max<int64_t>(1, whole - age / config.td_age);
  return {static_cast<int>(whole),
          age >= config.root_value_min_age ? config.root_value_share : 0.0};
}

ValueTargetRule::ValueTargetRule(int td_steps, double discount, ValueBootstrap bootstrap)
    : td_steps_(td_steps), bootstrap_(bootstrap), powers_(td_steps + 1) {
  LZ_CHECK(td_steps > 0, "got ", td_steps);
  double power = 1.0;
  for (double& value : powers_) {
    value = power;
    power *= discount;
  }
}

ValueTarget ValueTargetRule::Compute(const StepWindow& window, int step,
                                     const TargetTerms& terms) const {
  LZ_DCHECK(0 < terms.td_steps && terms.td_steps <= td_steps_, terms.td_steps, " of ", td_steps_);
  const int size = static_cast<int>(window.rewards.size());
  const bool terminated = window.end == SegmentEnd::kTerminated;
  // How many rewards the target sums.
  int num_rewards = std::min(terms.td_steps, size - step);
  LZ_DCHECK(step >= 0 && step < size, "step ", step, " of ", size);
  LZ_DCHECK(num_rewards == terms.td_steps || terminated || window.end == SegmentEnd::kTruncated,
            "step ", step, " of ", size, " needs ", terms.td_steps, " steps");
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
  if (terms.root_value_share > 0.0) {
    sum += terms.root_value_share * (window.root_values[step] - sum);
    target.bootstrap_scale *= static_cast<float>(1.0 - terms.root_value_share);
  }
  target.partial_return = static_cast<float>(sum);
  return target;
}

}  // namespace lzero
