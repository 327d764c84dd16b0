// A stored position as the root of a new search, and what such a search found. Plain data and one
// function that copies it out of a segment; knows neither search nor model. Any thread.
#ifndef LZERO_REPLAY_STORED_ROOT_H_
#define LZERO_REPLAY_STORED_ROOT_H_

#include <cstdint>
#include <vector>

#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {

// What the collector's search had there: P past steps, as many as a root may need or the episode
// has.
struct StoredRoot {
  PositionHandle position;
  int64_t step = 0;  // of the root's observation within its episode
  int to_play = 0;
  std::vector<float> observations;         // [P + 1, obs], the last row is the root's
  std::vector<int32_t> actions;            // [P]
  std::vector<float> action_values;        // box: [P, D]
  std::vector<uint8_t> legal_action_mask;  // [A]; box: empty
  // What the stored search found.
  std::vector<float> policy;  // [A]; box: [K]
  float root_value = 0.0f;
  int64_t age = 0;  // transitions appended after this one
};

struct NewSearch {
  PositionHandle position;
  std::vector<float> policy;           // [A]; box: [K], of
  std::vector<float> sampled_actions;  // box: [K, D]
  float root_value = 0.0f;
};

// Fills all but position and age with step `step` of `segment`, a segment of a replay of this shape
// (which keeps shape.num_root_past_steps before its first step). Memory of `root` is reused.
void ReadStoredRoot(const GameSegment& segment, int step, const ReplayShape& shape,
                    StoredRoot* root);

}  // namespace lzero

#endif  // LZERO_REPLAY_STORED_ROOT_H_
