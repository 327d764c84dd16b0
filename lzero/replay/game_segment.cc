#include "lzero/replay/game_segment.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// Two heap blocks and the segment itself, 16 bytes of the heap's own for each, and the pointer that
// its owner keeps (a deque's node share included).
constexpr int64_t kHeapBytes = 3 * 16 + 16;

template <typename T>
absl::string_view AsBytes(absl::Span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

GameSegment::Layout GameSegment::LayoutFor(const SegmentShape& shape, int64_t max_steps,
                                           int64_t first_step) {
  const int64_t context = NumContextSteps(shape, first_step);
  Layout layout = {};
  int64_t size = 0;
  for (int i = 0; i < kNumStored; ++i) {
    const StoredField& field = kStoredFields[i];
    const int64_t before = field.rows == StoredRows::kContextAndSteps ? context : 0;
    const int64_t row_bytes = field.RowBytes(shape);
    layout[i] = size + before * row_bytes;
    size += (before + field.NumRows(max_steps)) * row_bytes;
  }
  return layout;
}

void GameSegment::SetBytes(Stored field, int64_t first, absl::string_view bytes) {
  if (bytes.empty()) return;  // and may be null
  std::memcpy(block_.get() + RowOffset(field, first), bytes.data(), bytes.size());
}

template <typename T>
void GameSegment::SetRow(Stored field, int64_t row, absl::Span<const T> values) {
  LZ_CHECK(static_cast<int64_t>(values.size()) == FieldOf(field).NumColumns(shape_),
           FieldOf(field).name, ": ", values.size(), " numbers, expected ",
           FieldOf(field).NumColumns(shape_));
  SetBytes(field, row, AsBytes(values));
}

GameSegment::GameSegment(const SegmentShape& shape, int max_steps, EnvId env, int64_t episode,
                         int64_t first_step)
    : shape_(shape),
      max_steps_(max_steps),
      env_(env),
      episode_(episode),
      first_step_(first_step),
      layout_(LayoutFor(shape, max_steps, first_step)),
      block_(std::make_unique_for_overwrite<char[]>(
          static_cast<size_t>(BlockSize(layout_, max_steps)))),
      observations_(shape.format(), num_context_steps() + max_steps + 1) {}

int64_t GameSegment::BytesFor(const SegmentShape& shape, int64_t max_steps, int64_t first_step) {
  const int64_t block = BlockSize(LayoutFor(shape, max_steps, first_step), max_steps);
  const int64_t num_rows = NumContextSteps(shape, first_step) + max_steps + 1;
  return static_cast<int64_t>(sizeof(GameSegment)) + block +
         ObservationStore::BytesFor(shape.format(), num_rows) + kHeapBytes;
}

void GameSegment::Link(GameSegment* earlier, GameSegment* later) {
  if (earlier != nullptr) earlier->next_ = later;
  if (later != nullptr) later->previous_ = earlier;
}

void GameSegment::CheckSizes(absl::Span<const float> observation,
                             absl::Span<const uint8_t> legal_action_mask, int to_play) const {
  LZ_CHECK(observation.size() == static_cast<size_t>(shape_.observation_size), "observation of ",
           observation.size(), " numbers, expected ", shape_.observation_size);
  LZ_CHECK(legal_action_mask.size() == static_cast<size_t>(shape_.num_masked()),
           "legal action mask of ", legal_action_mask.size(), ", expected ", shape_.num_masked());
  LZ_CHECK(to_play >= 0 && to_play <= 255, "to_play ", to_play);
}

void GameSegment::SetMaskRow(int row, absl::Span<const uint8_t> legal_action_mask, int to_play) {
  SetRow(Stored::kLegalActions, row, legal_action_mask);
  auto* const legal =
      reinterpret_cast<uint8_t*>(block_.get() + RowOffset(Stored::kLegalActions, row));
  for (size_t i = 0; i < legal_action_mask.size(); ++i) legal[i] = legal_action_mask[i] != 0;
  SetRow(Stored::kToPlay, row, static_cast<uint8_t>(to_play));
}

absl::Status GameSegment::SetFirstObservation(absl::Span<const float> observation,
                                              absl::Span<const uint8_t> legal_action_mask,
                                              int to_play) {
  CheckSizes(observation, legal_action_mask, to_play);
  LZ_RETURN_IF_ERROR(observations_.SetFirst(num_context_steps(), observation.data()));
  SetMaskRow(0, legal_action_mask, to_play);
  return absl::OkStatus();
}

void GameSegment::SetFirstObservationFrom(const GameSegment& earlier) {
  const int row = earlier.num_steps_;
  observations_.SetBlocks(num_context_steps(),
                          earlier.observations_.Row(earlier.num_context_steps() + row));
  for (const Stored field : {Stored::kLegalActions, Stored::kToPlay}) {
    SetBytes(field, 0, earlier.Bytes(field, row, 1));
  }
}

void GameSegment::SetContext(absl::string_view blocks, absl::Span<const int32_t> actions,
                             absl::Span<const float> action_values) {
  const int64_t num_context = num_context_steps();
  LZ_CHECK(actions.size() == static_cast<size_t>(num_context), actions.size(),
           " context steps, expected ", num_context);
  LZ_CHECK(static_cast<int64_t>(blocks.size()) == num_context * shape_.format().block_bytes(),
           blocks.size(), " bytes");
  LZ_CHECK(action_values.size() == actions.size() * static_cast<size_t>(shape_.action_dim),
           action_values.size(), " action values");
  observations_.SetBlocks(0, blocks);
  SetBytes(Stored::kAction, -num_context, AsBytes(actions));
  SetBytes(Stored::kActionValues, -num_context, AsBytes(action_values));
}

void GameSegment::SetContextFrom(const GameSegment& earlier) {
  LZ_CHECK(earlier.first_step_ + earlier.num_steps_ == first_step_, "step ", first_step_,
           " does not follow ", earlier.num_steps_, " steps from ", earlier.first_step_);
  const int num_context = num_context_steps();
  const int first = earlier.num_steps_ - num_context;
  observations_.SetBlocks(0, earlier.Blocks(first, num_context));
  for (const Stored field : {Stored::kAction, Stored::kActionValues}) {
    SetBytes(field, -num_context, earlier.Bytes(field, first, num_context));
  }
}

bool GameSegment::BeginsWhereEnds(const GameSegment& earlier) const {
  const int row = earlier.num_steps_;
  const auto same = [&](Stored field) {
    return Bytes(field, 0, 1) == earlier.Bytes(field, row, 1);
  };
  return observations_.Row(num_context_steps()) ==
             earlier.observations_.Row(earlier.num_context_steps() + row) &&
         same(Stored::kLegalActions) && same(Stored::kToPlay);
}

absl::Status GameSegment::Append(const Transition& step, int32_t leaf, int64_t sequence) {
  const int row = num_steps_;
  LZ_CHECK(row < max_steps_, "segment of ", max_steps_, " steps is full");
  LZ_CHECK(step.action >= 0 && step.action < shape_.num_actions, "action ", step.action, " of ",
           shape_.num_actions);
  CheckSizes(step.observation, step.legal_action_mask, step.to_play);
  LZ_RETURN_IF_ERROR(observations_.SetNext(num_context_steps() + row + 1, step.observation.data()));
  SetMaskRow(row + 1, step.legal_action_mask, step.to_play);
  SetRow(Stored::kSequence, row, sequence);
  SetRow(Stored::kLeaf, row, leaf);
  SetRow(Stored::kAction, row, step.action);
  if (shape_.num_chance_outcomes > 0) {
    LZ_CHECK(step.chance_outcome >= -1 && step.chance_outcome < shape_.num_chance_outcomes,
             "chance outcome ", step.chance_outcome, " of ", shape_.num_chance_outcomes);
    SetRow(Stored::kChanceOutcome, row, step.chance_outcome);
  }
  SetRow(Stored::kActionValues, row, step.action_values);
  SetRow(Stored::kReward, row, step.reward);
  SetRow(Stored::kRootValue, row, step.root_value);
  if (shape_.has_network_values) SetRow(Stored::kNetworkValue, row, step.network_value);
  SetRow(Stored::kPolicy, row, step.policy);
  SetRow(Stored::kSampledActions, row, step.sampled_actions);
  ++num_steps_;
  return absl::OkStatus();
}

void GameSegment::ReplaceSearch(int step, absl::Span<const float> policy,
                                absl::Span<const float> sampled_actions, float root_value) {
  LZ_CHECK(step >= 0 && step < num_steps_, "step ", step, " of ", num_steps_);
  SetRow(Stored::kPolicy, step, policy);
  SetRow(Stored::kSampledActions, step, sampled_actions);
  SetRow(Stored::kRootValue, step, root_value);
}

void GameSegment::SetSearchTime(int step, int64_t time) {
  if (shape_.has_search_times) SetRow(Stored::kSearchTime, step, time);
}

void GameSegment::Restore(int num_steps, absl::string_view blocks,
                          const std::array<absl::string_view, kNumStored>& fields) {
  LZ_CHECK(num_steps <= max_steps_, num_steps, " steps in a segment of ", max_steps_);
  num_steps_ = num_steps;
  observations_.SetBlocks(num_context_steps(), blocks);
  for (int i = 0; i < kNumStored; ++i) SetBytes(static_cast<Stored>(i), 0, fields[i]);
}

void GameSegment::ShrinkToFit() {
  if (num_steps_ == max_steps_) return;
  GameSegment fitting(shape_, num_steps_, env_, episode_, first_step_);
  for (int i = 0; i < kNumStored; ++i) {
    const auto field = static_cast<Stored>(i);
    const bool has_context = FieldOf(field).rows == StoredRows::kContextAndSteps;
    const int64_t before = has_context ? num_context_steps() : 0;
    fitting.SetBytes(field, -before,
                     Bytes(field, -before, before + FieldOf(field).NumRows(num_steps_)));
  }
  block_ = std::move(fitting.block_);
  layout_ = fitting.layout_;
  max_steps_ = num_steps_;
  observations_.ShrinkTo(num_context_steps() + num_steps_ + 1);
}

}  // namespace lzero
