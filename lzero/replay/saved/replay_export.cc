#include "lzero/replay/saved/replay_export.h"

#include "lzero/replay/replay_plan.h"
#include "lzero/replay/saved/context_arrays.h"
#include "lzero/replay/saved/replay_arrays.h"

namespace lzero {
namespace {

constexpr int64_t kFormat = 2;  // 1: observations always F32, whole ones

// [S, 6], the first num_finished of them not open.
NamedArray Rows(const StoredSegments& segments, size_t num_finished) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < segments.size(); ++i) {
    const GameSegment& segment = *segments[i];
    rows.insert(rows.end(),
                {segment.env().value, segment.episode(), segment.first_step(), segment.num_steps(),
                 static_cast<int64_t>(segment.end()), static_cast<int64_t>(i >= num_finished)});
  }
  return MakeNamedArray<int64_t>("replay.segments", rows,
                                 {static_cast<int64_t>(segments.size()), kSegmentColumns});
}

}  // namespace

std::vector<ReplaySetting> ReplaySettings(const ReplayConfig& config, const ReplayShape& shape) {
  return {{"format", kFormat},
          {"observation size", shape.observation_size},
          {"observation type (0 float32, 1 uint8)", static_cast<int64_t>(shape.observation_type)},
          {"frame_stack of the observations", shape.frame_stack},
          {"number of actions", shape.num_actions},
          {"numbers of an action", shape.action_dim},
          {"chance outcomes", shape.num_chance_outcomes},
          {"env.num_collectors", shape.num_envs},
          {"replay.capacity", config.capacity},
          {"replay.segment_length", config.segment_length},
          {"replay.num_unroll_steps", config.num_unroll_steps},
          {"replay.td_steps", config.td_steps},
          {"replay.value_bootstrap", static_cast<int64_t>(config.value_bootstrap)},
          {"replay.sample_from", static_cast<int64_t>(config.sample_from)},
          {"replay.prioritized", config.prioritized}};
}

std::vector<NamedArray> ExportReplay(const ReplayConfig& config, const ReplayShape& shape,
                                     const ReplayStore& store) {
  // Settings and counters.
  std::vector<int64_t> settings;
  for (const ReplaySetting& setting : ReplaySettings(config, shape))
    settings.push_back(setting.value);
  const ReplayStore::Counters& counters = store.counters();
  const std::vector<int64_t> counts = {counters.num_appended, counters.num_sampled,
                                       counters.num_episodes_ended, counters.num_episodes_begun};
  const SegmentShape segment_shape = ReplaySegmentShape(config, shape);
  const ObservationFormat format = segment_shape.format();
  StoredSegments segments;
  for (const auto& segment : store.finished()) segments.push_back(segment.get());
  for (const auto& segment : store.open()) {
    if (segment != nullptr) segments.push_back(segment.get());
  }
  std::vector<NamedArray> arrays;
  arrays.push_back(MakeNamedArray<int64_t>("replay.settings", settings));
  arrays.push_back(MakeNamedArray<double>("replay.exponent", {config.priority_exponent}));
  arrays.push_back(MakeNamedArray<int64_t>("replay.counters", counts));
  arrays.push_back(MakeNamedArray<double>("replay.max_priority", {counters.max_priority}));
  // Segments and what they hold.
  arrays.push_back(Rows(segments, store.finished().size()));
  arrays.push_back(InParts(
      "replay.observations", BlockArrayType(format), {0, format.block_size()}, segments,
      [format](const GameSegment& segment) {
        const int64_t num_rows = segment.num_steps() + 1;
        return segment.Blocks(0, static_cast<int>(ObservationStore::NumBlocks(format, num_rows)));
      }));
  for (int i = 0; i < kNumStored; ++i) {
    const StoredField& field = kStoredFields[i];
    if (field.NumColumns(segment_shape) == 0) continue;
    arrays.push_back(
        InParts(field.name, field.type, field.ArrayShape(segment_shape, 0), segments,
                [i](const GameSegment& segment) { return segment.Bytes(static_cast<Stored>(i)); }));
  }
  // The index of positions, and the contexts.
  const PositionIndex& index = store.index();
  std::vector<double> weights;
  for (const GameSegment* segment : segments) {
    for (const int32_t leaf : segment->leaves()) weights.push_back(index.weight(leaf));
  }
  arrays.push_back(MakeNamedArray<double>("replay.weights", weights));
  arrays.push_back(MakeNamedArray<uint32_t>("replay.generations", index.generations()));
  arrays.push_back(MakeNamedArray<int32_t>("replay.free_leaves", index.free_leaves()));
  ExportContexts(segment_shape, segments, &arrays);
  return arrays;
}

}  // namespace lzero
