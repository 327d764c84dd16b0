#include "lzero/replay/replay_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/replay/position_index.h"

namespace lzero {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

// Bytes of a full segment with all the context that one can have.
int64_t SegmentBytes(const ReplayConfig& config, const ReplayShape& shape) {
  return GameSegment::BytesFor(ReplaySegmentShape(config, shape), config.segment_length,
                               ReplayContextSteps(config, shape));
}

absl::Status CheckRange(const char* key, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(key, " is ", value, ", allowed are ", low, " to ", high));
}

absl::Status CheckShape(const ReplayShape& shape) {
  LZ_RETURN_IF_ERROR(CheckRange("observation size", shape.observation_size, 1, 1 << 26));
  LZ_RETURN_IF_ERROR(CheckRange("frame_stack", shape.frame_stack, 1, shape.observation_size));
  if (shape.observation_size % shape.frame_stack != 0) {
    return absl::InvalidArgumentError(absl::StrCat("frame_stack is ", shape.frame_stack,
                                                   ", no divisor of the observation size ",
                                                   shape.observation_size));
  }
  LZ_RETURN_IF_ERROR(CheckRange("number of actions", shape.num_actions, 1, 1 << 20));
  LZ_RETURN_IF_ERROR(CheckRange("past steps of a root", shape.num_root_past_steps, 0, 1 << 30));
  LZ_RETURN_IF_ERROR(CheckRange("numbers of an action", shape.action_dim, 0, 1 << 16));
  return CheckRange("number of environments", shape.num_envs, 1, 1 << 20);
}

}  // namespace

std::vector<ConsistencyError> ReplayErrors(const ReplayConfig& config, const ReplayShape& shape) {
  // Whether it fits replay.capacity.
  const int64_t horizon = ReplayHorizon(config);
  const int64_t transitions = shape.num_envs * (config.segment_length + horizon);
  const std::string content =
      absl::StrCat("the smallest useful content of ", shape.num_envs,
                   " environments (segments of replay.segment_length = ", config.segment_length,
                   " transitions, targets known ", horizon, " steps later)");
  if (transitions > config.capacity) {
    return {
        {{"replay.capacity", "replay.segment_length", "replay.td_steps", "env.num_collectors"},
         absl::StrCat("got ", config.capacity, " transitions, but ", content, " is ", transitions,
                      " transitions: raise replay.capacity, or lower replay.segment_length, "
                      "replay.td_steps or env.num_collectors")}};
  }
  // Whether it fits replay.max_mebibytes.
  const int64_t finished = (horizon + config.segment_length - 1) / config.segment_length;
  const int64_t bytes =
      ReplayFixedBytes(config, shape) + shape.num_envs * finished * SegmentBytes(config, shape);
  if (bytes <= config.max_mebibytes * kMebibyte) return {};
  // Where the past of roots is longer than a segment, shorter segments would repeat it more often.
  std::vector<std::string> lower = {"replay.segment_length"};
  if (shape.num_root_past_steps > config.segment_length) {
    lower = {"model.context_length", "model.num_layers"};
  }
  lower.insert(lower.end(), {"replay.td_steps", "replay.capacity", "env.num_collectors"});
  std::vector<std::string> keys = lower;
  keys.insert(keys.begin(), "replay.max_mebibytes");
  return {{keys, absl::StrCat("got ", config.max_mebibytes, ", but ", content, " needs ",
                              (bytes + kMebibyte - 1) / kMebibyte, " MiB with the index of ",
                              ReplayMaxTransitions(config, shape),
                              " transitions: raise replay.max_mebibytes, or lower ",
                              absl::StrJoin(lower.begin(), lower.end() - 1, ", "), " or ",
                              lower.back())}};
}

int64_t ReplayHorizon(const ReplayConfig& config) {
  // The last unrolled step is t + U - 1; its bootstrap needs observation t + U - 1 + td, or the
  // search made there, which exists once the step after it is stored.
  const int64_t searched = config.value_bootstrap == ValueBootstrap::kSearch ? 1 : 0;
  return config.num_unroll_steps - 1 + config.td_steps + searched;
}

int64_t ReplayContextSteps(const ReplayConfig& config, const ReplayShape& shape) {
  // A target may bootstrap from the step after its own, with as many before it.
  return std::max({config.num_context_steps, int64_t{shape.num_root_past_steps},
                   config.bootstrap_context_steps - 1});
}

SegmentShape ReplaySegmentShape(const ReplayConfig& config, const ReplayShape& shape) {
  SegmentShape segment = shape;
  segment.num_context_steps = static_cast<int>(ReplayContextSteps(config, shape));
  return segment;
}

int64_t ReplayMaxTransitions(const ReplayConfig& config, const ReplayShape& shape) {
  // A stored transition costs at least this much, whatever the length of its segment.
  const SegmentShape segment = ReplaySegmentShape(config, shape);
  const int64_t step_bytes =
      GameSegment::BytesFor(segment, 2, 0) - GameSegment::BytesFor(segment, 1, 0);
  return std::min(config.capacity, config.max_mebibytes * kMebibyte / step_bytes);
}

int64_t ReplayFixedBytes(const ReplayConfig& config, const ReplayShape& shape) {
  return PositionIndex::BytesFor(std::max<int64_t>(1, ReplayMaxTransitions(config, shape))) +
         shape.num_envs * SegmentBytes(config, shape);
}

absl::Status CheckReplayConfig(const ReplayConfig& config, const ReplayShape& shape) {
  LZ_CHECK(std::min({config.capacity, config.max_mebibytes, config.segment_length,
                     config.num_unroll_steps, config.td_steps}) > 0,
           "a config that its schema refuses");
  LZ_CHECK(!config.augment_symmetries || !shape.symmetries.empty(), "no symmetries to augment by");
  LZ_RETURN_IF_ERROR(CheckShape(shape));
  return FirstError(ReplayErrors(config, shape));
}

double BytesPerTransition(const ReplayConfig& config, const ReplayShape& shape) {
  return static_cast<double>(SegmentBytes(config, shape)) /
         static_cast<double>(config.segment_length);
}

int64_t PlannedBytes(const ReplayConfig& config, const ReplayShape& shape) {
  // Episodes of one step cost the most for each transition.
  const SegmentShape segment = ReplaySegmentShape(config, shape);
  const int64_t one_step = GameSegment::BytesFor(segment, 1, 0);
  const int64_t context = GameSegment::BytesFor(segment, 1, segment.num_context_steps) - one_step;
  // A segment with context is full, or the last of its episode after a full one; the one before may
  // be evicted already where it is the oldest segment of its environment.
  const int64_t num_contexts =
      std::min(config.capacity, 2 * (config.capacity / config.segment_length) + shape.num_envs);
  const double most = static_cast<double>(ReplayFixedBytes(config, shape)) +
                      static_cast<double>(config.capacity) * static_cast<double>(one_step) +
                      static_cast<double>(num_contexts) * static_cast<double>(context);
  const int64_t limit = config.max_mebibytes * kMebibyte;
  return most < static_cast<double>(limit) ? static_cast<int64_t>(most) : limit;
}

}  // namespace lzero
