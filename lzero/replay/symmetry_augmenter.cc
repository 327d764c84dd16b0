#include "lzero/replay/symmetry_augmenter.h"

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

}  // namespace

void SymmetryAugmenter::MapObservations(const Symmetry& symmetry, absl::Span<float> rows,
                                        int observation_size) {
  const size_t size = static_cast<size_t>(observation_size);
  for (size_t begin = 0; begin < rows.size(); begin += size) {
    const absl::Span<float> row = rows.subspan(begin, size);
    observation_.assign(row.begin(), row.end());
    MapObservation(symmetry, observation_, row);
  }
}

void SymmetryAugmenter::Apply(int64_t which, int sample, TrainBatch* batch) {
  const Symmetry& symmetry = symmetries_[static_cast<size_t>(which)];
  const int num_samples = batch->num_samples;
  for (std::vector<float>* observations : {&batch->observations, &batch->bootstrap_observations}) {
    MapObservations(symmetry, RowOf(*observations, sample, num_samples), batch->observation_size);
  }
  for (int32_t& action : RowOf(batch->actions, sample, num_samples)) {
    action = symmetry.action_image[static_cast<size_t>(action)];
  }
  MapActionRows(symmetry, RowOf(batch->policies, sample, num_samples), policy_);
  MapActionRows(symmetry, RowOf(batch->legal_action_masks, sample, num_samples), legal_);
}

}  // namespace lzero
