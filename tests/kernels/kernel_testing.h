// What the tests of the packed arithmetic share: a test for each instruction set of this machine,
// random rows, and comparison with rows of the reference. Not the reference (reference.h), not
// random models (random_network.h).
#ifndef LZERO_TESTS_KERNELS_KERNEL_TESTING_H_
#define LZERO_TESTS_KERNELS_KERNEL_TESTING_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/product/packed_matrix.h"

namespace lzero {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A test that runs once with each instruction set.
class InstructionSetTest : public testing::TestWithParam<InstructionSet> {
 private:
  ScopedInstructionSet set_{GetParam()};
};

inline std::string InstructionSetName(const testing::TestParamInfo<InstructionSet>& parameter) {
  std::string name = NameOf(parameter.param);
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }),
             name.end());
  return name;
}

#define LZ_TEST_ALL_INSTRUCTION_SETS(suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(Sets, suite, testing::ValuesIn(::lzero::AvailableInstructionSets()), \
                           ::lzero::InstructionSetName)

// Uniform in [low, high).
inline float RandomNumber(std::mt19937* random, float low, float high) {
  return low + (high - low) * static_cast<float>((*random)() >> 8) * 0x1p-24f;
}

inline int64_t RandomInt(std::mt19937* random, int64_t low, int64_t high) {  // both included
  return low + static_cast<int64_t>((*random)()) % (high - low + 1);
}

inline std::vector<float> RandomNumbers(std::mt19937* random, int64_t size, float low, float high) {
  std::vector<float> numbers(static_cast<size_t>(size));
  for (float& number : numbers) number = RandomNumber(random, low, high);
  return numbers;
}

// Rows `stride` floats apart, aligned as the kernels want them.
class Rows {
 public:
  Rows(int64_t num_rows, int64_t stride) : stride_(stride), numbers_(num_rows * stride) {}

  float* row(int64_t r) { return numbers_.data() + r * stride_; }
  const float* row(int64_t r) const { return numbers_.data() + r * stride_; }
  int64_t stride() const { return stride_; }
  void Fill(float number) { std::fill(numbers_.data(), numbers_.data() + numbers_.size(), number); }
  void FillRandom(std::mt19937* random, float low, float high) {
    for (int64_t i = 0; i < numbers_.size(); ++i) numbers_[i] = RandomNumber(random, low, high);
  }

 private:
  int64_t stride_;
  AlignedArray<float> numbers_;
};

// `size` floats that end where readable memory ends, so that reading or writing behind them stops
// the program.
class FloatsAtTheEnd {
 public:
  explicit FloatsAtTheEnd(int64_t size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t used = static_cast<size_t>(size) * sizeof(float);
    const size_t readable = (used + page - 1) / page * page;
    bytes_ = readable + page;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    EXPECT_EQ(mprotect(static_cast<char*>(memory_) + readable, page, PROT_NONE), 0);
    first_ = reinterpret_cast<float*>(static_cast<char*>(memory_) + readable - used);
  }
  ~FloatsAtTheEnd() { munmap(memory_, bytes_); }
  FloatsAtTheEnd(const FloatsAtTheEnd&) = delete;
  FloatsAtTheEnd& operator=(const FloatsAtTheEnd&) = delete;

  float* first() { return first_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
  float* first_ = nullptr;
};

inline float FloatOfBits(uint32_t bits) {
  float value = 0.0f;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The weight that a matrix keeps at output n and input k, by the layout of its header.
inline float KeptWeight(const PackedMatrix& matrix, int64_t n, int64_t k) {
  if (matrix.type() == WeightType::kFp32) {
    return matrix.panels()[n / 16 * matrix.in() * 16 + k * 16 + n % 16];
  }
  const int64_t pairs = (matrix.in() + 1) / 2;
  const uint32_t half = matrix.half_panels()[((n / 16 * pairs + k / 2) * 16 + n % 16) * 2 + k % 2];
  return FloatOfBits(half << 16);
}

// Bit for bit: NaN equals NaN, 0 differs from -0.
inline bool SameBits(const float* a, const float* b, int64_t size) {
  return std::memcmp(a, b, static_cast<size_t>(size) * sizeof(float)) == 0;
}

// The largest distance of `numbers` from `expected`, relative to `scale` or to the largest
// expectation if that is more; infinity where one is no number.
inline double RelativeError(const float* numbers, const std::vector<double>& expected,
                            double scale) {
  double error = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::abs(static_cast<double>(numbers[i]) - expected[i]);
    if (!std::isfinite(distance)) return std::numeric_limits<double>::infinity();
    error = std::max(error, distance);
    scale = std::max(scale, std::abs(expected[i]));
  }
  return error / scale;
}

}  // namespace lzero

#endif  // LZERO_TESTS_KERNELS_KERNEL_TESTING_H_
