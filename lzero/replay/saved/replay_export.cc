#include "lzero/replay/saved/replay_export.h"

#include <string>
#include <utility>

#include "absl/types/span.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/saved/context_arrays.h"
#include "lzero/replay/saved/replay_arrays.h"

namespace lzero {
namespace {

constexpr int64_t kFormat = 2;  // 1: observations always F32, whole ones

// Number of blocks that hold the observations from the first on.
int NumBlocks(const GameSegment& segment, const ObservationFormat& format) {
  return static_cast<int>(ObservationStore::NumBlocks(format, segment.num_steps() + 1));
}

class Exporter {
 public:
  explicit Exporter(const ReplayStore& store) {
    for (const auto& segment : store.finished()) segments_.push_back(segment.get());
    for (const auto& segment : store.open()) {
      if (segment != nullptr) segments_.push_back(segment.get());
    }
    num_finished_ = store.finished().size();
  }

  // [S, 6]
  NamedArray Rows() const {
    std::vector<int64_t> rows;
    for (size_t i = 0; i < segments_.size(); ++i) {
      const GameSegment& segment = *segments_[i];
      rows.insert(rows.end(), {segment.env().value, segment.episode(), segment.first_step(),
                               segment.num_steps(), static_cast<int64_t>(segment.end()),
                               static_cast<int64_t>(i >= num_finished_)});
    }
    return MakeNamedArray<int64_t>("replay.segments", rows,
                                   {static_cast<int64_t>(segments_.size()), kSegmentColumns});
  }

  NamedArray Observations(const ObservationFormat& format) const {
    int64_t num_blocks = 0;
    for (const GameSegment* segment : segments_) num_blocks += NumBlocks(*segment, format);
    NamedArray array{
        "replay.observations", BlockArrayType(format), {num_blocks, format.block_size()}, {}};
    array.parts = [segments = segments_, format](const ByteSink& sink) {
      std::string blocks;
      for (const GameSegment* segment : segments) {
        const int count = NumBlocks(*segment, format);
        blocks.resize(static_cast<size_t>(count * format.block_bytes()));
        segment->CopyBlocks(0, count, blocks.data());
        sink(blocks);
      }
    };
    return array;
  }

  // The field of all segments, one after the other.
  NamedArray Field(Stored stored, const SegmentShape& shape) const {
    const StoredField& field = FieldOf(stored);
    int64_t bytes = 0;
    for (const GameSegment* segment : segments_) {
      bytes += static_cast<int64_t>(segment->Bytes(stored).size());
    }
    const int64_t num_rows = bytes / field.RowBytes(shape);
    NamedArray array{field.name, field.type, field.ArrayShape(shape, num_rows), {}};
    array.parts = [segments = segments_, stored](const ByteSink& sink) {
      for (const GameSegment* segment : segments) {
        const absl::Span<const char> part = segment->Bytes(stored);
        sink({part.data(), part.size()});
      }
    };
    return array;
  }

  absl::Span<const GameSegment* const> segments() const { return segments_; }

  NamedArray Weights(const PositionIndex& index) const {
    std::vector<double> weights;
    for (const GameSegment* segment : segments_) {
      for (const int32_t leaf : segment->leaves()) weights.push_back(index.weight(leaf));
    }
    return MakeNamedArray<double>("replay.weights", weights);
  }

 private:
  std::vector<const GameSegment*> segments_;
  size_t num_finished_ = 0;
};

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
  const Exporter exporter(store);
  std::vector<NamedArray> arrays;
  arrays.push_back(MakeNamedArray<int64_t>("replay.settings", settings));
  arrays.push_back(MakeNamedArray<double>("replay.exponent", {config.priority_exponent}));
  arrays.push_back(MakeNamedArray<int64_t>("replay.counters", counts));
  arrays.push_back(MakeNamedArray<double>("replay.max_priority", {counters.max_priority}));
  // Segments and what they hold.
  arrays.push_back(exporter.Rows());
  arrays.push_back(exporter.Observations(segment_shape.format()));
  for (int i = 0; i < kNumStored; ++i) {
    if (kStoredFields[i].NumColumns(segment_shape) == 0) continue;
    arrays.push_back(exporter.Field(static_cast<Stored>(i), segment_shape));
  }
  // The index of positions, and the contexts.
  arrays.push_back(exporter.Weights(store.index()));
  const PositionIndex& index = store.index();
  arrays.push_back(MakeNamedArray<uint32_t>("replay.generations", index.generations()));
  arrays.push_back(MakeNamedArray<int32_t>("replay.free_leaves", index.free_leaves()));
  ExportContexts(segment_shape, exporter.segments(), &arrays);
  return arrays;
}

}  // namespace lzero
