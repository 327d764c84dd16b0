#include "lzero/replay/batch/shift_augmenter.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

// to[x] = from[x + columns], the ends repeated. `to` may be `from`.
template <typename T>
void MoveLine(const T* from, int width, int columns, T* to) {
  const T first = from[0], last = from[width - 1];
  const int begin = std::max(0, -columns), end = width - std::max(0, columns);
  std::memmove(to + begin, from + begin + columns, static_cast<size_t>(end - begin) * sizeof(T));
  std::fill(to, to + begin, first);
  std::fill(to + end, to + width, last);
}

// In place: lines are written in an order in which none is read after it was written, but the last
// of the border's copies, which is the border itself.
template <typename T>
void MovePicture(T* picture, int height, int width, const ShiftAugmenter::Offset& offset) {
  if (offset.rows == 0 && offset.columns == 0) return;
  for (int i = 0; i < height; ++i) {
    const int y = offset.rows >= 0 ? i : height - 1 - i;
    const int source = std::clamp(y + offset.rows, 0, height - 1);
    MoveLine(picture + static_cast<ptrdiff_t>(source) * width, width, offset.columns,
             picture + static_cast<ptrdiff_t>(y) * width);
  }
}

}  // namespace

ShiftAugmenter::ShiftAugmenter(const std::vector<int64_t>& observation_shape, int max_shift)
    : max_shift_(max_shift) {
  if (max_shift == 0) return;
  LZ_CHECK(ShiftProblem(observation_shape, max_shift).empty(), "shift of ", max_shift);
  height_ = static_cast<int>(observation_shape[1]);
  width_ = static_cast<int>(observation_shape[2]);
}

ShiftAugmenter::Offset ShiftAugmenter::Draw(RandomStream& random) const {
  Offset offset;
  offset.rows = static_cast<int>(random.UniformInt(2 * max_shift_ + 1)) - max_shift_;
  offset.columns = static_cast<int>(random.UniformInt(2 * max_shift_ + 1)) - max_shift_;
  return offset;
}

void ShiftAugmenter::Apply(const Offset& inputs, const Offset& targets, int num_inputs, int sample,
                           TrainBatch* batch) const {
  const auto picture_size = static_cast<size_t>(height_) * static_cast<size_t>(width_);
  const auto end_of_inputs =
      static_cast<size_t>(num_inputs) * static_cast<size_t>(batch->observation_size);
  const auto move = [&](auto& pictures, size_t num_input_elements) {
    const auto row = RowOf(pictures, sample, batch->num_samples);
    for (size_t begin = 0; begin < row.size(); begin += picture_size) {
      const Offset& offset = begin < num_input_elements ? inputs : targets;
      MovePicture(row.data() + begin, height_, width_, offset);
    }
  };
  move(batch->observations, end_of_inputs);
  move(batch->observation_bytes, end_of_inputs);
  move(batch->bootstrap_observations, 0);
  move(batch->bootstrap_observation_bytes, 0);
}

std::string ShiftProblem(const std::vector<int64_t>& observation_shape, int64_t max_shift) {
  const bool fits = observation_shape.size() == 3 && observation_shape[1] > 2 * max_shift &&
                    observation_shape[2] > 2 * max_shift;
  if (fits) return "";
  return absl::StrCat("got ", max_shift, ", but the environment's observation is [",
                      absl::StrJoin(observation_shape, ", "),
                      "]; allowed: 0, or pictures [channels, height, width] with height and width "
                      "above ",
                      2 * max_shift);
}

}  // namespace lzero
