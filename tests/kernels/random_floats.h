// Numbers for kernels to work on.
#ifndef LZERO_TESTS_KERNELS_RANDOM_FLOATS_H_
#define LZERO_TESTS_KERNELS_RANDOM_FLOATS_H_

#include <cstdint>
#include <random>
#include <vector>

namespace lzero {

// `count` numbers of a normal distribution, a function of `seed` alone.
inline std::vector<float> RandomFloats(int64_t count, uint32_t seed, float sigma = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, sigma);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& number : numbers) number = normal(generator);
  return numbers;
}

}  // namespace lzero

#endif  // LZERO_TESTS_KERNELS_RANDOM_FLOATS_H_
