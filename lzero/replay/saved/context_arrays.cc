#include "lzero/replay/saved/context_arrays.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/replay/saved/replay_arrays.h"

namespace lzero {

void ExportContexts(const SegmentShape& shape, const StoredSegments& segments,
                    std::vector<NamedArray>* arrays) {
  if (shape.num_context_steps == 0) return;
  const ObservationFormat format = shape.format();
  StoredSegments firsts;  // those without a predecessor
  for (const GameSegment* segment : segments) {
    if (segment->previous() == nullptr) firsts.push_back(segment);
  }
  arrays->push_back(MakeNamedArray<int64_t>("replay.context_steps", {shape.num_context_steps}));
  arrays->push_back(InParts("replay.context_observations", BlockArrayType(format),
                            {0, format.block_size()}, firsts, [](const GameSegment& segment) {
                              const int count = segment.num_context_steps();
                              return segment.Blocks(-count, count);
                            }));
  const auto add = [&](const char* name, Stored stored) {
    const StoredField& field = FieldOf(stored);
    if (field.NumColumns(shape) == 0) return;
    arrays->push_back(InParts(name, field.type, field.ArrayShape(shape, 0), firsts,
                              [stored](const GameSegment& segment) {
                                const int count = segment.num_context_steps();
                                return segment.Bytes(stored, -count, count);
                              }));
  };
  add("replay.context_actions", Stored::kAction);
  add("replay.context_action_values", Stored::kActionValues);
}

absl::Status ContextReader::Open(absl::Span<const NamedArray> arrays) {
  // A state without context has none of the arrays.
  bool has_any = false;
  for (const char* name :
       {"replay.context_steps", "replay.context_observations", "replay.context_actions"}) {
    has_any = has_any || FindArray(arrays, name) != nullptr;
  }
  if (!has_any) return absl::OkStatus();
  // Read and check them.
  std::vector<int64_t> num_saved_steps;
  LZ_RETURN_IF_ERROR(ReadReplayArray(arrays, "replay.context_steps", {1}, &num_saved_steps));
  if (num_saved_steps[0] <= 0) {
    return InvalidReplay("array 'replay.context_steps' holds ", num_saved_steps[0],
                         ", allowed are > 0");
  }
  num_saved_steps_ = num_saved_steps[0];
  LZ_RETURN_IF_ERROR(ReadReplayArray(arrays, "replay.context_actions", {-1}, &actions_));
  LZ_RETURN_IF_ERROR(
      CheckReplayRange<int32_t>("replay.context_actions", actions_, 0, shape_.num_actions - 1));
  const ObservationFormat format = shape_.format();
  const int64_t num_rows = static_cast<int64_t>(actions_.size());
  LZ_ASSIGN_OR_RETURN(observations_,
                      ReplayBytes(arrays, "replay.context_observations", BlockArrayType(format),
                                  {num_rows, format.block_size()}));
  if (shape_.action_dim == 0) return absl::OkStatus();
  LZ_RETURN_IF_ERROR(ReadReplayArray(arrays, "replay.context_action_values",
                                     {num_rows, shape_.action_dim}, &action_values_));
  return CheckReplayRange<float>("replay.context_action_values", action_values_, -1.0f, 1.0f);
}

absl::Status ContextReader::Restore(GameSegment* segment) {
  // Check that the file holds what the segment needs.
  const int64_t num_wanted = segment->num_context_steps();
  const int64_t num_saved = std::min(num_saved_steps_, segment->first_step());
  if (num_wanted > num_saved) {
    return InvalidReplay("segments need ", shape_.num_context_steps,
                         " context steps here (replay.num_context_steps, or half of "
                         "model.num_layers * (model.context_length - 1)), but the state was saved "
                         "with ",
                         num_saved_steps_, ": episode ", segment->episode(),
                         " is stored from step ", segment->first_step(),
                         " on, the steps before are gone");
  }
  if (num_saved > static_cast<int64_t>(actions_.size() - next_)) {
    return InvalidReplay("array 'replay.context_actions' holds ", actions_.size(),
                         " steps, fewer than its segments need");
  }
  // Take the newest of its steps.
  const size_t first = next_ + static_cast<size_t>(num_saved - num_wanted);
  const size_t count = static_cast<size_t>(num_wanted);
  if (count > 0) {
    const size_t block_bytes = static_cast<size_t>(shape_.format().block_bytes());
    segment->SetContext(observations_.substr(first * block_bytes, count * block_bytes),
                        absl::MakeConstSpan(actions_).subspan(first, count),
                        absl::MakeConstSpan(action_values_)
                            .subspan(first * shape_.action_dim, count * shape_.action_dim));
  }
  next_ += static_cast<size_t>(num_saved);
  return absl::OkStatus();
}

absl::Status ContextReader::Close() const {
  if (next_ == actions_.size()) return absl::OkStatus();
  return InvalidReplay("array 'replay.context_actions' holds ", actions_.size(),
                       " steps, its segments need ", next_);
}

}  // namespace lzero
