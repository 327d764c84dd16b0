#include "lzero/replay/observation_store.h"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

std::unique_ptr<std::byte[]> MakeRoom(int64_t size) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(size));
}

void Decode(ObservationType type, const void* stored, size_t count, float* out) {
  if (count == 0) return;  // then `out` may be null
  if (type == ObservationType::kUint8) {
    BytesToFractions({static_cast<const uint8_t*>(stored), count}, out);
  } else {
    std::memcpy(out, stored, count * sizeof(float));
  }
}

absl::Status NoByteError(int64_t index, float value) {
  return absl::InvalidArgumentError(
      absl::StrCat("observation[", index, "] is ", value, ", but the environment declares uint8 ",
                   "observations (ObservationSpec): every element is k / 255, k of 0 to 255"));
}

}  // namespace

ObservationStore::ObservationStore(const ObservationFormat& format, int num_rows)
    : format_(format), blocks_(MakeRoom(BytesFor(format, num_rows))) {}

absl::Status ObservationStore::Encode(const float* values, int first, int count,
                                      std::byte* to) const {
  if (format_.type == ObservationType::kFloat32) {
    std::memcpy(to, values + first, count * sizeof(float));
    return absl::OkStatus();
  }
  const int64_t wrong = FractionsToBytes({values + first, static_cast<size_t>(count)},
                                         reinterpret_cast<uint8_t*>(to));
  if (wrong < 0) return absl::OkStatus();
  return NoByteError(first + wrong, values[first + wrong]);
}

bool ObservationStore::IsStoredAt(const float* values, int count, const std::byte* stored) const {
  if (format_.type == ObservationType::kFloat32) {
    return std::memcmp(values, stored, count * sizeof(float)) == 0;
  }
  return AreFractionsOf({values, static_cast<size_t>(count)},
                        reinterpret_cast<const uint8_t*>(stored));
}

absl::Status ObservationStore::BrokenStack(const float* values, int count) const {
  if (format_.type == ObservationType::kUint8) {
    std::vector<uint8_t> bytes(static_cast<size_t>(count));
    const int64_t wrong = FractionsToBytes({values, bytes.size()}, bytes.data());
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
  if (!IsStoredAt(values, shared_size, Block(row))) return BrokenStack(values, shared_size);
  return Encode(values, shared_size, format_.block_size(), Block(row + num_shared));
}

void ObservationStore::CopyFirstFrom(const ObservationStore& other, int from, int to) {
  std::memcpy(Block(to), other.Block(from), static_cast<size_t>(format_.row_bytes()));
}

void ObservationStore::CopyBeforeFrom(const ObservationStore& other, int from, int count) {
  std::memcpy(Block(0), other.Block(from), static_cast<size_t>(count * format_.block_bytes()));
}

void ObservationStore::CopyRows(int row, int num_rows, float* out) const {
  const size_t size = static_cast<size_t>(format_.size);
  if (format_.frame_stack == 1) {  // rows lie one behind the other
    Decode(format_.type, Block(row), num_rows * size, out);
    return;
  }
  for (int i = 0; i < num_rows; ++i) Decode(format_.type, Block(row + i), size, out + i * size);
}

void ObservationStore::CopyRows(int row, int num_rows, uint8_t* out) const {
  LZ_DCHECK(format_.type == ObservationType::kUint8, "observations of float32");
  const size_t size = static_cast<size_t>(format_.size);
  if (format_.frame_stack == 1) {
    std::memcpy(out, Block(row), num_rows * size);
    return;
  }
  for (int i = 0; i < num_rows; ++i) std::memcpy(out + i * size, Block(row + i), size);
}

void ObservationStore::CopyBlocks(int block, int count, char* out) const {
  std::memcpy(out, Block(block), static_cast<size_t>(count * format_.block_bytes()));
}

void ObservationStore::SetBlocks(int block, absl::Span<const char> blocks) {
  if (!blocks.empty()) std::memcpy(Block(block), blocks.data(), blocks.size());
}

bool ObservationStore::RowEquals(int row, const ObservationStore& other, int other_row) const {
  return std::memcmp(Block(row), other.Block(other_row),
                     static_cast<size_t>(format_.row_bytes())) == 0;
}

void ObservationStore::ShrinkTo(int num_rows) {
  const int64_t size = BytesFor(format_, num_rows);
  std::unique_ptr<std::byte[]> smaller = MakeRoom(size);
  std::memcpy(smaller.get(), blocks_.get(), static_cast<size_t>(size));
  blocks_ = std::move(smaller);
}

void DecodeObservation(const ObservationFormat& format, const char* blocks, float* out) {
  Decode(format.type, blocks, static_cast<size_t>(format.size), out);
}

}  // namespace lzero
