#include "lzero/replay/observation_store.h"

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

absl::Status NoByteError(int64_t index, float value) {
  return absl::InvalidArgumentError(
      absl::StrCat("observation[", index, "] is ", value, ", but the environment declares uint8 ",
                   "observations (ObservationSpec): every element is k / 255, k of 0 to 255"));
}

}  // namespace

ObservationStore::ObservationStore(const ObservationFormat& format, int num_rows)
    : format_(format),
      blocks_(
          std::make_unique_for_overwrite<char[]>(static_cast<size_t>(BytesFor(format, num_rows)))) {
}

absl::Status ObservationStore::Encode(const float* values, int first, int count, char* to) const {
  if (format_.type == ObservationType::kFloat32) {
    std::memcpy(to, values + first, count * sizeof(float));
    return absl::OkStatus();
  }
  const int64_t wrong = FractionsToBytes({values + first, static_cast<size_t>(count)},
                                         reinterpret_cast<uint8_t*>(to));
  if (wrong < 0) return absl::OkStatus();
  return NoByteError(first + wrong, values[first + wrong]);
}

absl::Status ObservationStore::CheckStored(const float* values, int count,
                                           const char* stored) const {
  if (format_.type == ObservationType::kFloat32) {
    if (std::memcmp(values, stored, count * sizeof(float)) == 0) return absl::OkStatus();
  } else {
    const absl::Span<const float> fractions(values, static_cast<size_t>(count));
    if (AreFractionsOf(fractions, reinterpret_cast<const uint8_t*>(stored))) {
      return absl::OkStatus();
    }
    std::vector<uint8_t> bytes(fractions.size());
    const int64_t wrong = FractionsToBytes(fractions, bytes.data());
    if (wrong >= 0) return NoByteError(wrong, values[wrong]);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "the first ", format_.frame_stack - 1, " of the observation's ", format_.frame_stack,
      " frames are not the last ones of the observation before, but the environment declares "
      "frame_stack ",
      format_.frame_stack, " (ObservationSpec): each step adds one frame and drops the oldest"));
}

absl::Status ObservationStore::SetFirst(int row, const float* values) {
  return Encode(values, 0, format_.size, Block(row));
}

absl::Status ObservationStore::SetNext(int row, const float* values) {
  LZ_DCHECK(row > 0, "row ", row);
  const int num_shared = format_.frame_stack - 1;
  const int shared_size = num_shared * format_.block_size();
  LZ_RETURN_IF_ERROR(CheckStored(values, shared_size, Block(row)));
  return Encode(values, shared_size, format_.block_size(), Block(row + num_shared));
}

template <typename T>
void ObservationStore::CopyRows(int row, int num_rows, T* out) const {
  const bool are_bytes = format_.type == ObservationType::kUint8;
  const size_t size = static_cast<size_t>(format_.size);
  // Without a stack, rows lie one behind the other.
  const int num_at_once = format_.frame_stack == 1 ? num_rows : 1;
  const size_t count = num_at_once * size;
  for (int i = 0; i < num_rows; i += num_at_once, out += count) {
    if constexpr (std::is_same_v<T, float>) {
      if (are_bytes) {
        BytesToFractions({reinterpret_cast<const uint8_t*>(Block(row + i)), count}, out);
        continue;
      }
    }
    LZ_DCHECK(are_bytes == (sizeof(T) == 1), "observations of another type");
    std::memcpy(out, Block(row + i), count * sizeof(T));
  }
}

template void ObservationStore::CopyRows(int row, int num_rows, float* out) const;
template void ObservationStore::CopyRows(int row, int num_rows, uint8_t* out) const;

absl::string_view ObservationStore::Blocks(int block, int count) const {
  return {Block(block), static_cast<size_t>(count * format_.block_bytes())};
}

void ObservationStore::SetBlocks(int block, absl::string_view blocks) {
  if (!blocks.empty()) std::memcpy(Block(block), blocks.data(), blocks.size());
}

void ObservationStore::ShrinkTo(int num_rows) {
  ObservationStore smaller(format_, num_rows);
  smaller.SetBlocks(0, Blocks(0, static_cast<int>(NumBlocks(format_, num_rows))));
  blocks_ = std::move(smaller.blocks_);
}

}  // namespace lzero
