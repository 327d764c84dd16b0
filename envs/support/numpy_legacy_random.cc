#include "envs/support/numpy_legacy_random.h"

#include <bit>

#include "lzero/base/check.h"

namespace lzero {

void NumpyLegacyRandom::set_state(const State& state) {
  state_ = state;
  twister_.seed(state.seed);
  twister_.discard(state.num_words);
}

int64_t NumpyLegacyRandom::Randint(int64_t low, int64_t high) {
  const int64_t largest = high - low - 1;
  LZ_CHECK(largest >= 0 && largest <= 0xffffffff, "range ", low, " .. ", high);
  if (largest == 0) return low;
  const uint32_t mask = ~uint32_t{0} >> std::countl_zero(static_cast<uint32_t>(largest));
  uint32_t offset = NextUint32() & mask;
  while (offset > largest) offset = NextUint32() & mask;
  return low + offset;
}

}  // namespace lzero
