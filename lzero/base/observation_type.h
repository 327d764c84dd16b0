// What the elements of an observation are, and how pictures of bytes become numbers and bytes
// again. The one place that knows which number a byte stands for. Pure functions, any thread.
#ifndef LZERO_BASE_OBSERVATION_TYPE_H_
#define LZERO_BASE_OBSERVATION_TYPE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace lzero {

// What an observation is made of; environments always give float32.
enum class ObservationType : uint8_t {
  kFloat32 = 0,
  kUint8 = 1,  // every element is k / 255.0f for an integer k of 0 .. 255: pictures, kept as bytes
};

// "float32" or "uint8".
const char* ObservationTypeName(ObservationType type);

// Bytes that one element is kept in.
constexpr int64_t ObservationTypeSize(ObservationType type) {
  return type == ObservationType::kUint8 ? 1 : sizeof(float);
}

// fractions[i] = bytes[i] / 255.0f. As many elements of both.
void BytesToFractions(absl::Span<const uint8_t> bytes, float* fractions);

// The bytes of `fractions`, as many, so that BytesToFractions gives the same numbers again. Returns
// -1, or the index of the first element that is k / 255.0f for no k; `bytes` is undefined then.
int64_t FractionsToBytes(absl::Span<const float> fractions, uint8_t* bytes);

// Whether BytesToFractions would give these numbers.
bool AreFractionsOf(absl::Span<const float> fractions, const uint8_t* bytes);

}  // namespace lzero

#endif  // LZERO_BASE_OBSERVATION_TYPE_H_
