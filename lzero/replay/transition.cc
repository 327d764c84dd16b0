#include "lzero/replay/transition.h"

namespace lzero {

void OwnedTransition::Set(const Transition& transition) {
  const auto assign = [](auto span, auto* vector) { vector->assign(span.begin(), span.end()); };
  assign(transition.policy, &policy_);
  assign(transition.observation, &observation_);
  assign(transition.legal_action_mask, &legal_action_mask_);
  assign(transition.action_values, &action_values_);
  assign(transition.sampled_actions, &sampled_actions_);
  scalars_ = transition;
}

Transition OwnedTransition::view() const {
  Transition transition = scalars_;
  transition.policy = policy_;
  transition.observation = observation_;
  transition.legal_action_mask = legal_action_mask_;
  transition.action_values = action_values_;
  transition.sampled_actions = sampled_actions_;
  return transition;
}

}  // namespace lzero
