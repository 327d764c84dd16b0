#include "lzero/replay/replay_buffer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/replay/saved/replay_export.h"
#include "lzero/replay/saved/replay_import.h"

namespace lzero {

absl::StatusOr<std::unique_ptr<ReplayBuffer>> ReplayBuffer::Create(const ReplayConfig& config,
                                                                   const ReplayShape& shape) {
  LZ_RETURN_IF_ERROR(CheckReplayConfig(config, shape));
  return std::unique_ptr<ReplayBuffer>(new ReplayBuffer(config, shape));
}

ReplayBuffer::ReplayBuffer(const ReplayConfig& config, const ReplayShape& shape)
    : config_(config),
      shape_(shape),
      store_(std::make_unique<ReplayStore>(config, shape)),
      writer_(config, shape),
      symmetries_(config.augment_symmetries ? shape.symmetries : std::vector<Symmetry>()),
      shift_(shape.observation_shape, static_cast<int>(config.augment_shift)),
      intensity_(config.augment_intensity) {}

absl::Status ReplayBuffer::BeginEpisode(EnvId env, absl::Span<const float> observation,
                                        absl::Span<const uint8_t> legal_action_mask, int to_play) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return store_->BeginEpisode(env, observation, legal_action_mask, to_play);
}

absl::Status ReplayBuffer::Append(EnvId env, const Transition& step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return store_->Append(env, step);
}

absl::Status ReplayBuffer::Sample(int num_samples, RandomStream& random, TrainBatch* batch) {
  LZ_CHECK(num_samples > 0, "got ", num_samples);
  const std::lock_guard<std::mutex> lock(mutex_);
  const PositionIndex& index = store_->index();
  if (index.num_eligible() == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "replay holds ", index.num_used(), " transitions and none can be sampled yet: targets of ",
        "an unfinished episode are known ", ReplayHorizon(config_), " steps later"));
  }
  // Draw the positions.
  batch->Resize(BatchShapeFor(config_, shape_, num_samples));
  const double total = index.total_weight();
  double smallest_weight = total;
  for (PositionHandle& position : batch->positions) {
    position = index.HandleOf(index.Find(random.Uniform() * total));
    smallest_weight = std::min(smallest_weight, index.weight(position.leaf));
  }
  // Write their rows.
  double age_sum = 0.0;
  int num_fresh = 0;
  const int64_t num_updates = NumAnnealedUpdates(num_samples);
  for (int i = 0; i < num_samples; ++i) {
    const int leaf = batch->positions[i].leaf;
    const PositionIndex::Place& place = index.place(leaf);
    const int64_t age =
        store_->counters().num_appended - 1 - place.segment->sequences()[place.step];
    writer_.Write(place, i, TargetTermsOf(config_, num_updates, age), random, batch);
    if (symmetries_.num_symmetries() > 0) {
      symmetries_.Apply(random.UniformInt(symmetries_.num_symmetries()), i, batch);
    }
    Augment(i, random, batch);
    // (E p_i)^-beta / max_j (E p_j)^-beta: the number of eligible positions E and the sum cancel.
    batch->importance_weights[i] = static_cast<float>(
        std::max(config_.min_importance_weight,
                 std::pow(smallest_weight / index.weight(leaf), config_.importance_exponent)));
    age_sum += static_cast<double>(age);
    num_fresh += IsFresh(place, num_samples) ? 1 : 0;
  }
  if (config_.fresh_updates > 0) {
    batch->fresh_share = static_cast<double>(num_fresh) / num_samples;
  }
  batch->mean_age = age_sum / num_samples;
  store_->counters().num_sampled += num_samples;
  return absl::OkStatus();
}

void ReplayBuffer::TakeBackSample(int num_samples) {
  const std::lock_guard<std::mutex> lock(mutex_);
  store_->counters().num_sampled -= num_samples;
}

int64_t ReplayBuffer::NumAnnealedUpdates(int num_samples) const {
  const int64_t num_updates = store_->counters().num_sampled / num_samples;
  return shape_.reset_updates > 0 ? num_updates % shape_.reset_updates : num_updates;
}

bool ReplayBuffer::IsFresh(const PositionIndex::Place& place, int num_samples) const {
  if (config_.fresh_updates == 0) return false;
  const int64_t time = place.segment->Rows<int64_t>(Stored::kSearchTime)[place.step];
  return store_->counters().num_sampled - time <= config_.fresh_updates * num_samples;
}

void ReplayBuffer::Augment(int sample, RandomStream& random, TrainBatch* batch) const {
  const auto apply = [&](const auto& augmenter) {
    const auto inputs = augmenter.Draw(random);
    const auto targets = shape_.reads_sequences ? inputs : augmenter.Draw(random);
    augmenter.Apply(inputs, targets, /*num_inputs=*/1 + batch->num_context_steps, sample, batch);
  };
  if (shift_.max_shift() > 0) apply(shift_);
  if (intensity_.scale() > 0.0) apply(intensity_);
}

void ReplayBuffer::UpdatePriorities(absl::Span<const PositionHandle> positions,
                                    absl::Span<const float> priorities) {
  LZ_CHECK(positions.size() == priorities.size(), positions.size(), " positions, ",
           priorities.size(), " priorities");
  if (!config_.prioritized) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < positions.size(); ++i) {
    LZ_CHECK(std::isfinite(priorities[i]) && priorities[i] >= 0.0f, "priority ", priorities[i]);
    if (!store_->index().IsCurrent(positions[i])) continue;
    if (store_->index().weight(positions[i].leaf) <= 0.0) continue;  // sampled before an Import
    double& max_priority = store_->counters().max_priority;
    max_priority = std::max<double>(max_priority, priorities[i]);
    store_->index().SetWeight(positions[i].leaf, store_->WeightOf(priorities[i]));
  }
}

void ReplayBuffer::DrawPositions(int64_t num_positions, RandomStream& random,
                                 std::vector<PositionHandle>* positions) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  positions->clear();
  const PositionIndex& index = store_->index();
  if (index.num_used() == 0) return;
  // Leaves are taken and given back in such an order that few of those ever used are free.
  const int64_t num_leaves = static_cast<int64_t>(index.generations().size());
  while (static_cast<int64_t>(positions->size()) < num_positions) {
    const int leaf = static_cast<int>(random.UniformInt(num_leaves));
    if (index.place(leaf).segment != nullptr) positions->push_back(index.HandleOf(leaf));
  }
}

int64_t ReplayBuffer::ReadRoots(absl::Span<const PositionHandle> positions,
                                std::vector<StoredRoot>* roots) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const PositionIndex& index = store_->index();
  size_t count = 0;
  for (const PositionHandle& position : positions) {
    if (!index.IsCurrent(position)) continue;
    if (count == roots->size()) roots->emplace_back();
    StoredRoot& root = (*roots)[count++];
    const PositionIndex::Place& place = index.place(position.leaf);
    ReadStoredRoot(*place.segment, place.step, shape_, &root);
    root.position = position;
    root.age = store_->counters().num_appended - 1 - place.segment->sequences()[place.step];
  }
  return static_cast<int64_t>(count);
}

int64_t ReplayBuffer::ReplaceSearches(absl::Span<const NewSearch> searches) {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t num_written = 0;
  for (const NewSearch& search : searches) {
    if (!store_->index().IsCurrent(search.position)) continue;
    const PositionIndex::Place& place = store_->index().place(search.position.leaf);
    place.segment->ReplaceSearch(place.step, search.policy, search.sampled_actions,
                                 search.root_value);
    place.segment->SetSearchTime(place.step, store_->counters().num_sampled);
    ++num_written;
  }
  return num_written;
}

ReplayStats ReplayBuffer::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {store_->counters(), store_->num_transitions(), store_->index().num_eligible(),
          store_->num_segments(), store_->bytes()};
}

std::vector<NamedArray> ReplayBuffer::Export() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Materialize(ExportReplay(config_, shape_, *store_));
}

std::vector<NamedArray> ReplayBuffer::ExportInParts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ExportReplay(config_, shape_, *store_);
}

absl::Status ReplayBuffer::Import(absl::Span<const NamedArray> arrays) {
  LZ_ASSIGN_OR_RETURN(std::unique_ptr<ReplayStore> store, ImportReplay(config_, shape_, arrays));
  const std::lock_guard<std::mutex> lock(mutex_);
  store_ = std::move(store);
  return absl::OkStatus();
}

}  // namespace lzero
