#include "lzero/replay/transition.h"

namespace lzero {

void OwnedTransition::Set(const Transition& transition) {
  transition_ = transition;
  const auto own = [](auto* span, auto* memory) {
    memory->assign(span->begin(), span->end());
    *span = *memory;
  };
  own(&transition_.policy, &policy_);
  own(&transition_.observation, &observation_);
  own(&transition_.legal_action_mask, &legal_action_mask_);
  own(&transition_.action_values, &action_values_);
  own(&transition_.sampled_actions, &sampled_actions_);
}

}  // namespace lzero
