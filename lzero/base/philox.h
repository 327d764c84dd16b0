// Philox4x32-10 of Random123 as plain functions for host and CUDA device: random bits and uniform
// numbers as pure functions of key and counter, the same on both. Streams with a position are in
// rng.h. [Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3]
#ifndef LZERO_BASE_PHILOX_H_
#define LZERO_BASE_PHILOX_H_

#include <cstdint>

#include "Random123/philox.h"
#include "lzero/base/host_device.h"

namespace lzero {

// 128 random bits.
struct PhiloxWords {
  uint32_t word[4];
};

LZ_HOST_DEVICE inline PhiloxWords ComputePhilox(uint64_t key, uint64_t counter_low,
                                                uint64_t counter_high) {
  const philox4x32_ctr_t counter = {
      {static_cast<uint32_t>(counter_low), static_cast<uint32_t>(counter_low >> 32),
       static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)}};
  const philox4x32_key_t philox_key = {
      {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}};
  const philox4x32_ctr_t words = philox4x32(counter, philox_key);
  return {{words.v[0], words.v[1], words.v[2], words.v[3]}};
}

// Uniform in [0, 1): the upper 53 of 64 bits.
LZ_HOST_DEVICE inline double ToUnitInterval(uint32_t high, uint32_t low) {
  const uint64_t bits = (static_cast<uint64_t>(high) << 32 | low) >> 11;
  return static_cast<double>(bits) * (1.0 / 9007199254740992.0);  // 2^-53
}

// Uniform in [0, 1), a pure function of its arguments; for decisions keyed by (env, search, node).
LZ_HOST_DEVICE inline double UniformAt(uint64_t key, uint64_t a, uint64_t b) {
  const PhiloxWords words = ComputePhilox(key, a, b);
  return ToUnitInterval(words.word[0], words.word[1]);
}

}  // namespace lzero

#endif  // LZERO_BASE_PHILOX_H_
