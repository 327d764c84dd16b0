#include "lzero/replay/batch/window_reader.h"

#include <algorithm>

#include "lzero/replay/segment_rows.h"

namespace lzero {

StepWindow WindowReader::Read(const PositionIndex::Place& place) {
  // How many steps are known, and what follows them: where there are more the episode runs on.
  const GameSegment* last = place.segment;
  int num_known = last->num_steps() - place.step;
  for (; num_known < max_steps_ && last->next() != nullptr; num_known += last->num_steps()) {
    last = last->next();
  }
  StepWindow window;
  window.end = num_known <= max_steps_ ? last->end() : SegmentEnd::kRunsOn;
  const size_t size = static_cast<size_t>(std::min(num_known, max_steps_));
  Gather<Stored::kReward>(place, max_steps_, 0, rewards_.data(), 0);
  Gather<Stored::kRootValue>(place, max_steps_, 0, root_values_.data(), 0);
  // One more: the player to move after a piece, written again by the next piece.
  Gather<Stored::kToPlay>(place, max_steps_, 1, to_play_.data(), 0);
  window.rewards = {rewards_.data(), size};
  window.root_values = {root_values_.data(), size};
  window.to_play = {to_play_.data(), size + 1};
  return window;
}

}  // namespace lzero
