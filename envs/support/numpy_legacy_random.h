// NumPy's legacy generator, numpy.random.RandomState: the Mersenne Twister, and the methods that
// reference environments draw with. Not lzero's own random numbers (base/rng.h), nor NumPy's
// default generator (numpy_random.h). One thread at a time.
#ifndef LZERO_ENVS_SUPPORT_NUMPY_LEGACY_RANDOM_H_
#define LZERO_ENVS_SUPPORT_NUMPY_LEGACY_RANDOM_H_

#include <cstdint>
#include <random>

namespace lzero {

class NumpyLegacyRandom {
 public:
  // What a saved environment stores.
  struct State {
    uint32_t seed = 0;
    uint64_t num_words = 0;  // of 32 bits, drawn since the seed
  };

  // numpy.random.RandomState(seed).
  explicit NumpyLegacyRandom(uint32_t seed) : state_{seed, 0}, twister_(seed) {}

  const State& state() const { return state_; }
  // Passes over state.num_words words: a millisecond for some 500,000.
  void set_state(const State& state);

  uint32_t NextUint32() {
    ++state_.num_words;
    return static_cast<uint32_t>(twister_());
  }
  // RandomState.rand(): uniform in [0, 1) with 53 bits.
  double Random() {
    const uint32_t high = NextUint32() >> 5;
    const uint32_t low = NextUint32() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  // RandomState.randint(low, high): uniform in low .. high - 1; words are masked and those above
  // the range rejected. One number draws nothing; none, or more than 2^32, are our bug.
  int64_t Randint(int64_t low, int64_t high);

 private:
  State state_;
  std::mt19937 twister_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_SUPPORT_NUMPY_LEGACY_RANDOM_H_
