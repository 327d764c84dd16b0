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

}  // namespace

GameSegment::Layout GameSegment::LayoutFor(const SegmentShape& shape, int64_t max_steps,
                                           int64_t first_step) {
  const size_t steps = static_cast<size_t>(max_steps);
  const size_t context = static_cast<size_t>(NumContextSteps(shape, first_step));
  const size_t actions = static_cast<size_t>(shape.num_actions);
  const size_t dim = static_cast<size_t>(shape.action_dim);
  // From the largest element to the smallest, so that every field is aligned.
  Layout layout = {};
  size_t size = 0;
  layout.sequences = std::exchange(size, size + steps * sizeof(int64_t));
  layout.leaves = std::exchange(size, size + steps * sizeof(int32_t));
  layout.actions = std::exchange(size, size + (context + steps) * sizeof(int32_t));
  const size_t chances = shape.num_chance_outcomes > 0 ? steps : 0;
  layout.chance_outcomes = std::exchange(size, size + chances * sizeof(int32_t));
  layout.action_values = std::exchange(size, size + (context + steps) * dim * sizeof(float));
  layout.rewards = std::exchange(size, size + steps * sizeof(float));
  layout.root_values = std::exchange(size, size + steps * sizeof(float));
  layout.policies = std::exchange(size, size + steps * actions * sizeof(float));
  layout.sampled_actions = std::exchange(size, size + steps * actions * dim * sizeof(float));
  layout.legal_action_masks = std::exchange(size, size + (steps + 1) * shape.num_masked());
  layout.to_play = size;
  return layout;
}

size_t GameSegment::BlockSize(const Layout& layout, int64_t max_steps) {
  return layout.to_play + static_cast<size_t>(max_steps) + 1;
}

GameSegment::GameSegment(const SegmentShape& shape, int max_steps, EnvId env, int64_t episode,
                         int64_t first_step)
    : shape_(shape),
      max_steps_(max_steps),
      env_(env),
      episode_(episode),
      first_step_(first_step),
      layout_(LayoutFor(shape, max_steps, first_step)),
      block_(std::make_unique_for_overwrite<std::byte[]>(BlockSize(layout_, max_steps))),
      observations_(shape.format(), num_context_steps() + max_steps + 1) {}

int64_t GameSegment::BytesFor(const SegmentShape& shape, int64_t max_steps, int64_t first_step) {
  const size_t block = BlockSize(LayoutFor(shape, max_steps, first_step), max_steps);
  const int64_t num_rows = NumContextSteps(shape, first_step) + max_steps + 1;
  return static_cast<int64_t>(sizeof(GameSegment) + block) +
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
  const size_t num_masked = static_cast<size_t>(shape_.num_masked());
  uint8_t* legal = MutableField<uint8_t>(layout_.legal_action_masks) + row * num_masked;
  for (size_t i = 0; i < num_masked; ++i) legal[i] = legal_action_mask[i] != 0;
  MutableField<uint8_t>(layout_.to_play)[row] = static_cast<uint8_t>(to_play);
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
  observations_.CopyFirstFrom(earlier.observations_, earlier.num_context_steps() + row,
                              num_context_steps());
  const size_t num_masked = static_cast<size_t>(shape_.num_masked());
  std::memcpy(MutableField<uint8_t>(layout_.legal_action_masks),
              earlier.legal_action_masks().data() + row * num_masked, num_masked);
  MutableField<uint8_t>(layout_.to_play)[0] = earlier.to_play()[row];
}

void GameSegment::SetContext(absl::Span<const char> blocks, absl::Span<const int32_t> actions,
                             absl::Span<const float> action_values) {
  const int64_t num_context = num_context_steps();
  LZ_CHECK(actions.size() == static_cast<size_t>(num_context), actions.size(),
           " context steps, expected ", num_context);
  LZ_CHECK(static_cast<int64_t>(blocks.size()) == num_context * shape_.format().block_bytes(),
           blocks.size(), " bytes");
  LZ_CHECK(action_values.size() == actions.size() * static_cast<size_t>(shape_.action_dim),
           action_values.size(), " action values");
  observations_.SetBlocks(0, blocks);
  std::copy(actions.begin(), actions.end(), MutableField<int32_t>(layout_.actions));
  std::copy(action_values.begin(), action_values.end(), MutableField<float>(layout_.action_values));
}

void GameSegment::SetContextFrom(const GameSegment& earlier) {
  LZ_CHECK(earlier.first_step_ + earlier.num_steps_ == first_step_, "step ", first_step_,
           " does not follow ", earlier.num_steps_, " steps from ", earlier.first_step_);
  const int num_context = num_context_steps();
  const int first = earlier.num_steps_ - num_context;
  observations_.CopyBeforeFrom(earlier.observations_, earlier.num_context_steps() + first,
                               num_context);
  earlier.CopyActions(first, num_context, MutableField<int32_t>(layout_.actions));
  earlier.CopyActionValues(first, num_context, MutableField<float>(layout_.action_values));
}

bool GameSegment::BeginsWhereEnds(const GameSegment& earlier) const {
  const int row = earlier.num_steps_;
  const size_t num_masked = static_cast<size_t>(shape_.num_masked());
  return observations_.RowEquals(num_context_steps(), earlier.observations_,
                                 earlier.num_context_steps() + row) &&
         std::memcmp(legal_action_masks().data(),
                     earlier.legal_action_masks().data() + row * num_masked, num_masked) == 0 &&
         to_play()[0] == earlier.to_play()[row];
}

absl::Status GameSegment::Append(const StepRecord& step, int32_t leaf, int64_t sequence) {
  const int row = num_steps_;
  const size_t num_actions = static_cast<size_t>(shape_.num_actions);
  LZ_CHECK(row < max_steps_, "segment of ", max_steps_, " steps is full");
  LZ_CHECK(step.policy.size() == num_actions, "policy of ", step.policy.size(),
           " numbers, expected ", num_actions);
  LZ_CHECK(step.action >= 0 && step.action < shape_.num_actions, "action ", step.action, " of ",
           num_actions);
  const size_t dim = static_cast<size_t>(shape_.action_dim);
  LZ_CHECK(step.action_values.size() == dim && step.sampled_actions.size() == num_actions * dim,
           step.action_values.size(), " action values, ", step.sampled_actions.size(),
           " of sampled actions, expected ", dim, " and ", num_actions * dim);
  CheckSizes(step.observation, step.legal_action_mask, step.to_play);
  LZ_RETURN_IF_ERROR(observations_.SetNext(num_context_steps() + row + 1, step.observation.data()));
  SetMaskRow(row + 1, step.legal_action_mask, step.to_play);
  MutableField<int64_t>(layout_.sequences)[row] = sequence;
  MutableField<int32_t>(layout_.leaves)[row] = leaf;
  MutableField<int32_t>(layout_.actions)[num_context_steps() + row] = step.action;
  if (shape_.num_chance_outcomes > 0) {
    LZ_CHECK(step.chance_outcome >= -1 && step.chance_outcome < shape_.num_chance_outcomes,
             "chance outcome ", step.chance_outcome, " of ", shape_.num_chance_outcomes);
    MutableField<int32_t>(layout_.chance_outcomes)[row] = step.chance_outcome;
  }
  MutableField<float>(layout_.rewards)[row] = step.reward;
  MutableField<float>(layout_.root_values)[row] = step.root_value;
  std::memcpy(MutableField<float>(layout_.policies) + row * num_actions, step.policy.data(),
              num_actions * sizeof(float));
  std::copy_n(step.action_values.data(), dim,
              MutableField<float>(layout_.action_values) + (num_context_steps() + row) * dim);
  std::copy_n(step.sampled_actions.data(), num_actions * dim,
              MutableField<float>(layout_.sampled_actions) + row * num_actions * dim);
  ++num_steps_;
  return absl::OkStatus();
}

void GameSegment::ReplaceSearch(int step, absl::Span<const float> policy,
                                absl::Span<const float> sampled_actions, float root_value) {
  LZ_CHECK(step >= 0 && step < num_steps_, "step ", step, " of ", num_steps_);
  const size_t num_sampled = static_cast<size_t>(shape_.num_actions * shape_.action_dim);
  LZ_CHECK(policy.size() == static_cast<size_t>(shape_.num_actions), "policy of ", policy.size(),
           " numbers, expected ", shape_.num_actions);
  LZ_CHECK(sampled_actions.size() == num_sampled, sampled_actions.size(),
           " numbers of sampled actions, expected ", num_sampled);
  const size_t row = static_cast<size_t>(step);
  std::copy(policy.begin(), policy.end(),
            MutableField<float>(layout_.policies) + row * policy.size());
  std::copy(sampled_actions.begin(), sampled_actions.end(),
            MutableField<float>(layout_.sampled_actions) + row * num_sampled);
  MutableField<float>(layout_.root_values)[row] = root_value;
}

void GameSegment::ShrinkToFit() {
  if (num_steps_ == max_steps_) return;
  const Layout layout = LayoutFor(shape_, num_steps_, first_step_);
  auto block = std::make_unique_for_overwrite<std::byte[]>(BlockSize(layout, num_steps_));
  const size_t steps = static_cast<size_t>(num_steps_);
  const size_t context = static_cast<size_t>(num_context_steps());
  const size_t num_actions = static_cast<size_t>(shape_.num_actions);
  const auto copy = [&](size_t Layout::*field, size_t size) {
    std::memcpy(block.get() + layout.*field, block_.get() + layout_.*field, size);
  };
  copy(&Layout::sequences, steps * sizeof(int64_t));
  copy(&Layout::leaves, steps * sizeof(int32_t));
  copy(&Layout::actions, (context + steps) * sizeof(int32_t));
  const size_t dim = static_cast<size_t>(shape_.action_dim);
  copy(&Layout::action_values, (context + steps) * dim * sizeof(float));
  copy(&Layout::sampled_actions, steps * num_actions * dim * sizeof(float));
  if (shape_.num_chance_outcomes > 0) copy(&Layout::chance_outcomes, steps * sizeof(int32_t));
  copy(&Layout::rewards, steps * sizeof(float));
  copy(&Layout::root_values, steps * sizeof(float));
  copy(&Layout::policies, steps * num_actions * sizeof(float));
  copy(&Layout::legal_action_masks, (steps + 1) * shape_.num_masked());
  copy(&Layout::to_play, steps + 1);
  block_ = std::move(block);
  layout_ = layout;
  max_steps_ = num_steps_;
  observations_.ShrinkTo(num_context_steps() + num_steps_ + 1);
}

}  // namespace lzero
