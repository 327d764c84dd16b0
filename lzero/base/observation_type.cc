#include "lzero/base/observation_type.h"

#include <cstddef>

namespace lzero {
namespace {

// The byte nearest to `fraction`, 0 for what lies outside 0 .. 1 or is not a number.
uint8_t NearestByte(float fraction) {
  const bool is_inside = fraction >= 0.0f && fraction <= 1.0f;
  return static_cast<uint8_t>(static_cast<int>((is_inside ? fraction : 0.0f) * 255.0f + 0.5f));
}

float Fraction(uint8_t byte) { return static_cast<float>(byte) / 255.0f; }

}  // namespace

const char* ObservationTypeName(ObservationType type) {
  return type == ObservationType::kUint8 ? "uint8" : "float32";
}

void BytesToFractions(absl::Span<const uint8_t> bytes, float* fractions) {
  for (size_t i = 0; i < bytes.size(); ++i) fractions[i] = Fraction(bytes[i]);
}

int64_t FractionsToBytes(absl::Span<const float> fractions, uint8_t* bytes) {
  // Without a branch on each element, so that the compiler can take many at once.
  int num_wrong = 0;
  for (size_t i = 0; i < fractions.size(); ++i) {
    bytes[i] = NearestByte(fractions[i]);
    num_wrong += Fraction(bytes[i]) != fractions[i];
  }
  if (num_wrong == 0) return -1;
  int64_t first = 0;
  while (Fraction(NearestByte(fractions[first])) == fractions[first]) ++first;
  return first;
}

bool AreFractionsOf(absl::Span<const float> fractions, const uint8_t* bytes) {
  int num_wrong = 0;
  for (size_t i = 0; i < fractions.size(); ++i) num_wrong += Fraction(bytes[i]) != fractions[i];
  return num_wrong == 0;
}

}  // namespace lzero
