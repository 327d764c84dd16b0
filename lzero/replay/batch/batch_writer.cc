#include "lzero/replay/batch/batch_writer.h"

#include <algorithm>
#include <cstring>

#include "lzero/base/check.h"

namespace lzero {
namespace {

// Calls visit(segment, step, count, offset) for the pieces, in order, of the `num_steps` steps (or
// as many as there are) from `step` of `segment` on, below 0 for its context. `offset` counts the
// steps before the piece. Returns the segment the last piece lies in.
template <typename Visit>
const GameSegment* ForEachPiece(const GameSegment* segment, int step, int num_steps, Visit visit) {
  int offset = 0;
  while (true) {
    const int count = std::min(num_steps - offset, segment->num_steps() - step);
    if (count > 0) visit(*segment, step, count, offset);
    offset += count;
    if (offset == num_steps || segment->next() == nullptr) return segment;
    segment = segment->next();
    step = 0;
  }
}

template <typename T>
void CopyN(absl::Span<const T> from, size_t begin, size_t count, T* to) {
  std::memcpy(to, from.data() + begin, count * sizeof(T));
}

}  // namespace

BatchWriter::BatchWriter(const ReplayConfig& config, const ReplayShape& shape)
    : num_context_steps_(static_cast<int>(config.num_context_steps)),
      num_unroll_steps_(static_cast<int>(config.num_unroll_steps)),
      num_actions_(shape.num_actions),
      observation_size_(shape.observation_size),
      action_dim_(shape.action_dim),
      num_chance_outcomes_(shape.num_chance_outcomes),
      observation_type_(shape.observation_type),
      window_size_(static_cast<int>(config.num_unroll_steps + config.td_steps)),
      terminal_(shape.terminal),
      rule_(static_cast<int>(config.td_steps), config.discount, config.value_bootstrap),
      rewards_(window_size_),
      root_values_(window_size_),
      to_play_(window_size_ + 1) {}

BatchShape BatchWriter::ShapeFor(int num_samples) const {
  return {num_samples,       num_context_steps_, num_unroll_steps_, num_actions_,
          observation_size_, observation_type_,  action_dim_,       has_chance()};
}

void BatchWriter::Write(const PositionIndex::Place& place, int sample, RandomStream& random,
                        TrainBatch* batch) {
  GatherWindow(place);
  const int num_known = static_cast<int>(window_.rewards.size());
  const int num_real = std::min(num_unroll_steps_, num_known);
  LZ_DCHECK(num_real == num_unroll_steps_ || window_.end == SegmentEnd::kTerminated ||
                window_.end == SegmentEnd::kTruncated,
            "position is not eligible");
  if (observation_type_ == ObservationType::kUint8) {
    WriteSequence(place, num_real, sample, random, batch->observation_bytes.data(), batch);
    WriteValueTargets(place, num_real, sample, batch->bootstrap_observation_bytes.data(), batch);
  } else {
    WriteSequence(place, num_real, sample, random, batch->observations.data(), batch);
    WriteValueTargets(place, num_real, sample, batch->bootstrap_observations.data(), batch);
  }
  WriteTargets(place, num_real, sample, batch);
  if (num_real < num_unroll_steps_) WritePastEnd(num_real, sample, random, batch);
}

void BatchWriter::GatherWindow(const PositionIndex::Place& place) {
  int size = 0;
  int last_step = 0;  // one past the last gathered step, inside its segment
  const GameSegment* last =
      ForEachPiece(place.segment, place.step, window_size_,
                   [&](const GameSegment& segment, int step, int count, int offset) {
                     CopyN(segment.rewards(), step, count, rewards_.data() + offset);
                     CopyN(segment.root_values(), step, count, root_values_.data() + offset);
                     // One more: the player to move after the piece, written again by the next
                     // piece.
                     CopyN(segment.to_play(), step, count + 1, to_play_.data() + offset);
                     size = offset + count;
                     last_step = step + count;
                   });
  const size_t num_steps = static_cast<size_t>(size);
  window_.rewards = {rewards_.data(), num_steps};
  window_.root_values = {root_values_.data(), num_steps};
  window_.to_play = {to_play_.data(), num_steps + 1};
  // A segment that others follow runs on.
  window_.end = last_step == last->num_steps() ? last->end() : SegmentEnd::kRunsOn;
}

template <typename T>
void BatchWriter::WriteSequence(const PositionIndex::Place& place, int num_real, int sample,
                                RandomStream& random, T* observations, TrainBatch* batch) const {
  // A segment's own context reaches back far enough, or to the start of the episode.
  const int num_context =
      std::min(num_context_steps_, place.segment->num_context_steps() + place.step);
  const int num_missing = num_context_steps_ - num_context;
  const int num_present = num_context + num_real;
  const int sequence_size = num_context_steps_ + num_unroll_steps_;
  const size_t row_size = static_cast<size_t>(observation_size_);

  // The steps that exist: context, then unroll steps.
  observations += sample * (sequence_size + 1) * row_size;
  const size_t first_action = static_cast<size_t>(sample) * sequence_size;
  const size_t dim = static_cast<size_t>(action_dim_);
  ForEachPiece(place.segment, place.step - num_context, num_present,
               [&](const GameSegment& piece, int first, int count, int offset) {
                 const int row = num_missing + offset;
                 // One more: the observation after the piece, written again by the next piece.
                 piece.CopyObservations(first, count + 1, observations + row * row_size);
                 const size_t action = first_action + static_cast<size_t>(row);
                 if (dim > 0) {
                   piece.CopyActionValues(first, count, batch->action_values.data() + action * dim);
                 } else {
                   piece.CopyActions(first, count, batch->actions.data() + action);
                 }
               });
  // Before the start of the episode: its first observation again, action 0.
  for (int row = 0; row < num_missing; ++row) {
    std::memcpy(observations + row * row_size, observations + num_missing * row_size,
                row_size * sizeof(T));
  }
  if (dim > 0) {
    std::fill_n(batch->action_values.begin() + first_action * dim, num_missing * dim, 0.0f);
  } else {
    std::fill_n(batch->actions.begin() + first_action, num_missing, 0);
  }
  // Past its end: the last observation again, random actions.
  const int last_row = num_missing + num_present;
  for (int row = last_row; row < sequence_size; ++row) {
    std::memcpy(observations + (row + 1) * row_size, observations + last_row * row_size,
                row_size * sizeof(T));
  }
  WriteRandomActions(sample, last_row, sequence_size, random, batch);
  // The context mask.
  float* mask = batch->context_mask.data() + static_cast<size_t>(sample) * num_context_steps_;
  std::fill(mask, mask + num_missing, 0.0f);
  std::fill(mask + num_missing, mask + num_context_steps_, 1.0f);
}

void BatchWriter::WriteRandomActions(int sample, int first_row, int end_row, RandomStream& random,
                                     TrainBatch* batch) const {
  const size_t first = static_cast<size_t>(sample) * (num_context_steps_ + num_unroll_steps_);
  for (int row = first_row; row < end_row; ++row) {
    if (action_dim_ == 0) {
      batch->actions[first + row] = static_cast<int32_t>(random.UniformInt(num_actions_));
    }
    for (int d = 0; d < action_dim_; ++d) {
      batch->action_values[(first + row) * action_dim_ + d] =
          static_cast<float>(2.0 * random.Uniform() - 1.0);
    }
  }
}

void BatchWriter::WriteTargets(const PositionIndex::Place& place, int num_real, int sample,
                               TrainBatch* batch) {
  const size_t base = static_cast<size_t>(sample) * num_unroll_steps_;
  const size_t num_actions = static_cast<size_t>(num_actions_);
  // Policies, with the sampled actions or legal masks that they are about.
  float* policies = batch->policies.data() + base * num_actions;
  const size_t dim = static_cast<size_t>(action_dim_);
  float* sampled = batch->sampled_actions.data() + base * num_actions * dim;
  ForEachPiece(place.segment, place.step, num_real,
               [&](const GameSegment& piece, int first, int count, int offset) {
                 const size_t begin = first * num_actions;
                 const size_t size = count * num_actions;
                 CopyN(piece.policies(), begin, size, policies + offset * num_actions);
                 if (dim > 0) {
                   CopyN(piece.sampled_actions(), begin * dim, size * dim,
                         sampled + offset * num_actions * dim);
                 } else {
                   CopyN(piece.legal_action_masks(), begin, size,
                         batch->legal_action_masks.data() + (base + offset) * num_actions);
                 }
               });
  // Chance outcomes.
  if (has_chance()) {
    int32_t* outcomes = batch->chance_outcomes.data() + base;
    ForEachPiece(place.segment, place.step, num_real,
                 [&](const GameSegment& piece, int first, int count, int offset) {
                   CopyN(piece.chance_outcomes(), first, count, outcomes + offset);
                 });
  }
  // Rewards and masks.
  std::copy_n(window_.rewards.begin(), num_real, batch->rewards.begin() + base);
  for (std::vector<float>* mask :
       {&batch->reward_mask, &batch->latent_mask, &batch->policy_mask, &batch->value_mask}) {
    std::fill_n(mask->begin() + base, num_real, 1.0f);
  }
}

template <typename T>
void BatchWriter::WriteValueTargets(const PositionIndex::Place& place, int num_real, int sample,
                                    T* bootstraps, TrainBatch* batch) const {
  const size_t row_size = static_cast<size_t>(observation_size_);
  // Observation `row` of `segment` is observation `begin + row` of the window.
  const GameSegment* segment = place.segment;
  int begin = -place.step;
  for (int k = 0; k < num_real; ++k) {
    const size_t slot = static_cast<size_t>(sample) * num_unroll_steps_ + k;
    const ValueTarget target = rule_.Compute(window_, k);
    batch->partial_returns[slot] = target.partial_return;
    batch->bootstrap_scales[slot] = target.bootstrap_scale;
    T* observation = bootstraps + slot * row_size;
    if (target.bootstrap_scale == 0.0f) {
      std::fill_n(observation, row_size, T{0});
      continue;
    }
    // Bootstrap steps never go back from one unroll step to the next.
    while (target.bootstrap_step - begin > segment->num_steps()) {
      begin += segment->num_steps();
      segment = segment->next();
    }
    segment->CopyObservations(target.bootstrap_step - begin, 1, observation);
  }
  // Past the end there is nothing to bootstrap from.
  std::fill_n(bootstraps + (static_cast<size_t>(sample) * num_unroll_steps_ + num_real) * row_size,
              (num_unroll_steps_ - num_real) * row_size, T{0});
}

void BatchWriter::WritePastEnd(int num_real, int sample, RandomStream& random,
                               TrainBatch* batch) const {
  const bool absorbing =
      window_.end == SegmentEnd::kTerminated && terminal_ == TerminalMode::kAbsorb;
  const size_t begin = static_cast<size_t>(sample) * num_unroll_steps_ + num_real;
  const size_t count = static_cast<size_t>(num_unroll_steps_ - num_real);
  const size_t num_actions = static_cast<size_t>(num_actions_);
  // Masks and targets of numbers.
  for (std::vector<float>* mask : {&batch->reward_mask, &batch->latent_mask, &batch->value_mask}) {
    std::fill_n(mask->begin() + begin, count, absorbing ? 1.0f : 0.0f);
  }
  for (std::vector<float>* zeros :
       {&batch->policy_mask, &batch->rewards, &batch->partial_returns, &batch->bootstrap_scales}) {
    std::fill_n(zeros->begin() + begin, count, 0.0f);
  }
  // Chance outcomes.
  for (size_t slot = begin; has_chance() && slot < begin + count; ++slot) {
    batch->chance_outcomes[slot] = static_cast<int32_t>(random.UniformInt(num_chance_outcomes_));
  }
  // Policies, with the sampled actions or legal masks that they are about.
  std::fill_n(batch->policies.begin() + begin * num_actions, count * num_actions, 0.0f);
  if (action_dim_ == 0) {
    std::fill_n(batch->legal_action_masks.begin() + begin * num_actions, count * num_actions,
                uint8_t{1});
  } else {
    const size_t dim = static_cast<size_t>(action_dim_);
    std::fill_n(batch->sampled_actions.begin() + begin * num_actions * dim,
                count * num_actions * dim, 0.0f);
  }
}

}  // namespace lzero
