// The observations of consecutive steps of one episode. The only place that knows how an
// observation is stored: numbers as float32, pictures as bytes, and of stacked frames each once.
// Knows nothing of segments. Not thread-safe.
//
//   frame_stack 3     block     b_0  b_1  b_2  b_3  b_4  ...    block_size elements each
//                     row 0    [b_0  b_1  b_2]
//                     row 1         [b_1  b_2  b_3]             a row is an observation
#ifndef LZERO_REPLAY_OBSERVATION_STORE_H_
#define LZERO_REPLAY_OBSERVATION_STORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "lzero/base/observation_type.h"

namespace lzero {

// What one observation is (ObservationSpec, env/env.h).
struct ObservationFormat {
  int size = 0;  // elements
  ObservationType type = ObservationType::kFloat32;
  int frame_stack = 1;  // divides size

  int block_size() const { return size / frame_stack; }
  // Bytes of a block as it is stored.
  int64_t block_bytes() const { return block_size() * ObservationTypeSize(type); }
  bool operator==(const ObservationFormat&) const = default;
};

class ObservationStore {
 public:
  // Room for `num_rows` observations; rows begin undefined. Verbs that take values are given whole
  // observations, [size] float32.
  ObservationStore(const ObservationFormat& format, int num_rows);

  static int64_t NumBlocks(const ObservationFormat& format, int64_t num_rows) {
    return num_rows + format.frame_stack - 1;
  }
  static int64_t BytesFor(const ObservationFormat& format, int64_t num_rows) {
    return NumBlocks(format, num_rows) * format.block_bytes();
  }

  // Stores an observation, `values` [size] float32, whatever the rows beside it hold.
  // InvalidArgument for an element that a uint8 environment must not give.
  absl::Status SetFirst(int row, const float* values);
  // Stores the observation after row `row` - 1, `values` [size] float32. InvalidArgument as
  // SetFirst, and when it is not that row's last frame_stack - 1 blocks and one more; the rows
  // before stay as they are.
  absl::Status SetNext(int row, const float* values);

  // Writes the observations of rows row .. row + num_rows - 1 to `out`, [num_rows, size]: T float,
  // numbers; uint8_t, the bytes that stand for them (type kUint8 only).
  template <typename T>
  void CopyRows(int row, int num_rows, T* out) const;

  // A view of blocks as they are stored, [count, block_bytes] bytes: block i is the oldest of row
  // i. SetBlocks is for blocks that Blocks of a store of the same format gave.
  absl::string_view Blocks(int block, int count) const;
  void SetBlocks(int block, absl::string_view blocks);
  // The blocks of one row.
  absl::string_view Row(int row) const { return Blocks(row, format_.frame_stack); }

  // Moves the first `num_rows` rows into room for exactly that many.
  void ShrinkTo(int num_rows);

 private:
  char* Block(int block) const { return blocks_.get() + block * format_.block_bytes(); }
  // Stores elements first .. first + count - 1 of an observation at `to`.
  absl::Status Encode(const float* values, int first, int count, char* to) const;
  // InvalidArgument unless the first `count` elements of an observation equal those at `stored`.
  absl::Status CheckStored(const float* values, int count, const char* stored) const;

  ObservationFormat format_;
  std::unique_ptr<char[]> blocks_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_OBSERVATION_STORE_H_
