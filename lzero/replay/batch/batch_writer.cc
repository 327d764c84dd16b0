#include "lzero/replay/batch/batch_writer.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "lzero/base/check.h"
#include "lzero/replay/segment_rows.h"

namespace lzero {

BatchShape BatchShapeFor(const ReplayConfig& config, const ReplayShape& shape, int num_samples) {
  return {num_samples,
          static_cast<int>(config.num_context_steps),
          static_cast<int>(config.num_unroll_steps),
          shape.num_actions,
          shape.observation_size,
          shape.observation_type,
          shape.action_dim,
          shape.num_chance_outcomes > 0,
          static_cast<int>(config.bootstrap_context_steps)};
}

BatchWriter::BatchWriter(const ReplayConfig& config, const ReplayShape& shape)
    : shape_(BatchShapeFor(config, shape, 0)),
      num_chance_outcomes_(shape.num_chance_outcomes),
      terminal_(shape.terminal),
      rule_(static_cast<int>(config.td_steps), config.discount, config.value_bootstrap),
      window_reader_(static_cast<int>(config.num_unroll_steps + config.td_steps)) {}

void BatchWriter::Write(const PositionIndex::Place& place, int sample, const TargetTerms& terms,
                        RandomStream& random, TrainBatch* batch) {
  window_ = window_reader_.Read(place);
  const int num_known = static_cast<int>(window_.rewards.size());
  const int num_real = std::min(shape_.num_unroll_steps, num_known);
  LZ_DCHECK(num_real == shape_.num_unroll_steps || window_.end == SegmentEnd::kTerminated ||
                window_.end == SegmentEnd::kTruncated,
            "position is not eligible");
  if (shape_.observation_type == ObservationType::kUint8) {
    WriteSequence(place, num_real, sample, random, batch->observation_bytes, batch);
    WriteValueTargets(place, num_real, sample, terms, batch->bootstrap_observation_bytes, batch);
  } else {
    WriteSequence(place, num_real, sample, random, batch->observations, batch);
    WriteValueTargets(place, num_real, sample, terms, batch->bootstrap_observations, batch);
  }
  WriteTargets(place, num_real, sample, batch);
  if (num_real < shape_.num_unroll_steps) WritePastEnd(num_real, sample, random, batch);
}

template <typename T>
void BatchWriter::WriteSequence(const PositionIndex::Place& place, int num_real, int sample,
                                RandomStream& random, std::vector<T>& all_observations,
                                TrainBatch* batch) const {
  // A segment's own context reaches back far enough, or to the start of the episode.
  const int num_context =
      std::min(shape_.num_context_steps, place.segment->num_context_steps() + place.step);
  const int num_missing = shape_.num_context_steps - num_context;
  const int num_present = num_context + num_real;
  const int last_row = num_missing + num_present;
  const int sequence_size = shape_.num_context_steps + shape_.num_unroll_steps;
  // The steps that exist: context, then unroll steps.
  const size_t row_size = static_cast<size_t>(shape_.observation_size);
  T* observations = all_observations.data() + sample * (sequence_size + 1) * row_size;
  ForEachPiece(place.segment, place.step - num_context, num_present,
               [&](const GameSegment& piece, int first, int count, int offset) {
                 // One more: the observation after the piece, written again by the next piece.
                 piece.CopyObservations(first, count + 1,
                                        observations + (num_missing + offset) * row_size);
               });
  // Before the start of the episode its first observation again, past its end the last one.
  const auto repeat = [&](int row, int from) {
    std::copy_n(observations + from * row_size, row_size, observations + row * row_size);
  };
  for (int row = 0; row < num_missing; ++row) repeat(row, num_missing);
  for (int row = last_row; row < sequence_size; ++row) repeat(row + 1, last_row);
  // Actions: 0 before the start, random ones past the end.
  const PositionIndex::Place first = {place.segment, place.step - num_context};
  const size_t first_row = static_cast<size_t>(sample) * sequence_size;
  if (const size_t dim = static_cast<size_t>(shape_.action_dim); dim > 0) {
    float* values = batch->action_values.data();
    std::fill_n(values + first_row * dim, num_missing * dim, 0.0f);
    Gather<Stored::kActionValues>(first, num_present, 0, values, first_row + num_missing);
    std::generate_n(values + (first_row + last_row) * dim, (sequence_size - last_row) * dim,
                    [&] { return static_cast<float>(2.0 * random.Uniform() - 1.0); });
  } else {
    int32_t* actions = batch->actions.data();
    std::fill_n(actions + first_row, num_missing, 0);
    Gather<Stored::kAction>(first, num_present, 0, actions, first_row + num_missing);
    std::generate_n(actions + first_row + last_row, sequence_size - last_row,
                    [&] { return static_cast<int32_t>(random.UniformInt(shape_.num_actions)); });
  }
  // The context mask.
  float* mask = batch->context_mask.data() + static_cast<size_t>(sample) * shape_.num_context_steps;
  std::fill_n(mask, num_missing, 0.0f);
  std::fill_n(mask + num_missing, num_context, 1.0f);
}

void BatchWriter::WriteTargets(const PositionIndex::Place& place, int num_real, int sample,
                               TrainBatch* batch) {
  const size_t row = static_cast<size_t>(sample) * shape_.num_unroll_steps;
  Gather<Stored::kPolicy>(place, num_real, 0, batch->policies.data(), row);
  Gather<Stored::kSampledActions>(place, num_real, 0, batch->sampled_actions.data(), row);
  Gather<Stored::kLegalActions>(place, num_real, 0, batch->legal_action_masks.data(), row);
  Gather<Stored::kChanceOutcome>(place, num_real, 0, batch->chance_outcomes.data(), row);
  std::copy_n(window_.rewards.begin(), num_real, batch->rewards.begin() + row);
  for (std::vector<float>* mask :
       {&batch->reward_mask, &batch->latent_mask, &batch->policy_mask, &batch->value_mask}) {
    std::fill_n(mask->begin() + row, num_real, 1.0f);
  }
  // A cheap search has no policy target.
  const size_t size = batch->policies.size() / batch->policy_mask.size();
  for (size_t k = row; k < row + static_cast<size_t>(num_real); ++k) {
    const auto policy = absl::MakeConstSpan(batch->policies).subspan(k * size, size);
    if (absl::c_all_of(policy, [](float share) { return share == 0.0f; })) {
      batch->policy_mask[k] = 0.0f;
    }
  }
}

template <typename T>
void BatchWriter::WriteValueTargets(const PositionIndex::Place& place, int num_real, int sample,
                                    const TargetTerms& terms, std::vector<T>& bootstraps,
                                    TrainBatch* batch) const {
  if (shape_.num_bootstrap_context_steps > 0) {
    WriteBootstrapSequence(place, num_real, sample, terms, bootstraps, batch);
    return;
  }
  const size_t row_size = static_cast<size_t>(shape_.observation_size);
  T* observations = bootstraps.data() + sample * shape_.num_unroll_steps * row_size;
  // Observation `row` of `segment` is observation `begin + row` of the window.
  const GameSegment* segment = place.segment;
  int begin = -place.step;
  for (int k = 0; k < num_real; ++k) {
    const size_t slot = static_cast<size_t>(sample) * shape_.num_unroll_steps + k;
    const ValueTarget target = rule_.Compute(window_, k, terms);
    batch->partial_returns[slot] = target.partial_return;
    batch->bootstrap_scales[slot] = target.bootstrap_scale;
    T* observation = observations + k * row_size;
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
  std::fill_n(observations + num_real * row_size, (shape_.num_unroll_steps - num_real) * row_size,
              T{0});
}

template <typename T>
void BatchWriter::WriteBootstrapSequence(const PositionIndex::Place& place, int num_real,
                                         int sample, const TargetTerms& terms,
                                         std::vector<T>& bootstraps, TrainBatch* batch) const {
  const int num_context = shape_.num_bootstrap_context_steps;
  const auto fill_row = [&](auto& array) {
    for (auto& element : RowOf(array, sample, batch->num_samples)) element = {};
  };
  fill_row(bootstraps);
  fill_row(batch->bootstrap_actions);
  fill_row(batch->bootstrap_action_values);
  fill_row(batch->bootstrap_rows);
  batch->bootstrap_padding[sample] = 0;
  // The targets; where one has no bootstrap, those after it have none.
  const size_t first_slot = static_cast<size_t>(sample) * shape_.num_unroll_steps;
  int first = 0, last = -1;  // window steps to bootstrap from
  for (int k = 0; k < num_real; ++k) {
    const ValueTarget target = rule_.Compute(window_, k, terms);
    batch->partial_returns[first_slot + k] = target.partial_return;
    batch->bootstrap_scales[first_slot + k] = target.bootstrap_scale;
    if (target.bootstrap_scale == 0.0f) continue;
    if (last < 0) first = target.bootstrap_step;
    last = target.bootstrap_step;
    batch->bootstrap_rows[first_slot + k] = num_context + last - first;
  }
  if (last < 0) return;
  // The steps before the first of them, as many as the episode has.
  const int64_t episode_step = place.segment->first_step() + place.step + first;
  const int present = static_cast<int>(std::min<int64_t>(num_context, episode_step));
  const int missing = num_context - present;
  batch->bootstrap_padding[sample] = 2 * missing;
  GameSegment* segment = place.segment;
  int step = place.step + first - present;
  for (; step > segment->num_steps(); segment = segment->next()) step -= segment->num_steps();
  const size_t row =
      static_cast<size_t>(sample) * (num_context + shape_.num_unroll_steps) + missing;
  const size_t row_size = static_cast<size_t>(shape_.observation_size);
  const int num_steps = present + last - first;
  segment->CopyObservations(step, 1, bootstraps.data() + row * row_size);  // where there is no step
  ForEachPiece(
      segment, step, num_steps, [&](const GameSegment& piece, int begin, int count, int offset) {
        piece.CopyObservations(begin, count + 1, bootstraps.data() + (row + offset) * row_size);
      });
  const PositionIndex::Place begin = {segment, step};
  Gather<Stored::kAction>(begin, num_steps, 0, batch->bootstrap_actions.data(), row);
  Gather<Stored::kActionValues>(begin, num_steps, 0, batch->bootstrap_action_values.data(), row);
}

void BatchWriter::WritePastEnd(int num_real, int sample, RandomStream& random,
                               TrainBatch* batch) const {
  const bool absorbing =
      window_.end == SegmentEnd::kTerminated && terminal_ == TerminalMode::kAbsorb;
  // What an array has of the steps past the end.
  const auto rest_of = [&](auto& array) {
    const auto row = RowOf(array, sample, batch->num_samples);
    return row.subspan(row.size() / shape_.num_unroll_steps * num_real);
  };
  const auto fill = [&](auto& array, auto value) {
    for (auto& element : rest_of(array)) element = value;
  };
  for (std::vector<float>* mask : {&batch->reward_mask, &batch->latent_mask, &batch->value_mask}) {
    fill(*mask, absorbing ? 1.0f : 0.0f);
  }
  for (std::vector<float>* zeros :
       {&batch->policy_mask, &batch->rewards, &batch->partial_returns, &batch->bootstrap_scales,
        &batch->policies, &batch->sampled_actions}) {
    fill(*zeros, 0.0f);
  }
  fill(batch->legal_action_masks, uint8_t{1});
  for (int32_t& outcome : rest_of(batch->chance_outcomes)) {
    outcome = static_cast<int32_t>(random.UniformInt(num_chance_outcomes_));
  }
}

}  // namespace lzero
