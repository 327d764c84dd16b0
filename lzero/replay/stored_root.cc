#include "lzero/replay/stored_root.h"

#include <algorithm>

namespace lzero {
namespace {

template <typename T>
void Read(const GameSegment& segment, Stored field, int first, int count, std::vector<T>* out) {
  const absl::Span<const T> rows = segment.Rows<T>(field, first, count);
  out->assign(rows.begin(), rows.end());
}

}  // namespace

void ReadStoredRoot(const GameSegment& segment, int step, const ReplayShape& shape,
                    StoredRoot* root) {
  // The past, up to the root's own observation.
  root->step = segment.first_step() + step;
  const int num_past = static_cast<int>(std::min<int64_t>(shape.num_root_past_steps, root->step));
  const int first = step - num_past;  // below 0: in the segment's context
  root->observations.resize(static_cast<size_t>(num_past + 1) * shape.observation_size);
  segment.CopyObservations(first, num_past + 1, root->observations.data());
  Read(segment, Stored::kAction, first, num_past, &root->actions);
  Read(segment, Stored::kActionValues, first, num_past, &root->action_values);
  // What the stored search had and found there.
  Read(segment, Stored::kPolicy, step, 1, &root->policy);
  Read(segment, Stored::kLegalActions, step, 1, &root->legal_action_mask);
  root->to_play = segment.Rows<uint8_t>(Stored::kToPlay)[step];
  root->root_value = segment.Rows<float>(Stored::kRootValue)[step];
}

}  // namespace lzero
