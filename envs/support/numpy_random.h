// NumPy's default generator: SeedSequence, PCG64 (XSL-RR 128/64) and the Generator methods that
// reference environments use. Not lzero's own random numbers (base/rng.h): it exists so that a seed
// gives the start states that Gymnasium gives. One thread at a time.
#ifndef LZERO_ENVS_SUPPORT_NUMPY_RANDOM_H_
#define LZERO_ENVS_SUPPORT_NUMPY_RANDOM_H_

#include <array>
#include <cstdint>

namespace lzero {

// numpy.random.SeedSequence(seed).generate_state(4, numpy.uint64).
std::array<uint64_t, 4> NumpySeedState(uint64_t seed);

class NumpyRandom {
 public:
  // numpy.random.Generator(numpy.random.PCG64(seed)).
  explicit NumpyRandom(uint64_t seed);

  // The next 64 raw bits; a half word kept by NextUint32 stays where it is.
  uint64_t NextUint64();
  // 32 bits: the low half of a fresh word, then its high half.
  uint32_t NextUint32();
  // Generator.random(): uniform in [0, 1) with 53 bits.
  double Random() { return static_cast<double>(NextUint64() >> 11) * 0x1.0p-53; }
  // Generator.uniform(low, high).
  double Uniform(double low, double high) {
    const double range = high - low;
    return low + range * Random();
  }
  // Generator.integers(low, high) of dtype int64: uniform in low .. high - 1 by Lemire's method; an
  // empty range is our bug. [Lemire 2019, Fast random integer generation in an interval]
  int64_t Integers(int64_t low, int64_t high);

 private:
  unsigned __int128 state_ = 0;
  unsigned __int128 increment_ = 0;
  bool has_half_ = false;
  uint32_t half_ = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_SUPPORT_NUMPY_RANDOM_H_
