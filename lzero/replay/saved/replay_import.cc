#include "lzero/replay/saved/replay_import.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/saved/context_arrays.h"
#include "lzero/replay/saved/replay_arrays.h"
#include "lzero/replay/saved/replay_export.h"

namespace lzero {
namespace {

class Importer {
 public:
  Importer(const ReplayConfig& config, const ReplayShape& shape,
           absl::Span<const NamedArray> arrays)
      : config_(config),
        shape_(shape),
        arrays_(arrays),
        segment_shape_(ReplaySegmentShape(config, shape)),
        format_(segment_shape_.format()),
        store_(std::make_unique<ReplayStore>(config, shape)),
        contexts_(segment_shape_) {}

  absl::StatusOr<std::unique_ptr<ReplayStore>> Run() {
    LZ_RETURN_IF_ERROR(CheckSettings());
    LZ_RETURN_IF_ERROR(ReadCounters());
    LZ_RETURN_IF_ERROR(ReadRows());
    LZ_RETURN_IF_ERROR(ReadFields());
    LZ_RETURN_IF_ERROR(CheckValues());
    LZ_RETURN_IF_ERROR(RestoreLeaves());
    LZ_RETURN_IF_ERROR(contexts_.Open(arrays_));
    for (const SegmentRow& row : rows_) LZ_RETURN_IF_ERROR(RestoreSegment(row));
    LZ_RETURN_IF_ERROR(contexts_.Close());
    LZ_RETURN_IF_ERROR(RestorePlaces());
    return std::move(store_);
  }

 private:
  template <typename T>
  absl::Status Read(const char* name, std::vector<int64_t> dims, std::vector<T>* values) {
    return ReadReplayArray(arrays_, name, dims, values);
  }

  // All numbers of a field, before segments are restored.
  template <typename T>
  absl::Span<const T> Values(Stored field) const {
    const absl::string_view bytes = fields_[static_cast<size_t>(field)];
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  absl::Status CheckSettings() {
    const std::vector<ReplaySetting> settings = ReplaySettings(config_, shape_);
    std::vector<int64_t> saved;
    LZ_RETURN_IF_ERROR(Read("replay.settings", {-1}, &saved));
    if (saved.empty() || saved[0] == settings[0].value) {  // another format may have others
      LZ_RETURN_IF_ERROR(Read("replay.settings", {static_cast<int64_t>(settings.size())}, &saved));
    }
    for (size_t i = 0; i < settings.size(); ++i) {
      if (saved[i] == settings[i].value) continue;
      return InvalidReplay(settings[i].name, " is ", settings[i].value, " here and ", saved[i],
                           " in the saved state; it cannot change between saving and loading");
    }
    std::vector<double> exponent;
    LZ_RETURN_IF_ERROR(Read("replay.exponent", {1}, &exponent));
    if (config_.prioritized && exponent[0] != config_.priority_exponent) {
      return InvalidReplay("replay.priority_exponent is ", config_.priority_exponent, " here and ",
                           exponent[0],
                           " in the saved state; saved priorities cannot be converted");
    }
    return absl::OkStatus();
  }

  absl::Status ReadCounters() {
    std::vector<int64_t> values;
    LZ_RETURN_IF_ERROR(Read("replay.counters", {4}, &values));
    for (const int64_t value : values) {
      if (value < 0) {
        return InvalidReplay("array 'replay.counters' holds ", value, ", allowed are >= 0");
      }
    }
    std::vector<double> priority;
    LZ_RETURN_IF_ERROR(Read("replay.max_priority", {1}, &priority));
    if (!std::isfinite(priority[0]) || priority[0] < 1.0) {
      return InvalidReplay("array 'replay.max_priority' holds ", priority[0], ", allowed are >= 1");
    }
    ReplayStore::Counters& counters = store_->counters();
    counters.num_appended = values[0];
    counters.num_sampled = values[1];
    counters.num_episodes_ended = values[2];
    counters.num_episodes_begun = values[3];
    counters.max_priority = priority[0];
    return absl::OkStatus();
  }

  absl::Status ReadRows() {
    // Read the rows.
    std::vector<int64_t> values;
    LZ_RETURN_IF_ERROR(Read("replay.segments", {-1, kSegmentColumns}, &values));
    rows_.resize(values.size() / kSegmentColumns);
    if (!values.empty()) std::memcpy(rows_.data(), values.data(), values.size() * sizeof(int64_t));
    // Check each, and their order.
    std::vector<int64_t> last_episodes(shape_.num_envs, -1);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const SegmentRow& row = rows_[i];
      LZ_RETURN_IF_ERROR(Annotate(CheckRow(row), absl::StrCat("segment ", i)));
      // Finished ones first, then at most one open segment of each environment in order.
      const bool ordered =
          i == 0 || rows_[i - 1].is_open == 0 || (row.is_open == 1 && rows_[i - 1].env < row.env);
      if (!ordered) return InvalidReplay("segment ", i, " is out of order");
      int64_t& last_episode = last_episodes[row.env];
      if (row.episode < last_episode) {
        return InvalidReplay("segment ", i, " of environment ", row.env, " is of episode ",
                             row.episode, ", after episode ", last_episode);
      }
      last_episode = row.episode;
      num_steps_ += row.num_steps;
    }
    // Check that all of them fit.
    if (num_steps_ > store_->index().num_leaves() || num_steps_ > store_->counters().num_appended) {
      return InvalidReplay("it holds ", num_steps_, " transitions, allowed are ",
                           store_->index().num_leaves(),
                           " here (replay.capacity, replay.max_mebibytes) and ",
                           store_->counters().num_appended, " by its own count of appended ones");
    }
    return absl::OkStatus();
  }

  absl::Status CheckRow(const SegmentRow& row) const {
    const int64_t length = config_.segment_length;
    const int64_t num_begun = store_->counters().num_episodes_begun;
    if (row.env < 0 || row.env >= shape_.num_envs) {
      return InvalidReplay("environment ", row.env, " of ", shape_.num_envs);
    }
    if (row.episode < 0 || row.episode >= num_begun) {
      return InvalidReplay("episode ", row.episode, " of ", num_begun, " begun");
    }
    if (row.first_step < 0 || row.first_step % length != 0) {
      return InvalidReplay("begins at step ", row.first_step, ", not a multiple of ", length);
    }
    if (row.end < 0 || row.end > 3 || row.is_open < 0 || row.is_open > 1) {
      return InvalidReplay("end ", row.end, " (allowed 0 to 3), open ", row.is_open,
                           " (allowed 0 or 1)");
    }
    const bool runs_on = row.end == static_cast<int64_t>(SegmentEnd::kRunsOn);
    const int64_t least = row.is_open ? 0 : runs_on ? length : 1;
    const int64_t most = row.is_open ? length - 1 : length;
    if (row.num_steps < least || row.num_steps > most) {
      return InvalidReplay(row.num_steps, " steps, allowed are ", least, " to ", most);
    }
    if (row.is_open && !runs_on) return InvalidReplay("is open, but ended (", row.end, ")");
    return absl::OkStatus();
  }

  absl::Status ReadFields() {
    const int64_t rows = num_steps_ + static_cast<int64_t>(rows_.size());
    const int64_t num_first_frames = static_cast<int64_t>(rows_.size()) * (format_.frame_stack - 1);
    LZ_ASSIGN_OR_RETURN(observations_,
                        ReplayBytes(arrays_, "replay.observations", BlockArrayType(format_),
                                    {rows + num_first_frames, format_.block_size()}));
    for (int i = 0; i < kNumStored; ++i) {
      const StoredField& field = kStoredFields[i];
      if (field.NumColumns(segment_shape_) == 0) continue;
      const int64_t num_rows = field.rows == StoredRows::kObservations ? rows : num_steps_;
      LZ_ASSIGN_OR_RETURN(fields_[i], ReplayBytes(arrays_, field.name, field.type,
                                                  field.ArrayShape(segment_shape_, num_rows)));
    }
    return Read("replay.weights", {num_steps_}, &weights_);
  }

  absl::Status CheckValues() const {
    const auto check = [this]<typename T>(Stored field, T low, T high) {
      return CheckReplayRange<T>(FieldOf(field).name, Values<T>(field), low, high);
    };
    LZ_RETURN_IF_ERROR(check(Stored::kAction, 0, shape_.num_actions - 1));
    LZ_RETURN_IF_ERROR(check(Stored::kChanceOutcome, -1, shape_.num_chance_outcomes - 1));
    LZ_RETURN_IF_ERROR(check(Stored::kActionValues, -1.0f, 1.0f));
    LZ_RETURN_IF_ERROR(check(Stored::kSampledActions, -1.0f, 1.0f));
    for (const uint8_t legal : Values<uint8_t>(Stored::kLegalActions)) {
      if (legal <= 1) continue;
      return InvalidReplay("array 'replay.legal_action_masks' holds ", static_cast<int>(legal),
                           ", allowed are 0 and 1");
    }
    // Every transition was appended once.
    const absl::Span<const int64_t> sequences = Values<int64_t>(Stored::kSequence);
    std::vector<int64_t> sorted(sequences.begin(), sequences.end());
    std::sort(sorted.begin(), sorted.end());
    const int64_t num_appended = store_->counters().num_appended;
    if (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= num_appended)) {
      return InvalidReplay("array 'replay.sequences' holds ", sorted.front(), " to ", sorted.back(),
                           ", allowed are 0 to ", num_appended - 1);
    }
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      return InvalidReplay("array 'replay.sequences' holds ", *twice, " twice");
    return absl::OkStatus();
  }

  absl::Status RestoreLeaves() {
    std::vector<uint32_t> generations;
    std::vector<int32_t> free_leaves;
    LZ_RETURN_IF_ERROR(Read("replay.generations", {-1}, &generations));
    const int64_t num_used = static_cast<int64_t>(generations.size());
    if (num_used < num_steps_ || num_used > store_->index().num_leaves()) {
      return InvalidReplay("array 'replay.generations' holds ", num_used, " leaves, allowed are ",
                           num_steps_, " to ", store_->index().num_leaves());
    }
    LZ_RETURN_IF_ERROR(Read("replay.free_leaves", {num_used - num_steps_}, &free_leaves));
    std::vector<bool> taken(num_used, false);
    for (const absl::Span<const int32_t> leaves :
         {Values<int32_t>(Stored::kLeaf), absl::MakeConstSpan(free_leaves)}) {
      for (const int32_t leaf : leaves) {
        if (leaf < 0 || leaf >= num_used || taken[leaf]) {
          return InvalidReplay("leaf ", leaf,
                               " in 'replay.leaves' or 'replay.free_leaves' is given twice ",
                               "or outside 0 to ", num_used - 1);
        }
        taken[leaf] = true;
      }
    }
    store_->index().RestoreLeaves(generations, free_leaves);
    return absl::OkStatus();
  }

  absl::Status RestoreSegment(const SegmentRow& row) {
    // Make an empty segment.
    const int num_steps = static_cast<int>(row.num_steps);
    const int max_steps = row.is_open ? static_cast<int>(config_.segment_length) : num_steps;
    if (!row.is_open && !store_->FitsFinished(num_steps, row.first_step)) {
      return InvalidReplay(
          "its ", num_steps_,
          " transitions need more than replay.max_mebibytes = ", config_.max_mebibytes);
    }
    std::unique_ptr<GameSegment> segment =
        store_->MakeSegment(max_steps, EnvId(row.env), row.episode, row.first_step);
    // Fill it with what is next in the arrays.
    const auto take = [](absl::string_view* rest, int64_t bytes) {
      const absl::string_view taken = rest->substr(0, static_cast<size_t>(bytes));
      rest->remove_prefix(taken.size());
      return taken;
    };
    const int64_t num_blocks = ObservationStore::NumBlocks(format_, num_steps + 1);
    const absl::string_view blocks = take(&observations_, num_blocks * format_.block_bytes());
    std::array<absl::string_view, kNumStored> fields;
    for (int i = 0; i < kNumStored; ++i) {
      const StoredField& field = kStoredFields[i];
      fields[i] = take(&fields_[i], field.NumRows(num_steps) * field.RowBytes(segment_shape_));
    }
    segment->Restore(num_steps, blocks, fields);
    // Link it and hand it to the store.
    segment->set_end(static_cast<SegmentEnd>(row.end));
    LZ_RETURN_IF_ERROR(LinkSegment(segment.get()));
    segments_.push_back(segment.get());
    store_->Restore(std::move(segment), row.is_open == 1);
    return absl::OkStatus();
  }

  absl::Status LinkSegment(GameSegment* segment) {
    GameSegment*& tail = tails_[segment->episode()];
    if (tail == nullptr) {
      LZ_RETURN_IF_ERROR(contexts_.Restore(segment));
    } else {
      if (tail->end() != SegmentEnd::kRunsOn || tail->env() != segment->env() ||
          tail->first_step() + tail->num_steps() != segment->first_step()) {
        return InvalidReplay("the segments of episode ", segment->episode(),
                             " do not follow each other");
      }
      if (!segment->BeginsWhereEnds(*tail)) {
        return InvalidReplay("two segments of episode ", segment->episode(),
                             " disagree about the observation between them");
      }
      segment->SetContextFrom(*tail);
      GameSegment::Link(tail, segment);
    }
    tail = segment;
    return absl::OkStatus();
  }

  absl::Status RestorePlaces() {
    for (const auto& [episode, tail] : tails_) {
      const bool is_open = store_->open()[tail->env().value].get() == tail;
      if (tail->end() == SegmentEnd::kRunsOn && !is_open) {
        return InvalidReplay("episode ", episode, " runs on, but its next segment is missing");
      }
    }
    auto next_weight = weights_.begin();
    for (GameSegment* segment : segments_)
      LZ_RETURN_IF_ERROR(RestoreWeights(*segment, next_weight));
    return absl::OkStatus();
  }

  absl::Status RestoreWeights(GameSegment& segment, std::vector<double>::iterator& next_weight) {
    const GameSegment& tail = *tails_[segment.episode()];
    const int64_t length = tail.first_step() + tail.num_steps();
    const absl::Span<const int32_t> leaves = segment.leaves();
    for (int i = 0; i < segment.num_steps(); ++i) {
      const double weight = *next_weight++;
      const bool eligible = store_->IsEligible(segment.first_step() + i, length, tail.end());
      const bool allowed = !eligible             ? weight == 0.0
                           : config_.prioritized ? std::isfinite(weight) && weight > 0.0
                                                 : weight == 1.0;
      if (!allowed) {
        return InvalidReplay("array 'replay.weights' holds ", weight, " for step ",
                             segment.first_step() + i, " of episode ", segment.episode(),
                             ", which can", eligible ? "" : "not", " be sampled");
      }
      store_->index().RestorePlace(leaves[i], {&segment, i}, weight);
    }
    return absl::OkStatus();
  }

  const ReplayConfig& config_;
  const ReplayShape& shape_;
  const absl::Span<const NamedArray> arrays_;
  const SegmentShape segment_shape_;
  const ObservationFormat format_;
  std::unique_ptr<ReplayStore> store_;
  ContextReader contexts_;
  std::vector<SegmentRow> rows_;
  int64_t num_steps_ = 0;  // T
  // What segments have not taken yet.
  absl::string_view observations_;
  std::array<absl::string_view, kNumStored> fields_ = {};  // empty: not stored
  std::vector<double> weights_;
  // While segments are restored: the last one of every episode, and all.
  std::unordered_map<int64_t, GameSegment*> tails_;
  std::vector<GameSegment*> segments_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ReplayStore>> ImportReplay(const ReplayConfig& config,
                                                          const ReplayShape& shape,
                                                          absl::Span<const NamedArray> arrays) {
  return Importer(config, shape, arrays).Run();
}

}  // namespace lzero
