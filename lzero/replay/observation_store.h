// The observations of one game segment, one row each, kept as float32. The only place that knows
// how an observation is stored. Not thread-safe.
#ifndef LZERO_REPLAY_OBSERVATION_STORE_H_
#define LZERO_REPLAY_OBSERVATION_STORE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace lzero {

class ObservationStore {
 public:
  // Room for `num_rows` observations of `observation_size` numbers; rows begin undefined.
  ObservationStore(int observation_size, int num_rows)
      : observation_size_(static_cast<size_t>(observation_size)),
        values_(std::make_unique_for_overwrite<float[]>(observation_size_ * num_rows)) {}

  static int64_t BytesFor(int64_t observation_size, int64_t num_rows) {
    return observation_size * num_rows * static_cast<int64_t>(sizeof(float));
  }

  // Stores one observation, [obs] float32.
  void SetRow(int row, const float* values) {
    std::memcpy(values_.get() + row * observation_size_, values, observation_size_ * sizeof(float));
  }

  // Copies row `from` of `other`, a store of the same observation size, into row `to`.
  void SetRowFrom(const ObservationStore& other, int from, int to) {
    SetRow(to, other.values_.get() + from * observation_size_);
  }

  // Writes the observations of rows row .. row + num_rows - 1 to `out`, [num_rows, obs] float32.
  void CopyRows(int row, int num_rows, float* out) const {
    std::copy_n(values_.get() + row * observation_size_, num_rows * observation_size_, out);
  }

  // Whether row `row` and row `other_row` of `other` are equal bit for bit.
  bool RowEquals(int row, const ObservationStore& other, int other_row) const {
    return std::memcmp(values_.get() + row * observation_size_,
                       other.values_.get() + other_row * observation_size_,
                       observation_size_ * sizeof(float)) == 0;
  }

  // Moves the first `num_rows` rows into room for exactly that many.
  void ShrinkTo(int num_rows) {
    auto smaller = std::make_unique_for_overwrite<float[]>(observation_size_ * num_rows);
    CopyRows(0, num_rows, smaller.get());
    values_ = std::move(smaller);
  }

 private:
  size_t observation_size_;
  std::unique_ptr<float[]> values_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_OBSERVATION_STORE_H_
