#include "lzero/replay/batch/symmetry_augmenter.h"

namespace lzero {
namespace {

// Replaces every `size` numbers of `row` by what map(old, new) makes of them.
template <typename T, typename Map>
void MapParts(absl::Span<T> row, size_t size, std::vector<T>& scratch, const Map& map) {
  for (size_t begin = 0; begin < row.size(); begin += size) {
    const absl::Span<T> part = row.subspan(begin, size);
    scratch.assign(part.begin(), part.end());
    map(absl::MakeConstSpan(scratch), part);
  }
}

}  // namespace

void SymmetryAugmenter::Apply(int64_t which, int sample, TrainBatch* batch) {
  const Symmetry& symmetry = symmetries_[static_cast<size_t>(which)];
  const auto row_of = [&](auto& array) { return RowOf(array, sample, batch->num_samples); };
  // Observations.
  const size_t observation_size = symmetry.observation_source.size();
  const auto map_observation = [&](auto from, auto to) { MapObservation(symmetry, from, to); };
  for (std::vector<float>* numbers : {&batch->observations, &batch->bootstrap_observations}) {
    MapParts(row_of(*numbers), observation_size, numbers_, map_observation);
  }
  for (std::vector<uint8_t>* bytes :
       {&batch->observation_bytes, &batch->bootstrap_observation_bytes}) {
    MapParts(row_of(*bytes), observation_size, bytes_, map_observation);
  }
  // Actions and chance outcomes, and what is said of every action.
  for (int32_t& action : row_of(batch->actions)) {
    action = symmetry.action_image[static_cast<size_t>(action)];
  }
  for (int32_t& outcome : row_of(batch->chance_outcomes)) {
    if (outcome >= 0) outcome = symmetry.chance_image[static_cast<size_t>(outcome)];
  }
  const size_t num_actions = symmetry.action_image.size();
  const auto map_actions = [&](auto from, auto to) { MapActionValues(symmetry, from, to); };
  MapParts(row_of(batch->policies), num_actions, numbers_, map_actions);
  MapParts(row_of(batch->legal_action_masks), num_actions, bytes_, map_actions);
}

}  // namespace lzero
