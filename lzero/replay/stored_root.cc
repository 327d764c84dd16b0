#include "lzero/replay/stored_root.h"

#include <algorithm>
#include <cstddef>

namespace lzero {

void ReadStoredRoot(const GameSegment& segment, int step, const ReplayShape& shape,
                    StoredRoot* root) {
  // The past, up to the root's own observation.
  root->step = segment.first_step() + step;
  const int num_past = static_cast<int>(std::min<int64_t>(shape.num_root_past_steps, root->step));
  const int first = step - num_past;  // below 0: in the segment's context
  const size_t past = static_cast<size_t>(num_past);
  root->observations.resize((past + 1) * static_cast<size_t>(shape.observation_size));
  segment.CopyObservations(first, num_past + 1, root->observations.data());
  root->actions.resize(past);
  segment.CopyActions(first, num_past, root->actions.data());
  root->action_values.resize(past * static_cast<size_t>(shape.action_dim));
  segment.CopyActionValues(first, num_past, root->action_values.data());

  // What the stored search had and found there.
  const size_t row = static_cast<size_t>(step);
  const size_t num_actions = static_cast<size_t>(shape.num_actions);
  const absl::Span<const float> policy = segment.policies().subspan(row * num_actions, num_actions);
  root->policy.assign(policy.begin(), policy.end());
  root->legal_action_mask.clear();
  if (shape.action_dim == 0) {
    const absl::Span<const uint8_t> legal =
        segment.legal_action_masks().subspan(row * num_actions, num_actions);
    root->legal_action_mask.assign(legal.begin(), legal.end());
  }
  root->to_play = segment.to_play()[row];
  root->root_value = segment.root_values()[row];
}

}  // namespace lzero
