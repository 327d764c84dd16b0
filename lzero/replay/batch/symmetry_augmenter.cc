#include "lzero/replay/batch/symmetry_augmenter.h"

namespace lzero {
namespace {

// The part of an array [N, ...] that belongs to `sample`.
template <typename T>
absl::Span<T> RowOf(std::vector<T>& array, int sample, int num_samples) {
  const size_t size = array.size() / static_cast<size_t>(num_samples);
  return absl::MakeSpan(array).subspan(static_cast<size_t>(sample) * size, size);
}

template <typename T>
void MapActionRows(const Symmetry& symmetry, absl::Span<T> rows, std::vector<T>& scratch) {
  const size_t num_actions = symmetry.action_image.size();
  for (size_t begin = 0; begin < rows.size(); begin += num_actions) {
    const absl::Span<T> row = rows.subspan(begin, num_actions);
    scratch.assign(row.begin(), row.end());
    MapActionValues<T>(symmetry, scratch, row);
  }
}

template <typename T>
void MapObservationRows(const Symmetry& symmetry, absl::Span<T> rows, std::vector<T>& scratch) {
  const size_t size = symmetry.observation_source.size();
  for (size_t begin = 0; begin < rows.size(); begin += size) {
    const absl::Span<T> row = rows.subspan(begin, size);
    scratch.assign(row.begin(), row.end());
    MapObservation(symmetry, scratch, row);
  }
}

}  // namespace

void SymmetryAugmenter::Apply(int64_t which, int sample, TrainBatch* batch) {
  const Symmetry& symmetry = symmetries_[static_cast<size_t>(which)];
  const int num_samples = batch->num_samples;
  for (std::vector<float>* numbers : {&batch->observations, &batch->bootstrap_observations}) {
    MapObservationRows(symmetry, RowOf(*numbers, sample, num_samples), numbers_);
  }
  for (std::vector<uint8_t>* bytes :
       {&batch->observation_bytes, &batch->bootstrap_observation_bytes}) {
    MapObservationRows(symmetry, RowOf(*bytes, sample, num_samples), bytes_);
  }
  for (int32_t& action : RowOf(batch->actions, sample, num_samples)) {
    action = symmetry.action_image[static_cast<size_t>(action)];
  }
  for (int32_t& outcome : RowOf(batch->chance_outcomes, sample, num_samples)) {
    if (outcome >= 0) outcome = symmetry.chance_image[static_cast<size_t>(outcome)];
  }
  MapActionRows(symmetry, RowOf(batch->policies, sample, num_samples), numbers_);
  MapActionRows(symmetry, RowOf(batch->legal_action_masks, sample, num_samples), bytes_);
}

}  // namespace lzero
