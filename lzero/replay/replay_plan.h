// What a replay buffer is made for and will need, worked out before anything is allocated: its
// sizes, how far a position looks ahead, the least content that is of use, and the most memory the
// buffer will ever hold. Pure functions, any thread.
#ifndef LZERO_REPLAY_REPLAY_PLAN_H_
#define LZERO_REPLAY_REPLAY_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lzero/base/symmetry.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/game_segment.h"

namespace lzero {

// The sizes a replay buffer is made for, beginning with those of its segments. With box actions
// num_actions is K, the actions that a search samples at its root. ReplaySegmentShape sets
// num_context_steps.
struct ReplayShape : SegmentShape {
  int num_envs = 0;
  TerminalMode terminal = TerminalMode::kAbsorb;
  std::vector<Symmetry> symmetries = {};  // used with replay.augment_symmetries
  // Steps before a position that are needed to search it again as a root. A segment keeps those
  // before its first one (see ReplayContextSteps).
  int num_root_past_steps = 0;
  std::vector<int64_t> observation_shape = {};  // used with replay.augment_shift
  bool reads_sequences = true;                  // likewise, see ModelFamily
  int64_t reset_updates = 0;  // from one reset of the network to the next; 0: never
};

// Errors between settings that are each in range: the smallest useful content does not fit
// replay.capacity or replay.max_mebibytes. For every environment that content is a segment being
// filled and enough finished ones to keep one position of an endless episode eligible.
std::vector<ConsistencyError> ReplayErrors(const ReplayConfig& config, const ReplayShape& shape);

// InvalidArgument (what, value, what is allowed) for a shape out of range, and for the first of
// ReplayErrors. `config` is in the ranges of its schema.
absl::Status CheckReplayConfig(const ReplayConfig& config, const ReplayShape& shape);

// Steps an unfinished episode must have after position t before all targets of t are known: t is
// eligible in an episode of n transitions if and only if t + ReplayHorizon <= n.
int64_t ReplayHorizon(const ReplayConfig& config);

// Steps that each segment stores of its episode before its own first one, so that no position loses
// its context when the segment before is evicted: exactly what can be read, the burn-in of a sample
// (replay.num_context_steps), the past of a rebuilt root or what comes before an observation to
// bootstrap from, whichever reaches further back. Raising one of them is all that a new reader
// needs.
int64_t ReplayContextSteps(const ReplayConfig& config, const ReplayShape& shape);

// The shape of the segments of such a replay.
SegmentShape ReplaySegmentShape(const ReplayConfig& config, const ReplayShape& shape);

// Transitions that can be stored at once: replay.capacity, or less where the bytes allow less.
int64_t ReplayMaxTransitions(const ReplayConfig& config, const ReplayShape& shape);

// Bytes held whatever is stored: the index, and the segment that each environment is filling.
int64_t ReplayFixedBytes(const ReplayConfig& config, const ReplayShape& shape);

// The most bytes the buffer will ever hold with these settings, which must pass CheckReplayConfig.
// Never more than replay.max_mebibytes. Copies made by Export and Import come on top while they
// run.
int64_t PlannedBytes(const ReplayConfig& config, const ReplayShape& shape);

// Bytes that one transition of a long episode takes, in a full segment of replay.segment_length.
// They include its share of the context and of the frames before the first, but not the index.
double BytesPerTransition(const ReplayConfig& config, const ReplayShape& shape);

}  // namespace lzero

#endif  // LZERO_REPLAY_REPLAY_PLAN_H_
