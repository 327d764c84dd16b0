// Norms, softmax and means of atoms over rows of all sizes, with every instruction set, against the
// reference in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "lzero/kernels/norm_kernels.h"
#include "lzero/kernels/support_kernels.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/packed_reference.h"

namespace lzero::row_kernels_test {
namespace {

struct RowsCall {
  const float* x;  // [num_rows, size]
  int64_t x_stride;
  float* y;
  int64_t y_stride;
  int64_t num_rows;
  int64_t size;
};

void Normalize(const RowsCall& call) {
  NormTask task;
  task.rows = call.num_rows;
  task.size = call.size;
  task.x = call.x;
  task.x_stride = call.x_stride;
  task.y_stride = call.y_stride;
  NormRows(task, call.y);
}

void NormalizeGelu(const RowsCall& call, const float* weight, const float* bias) {
  NormTask task;
  task.rows = call.num_rows;
  task.size = call.size;
  task.x = call.x;
  task.weight = weight;
  task.bias = bias;
  task.gelu = true;
  task.x_stride = call.x_stride;
  task.y_stride = call.y_stride;
  NormRows(task, call.y);
}

void Softmax(const RowsCall& call, int64_t group) {
  RunSimNorm(call.num_rows, call.size, group, call.x, call.x_stride, call.y, call.y_stride);
}

// Means of the atoms, one number for each row.
void MeanOfAtoms(const RowsCall& call) {
  std::vector<float> means(static_cast<size_t>(call.num_rows));
  const ValueSupport atoms = {static_cast<int32_t>(call.size),
                              -0.5f * static_cast<float>(call.size - 1), 1.0f, false};
  DecodeRows(call.num_rows, atoms, call.x, call.x_stride, means.data());
  for (size_t r = 0; r < means.size(); ++r) call.y[r * call.y_stride] = means[r];
}

class RowKernelsTest : public InstructionSetTest {
 protected:
  // One row through an operation, at the end of readable memory.
  template <typename Operation>
  std::vector<float> Run(const std::vector<float>& x, const Operation& operation) const {
    const auto size = static_cast<int64_t>(x.size());
    FloatsAtTheEnd row(size);
    std::copy(x.begin(), x.end(), row.first());
    operation(RowsCall{row.first(), size, row.first(), size, 1, size});
    return std::vector<float>(row.first(), row.first() + size);
  }
  std::vector<float> Normalized(const std::vector<float>& x) const { return Run(x, Normalize); }
  std::vector<float> SoftmaxGroups(const std::vector<float>& x, int64_t group) const {
    return Run(x, [&](const RowsCall& call) { Softmax(call, group); });
  }
  float ExpectedAtom(const std::vector<float>& logits) const { return Run(logits, MeanOfAtoms)[0]; }
};
LZ_TEST_ALL_INSTRUCTION_SETS(RowKernelsTest);

packed::reference::Row RowOf(const std::vector<float>& x) { return {x.begin(), x.end()}; }

TEST_P(RowKernelsTest, NormalizeByHand) {
  // Mean 3, variance (4 + 4 + 0) / 3.
  const std::vector<float> y = Normalized({1, 5, 3});
  EXPECT_NEAR(y[0], -1.2247426, 1e-6);
  EXPECT_NEAR(y[1], 1.2247426, 1e-6);
  EXPECT_NEAR(y[2], 0.0, 1e-6);
  EXPECT_EQ(Normalized({7}), std::vector<float>{0});
  EXPECT_EQ(Normalized({2, 2, 2, 2}), std::vector<float>(4, 0.0f));
}

TEST_P(RowKernelsTest, NormalizeRowsOfAllSizes) {
  std::mt19937 random(1);
  for (int64_t size = 1; size <= 100; ++size) {
    for (const float width : {1e-4f, 1.0f, 1e4f}) {  // the first: less than epsilon counts
      const std::vector<float> x = RandomNumbers(&random, size, -width, width);
      ASSERT_LE(RelativeError(Normalized(x).data(), packed::reference::Normalized(RowOf(x)), 1.0),
                2e-6)
          << size << " numbers up to " << width;
    }
  }
}

TEST_P(RowKernelsTest, NormalizeRowsFarFromZero) {
  std::mt19937 random(2);
  for (const float offset : {-100.0f, 1000.0f, -30000.0f}) {
    for (const int64_t size : {2, 5, 64, 100}) {
      const std::vector<float> x = RandomNumbers(&random, size, offset - 1, offset + 1);
      // The mean is rounded to the offset's spacing, 6e-8 of it, a few times.
      const double tolerance = 1e-6 + 3e-7 * std::abs(offset);
      const packed::reference::Row expected = packed::reference::Normalized(RowOf(x));
      ASSERT_LE(RelativeError(Normalized(x).data(), expected, 1.0), tolerance)
          << size << " numbers around " << offset;
    }
  }
}

TEST_P(RowKernelsTest, NormalizeGeluOfRowsOfAllSizes) {
  std::mt19937 random(3);
  for (int64_t size = 1; size <= 100; ++size) {
    const std::vector<float> x = RandomNumbers(&random, size, -3.0f, 5.0f);
    const std::vector<float> weight = RandomNumbers(&random, size, -2.0f, 2.0f);
    const std::vector<float> bias = RandomNumbers(&random, size, -1.0f, 1.0f);
    const std::vector<float> y =
        Run(x, [&](const RowsCall& call) { NormalizeGelu(call, weight.data(), bias.data()); });
    const packed::reference::Row expected =
        packed::reference::Gelu(packed::reference::Normalized(RowOf(x), {weight, bias}));
    ASSERT_LE(RelativeError(y.data(), expected, 1.0), 2e-6) << size;
  }
}

TEST_P(RowKernelsTest, SoftmaxGroupsOfAllSizes) {
  std::mt19937 random(4);
  for (const int64_t group : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 40}) {
    for (const int64_t num_groups : {1, 2, 5}) {
      for (const float width : {1.0f, 30.0f}) {
        const std::vector<float> x = RandomNumbers(&random, group * num_groups, -width, width);
        const packed::reference::Row expected = packed::reference::SoftmaxInGroups(RowOf(x), group);
        ASSERT_LE(RelativeError(SoftmaxGroups(x, group).data(), expected, 1.0), 1e-6)
            << num_groups << " groups of " << group;
      }
    }
  }
}

TEST_P(RowKernelsTest, SoftmaxOfExtremes) {
  const std::vector<float> y = SoftmaxGroups({1e4f, -1e4f, 1e4f, -1e30f, -kInfinity, 0}, 6);
  EXPECT_NEAR(y[0], 0.5f, 1e-7f);
  EXPECT_NEAR(y[2], 0.5f, 1e-7f);
  for (const size_t i : {1, 3, 4, 5}) EXPECT_NEAR(y[i], 0.0f, 1e-30f);
  EXPECT_EQ(SoftmaxGroups({-3e38f, 3e38f}, 1), (std::vector<float>{1, 1}));
  // Far below 0 together: the largest counts, not 0.
  const std::vector<float> low = SoftmaxGroups({-1e4f, -1e4f - 8, -1e4f}, 3);
  EXPECT_NEAR(low[0], 0.499916f, 1e-6f);  // 1 / (2 + exp(-8))
  EXPECT_NEAR(low[1], 0.000168f, 1e-6f);
}

TEST_P(RowKernelsTest, ExpectedAtomByHand) {
  EXPECT_EQ(ExpectedAtom({0, 0, 0}), 0.0f);
  // Atoms -1, 0, 1 with probabilities 1/4, 1/4, 1/2.
  EXPECT_NEAR(ExpectedAtom({0, 0, std::log(2.0f)}), 0.25f, 1e-7f);
  // Atoms -2 .. 2, all mass on one.
  EXPECT_EQ(ExpectedAtom({-200, -200, -200, 0, -200}), 1.0f);
  EXPECT_EQ(ExpectedAtom({5}), 0.0f);
}

TEST_P(RowKernelsTest, ExpectedAtomOfAllOddSizes) {
  std::mt19937 random(5);
  for (int64_t size = 1; size <= 121; size += 2) {
    for (const float width : {0.0f, 1.0f, 20.0f}) {
      const std::vector<float> logits = RandomNumbers(&random, size, -width, width);
      const auto largest_atom = static_cast<double>(size / 2);
      ASSERT_NEAR(ExpectedAtom(logits), packed::reference::ExpectedAtom(RowOf(logits)),
                  1e-6 * (1.0 + largest_atom))
          << size << " logits up to " << width;
    }
  }
}

TEST_P(RowKernelsTest, ExpectedAtomOfExtremes) {
  for (const int64_t size : {3, 17, 101}) {
    const auto last = static_cast<size_t>(size - 1);
    const auto largest_atom = static_cast<float>(size / 2);
    for (const float common : {0.0f, 1e4f, -1e4f}) {
      std::vector<float> logits(static_cast<size_t>(size), common);
      EXPECT_NEAR(ExpectedAtom(logits), 0.0f, 1e-5f);
      logits[last] = common + 1e4f;
      EXPECT_EQ(ExpectedAtom(logits), largest_atom);
      logits[last] = common - 1e4f;
      EXPECT_NEAR(ExpectedAtom(logits), -0.5f, 1e-5f);  // the sum of the others is -K
      logits[0] = common + 1e4f;
      EXPECT_EQ(ExpectedAtom(logits), -largest_atom);
    }
    std::vector<float> logits(static_cast<size_t>(size), -kInfinity);
    logits[last] = 3.0f;
    EXPECT_EQ(ExpectedAtom(logits), largest_atom);
  }
}

// A network that went wrong must not look well: any NaN or +inf makes the whole result NaN.
TEST_P(RowKernelsTest, LetNanAndInfinityThrough) {
  std::mt19937 random(6);
  for (const int64_t size : {1, 3, 8, 16, 17, 35}) {
    const std::vector<float> weight(static_cast<size_t>(size), 1.0f), bias = weight;
    for (int64_t place = 0; place < size; ++place) {
      for (const float bad : {kNan, kInfinity}) {
        std::vector<float> x = RandomNumbers(&random, size, -1.0f, 1.0f);
        x[static_cast<size_t>(place)] = bad;
        const auto normalize_gelu = [&](const RowsCall& call) {
          NormalizeGelu(call, weight.data(), bias.data());
        };
        for (const std::vector<float>& y :
             {Normalized(x), Run(x, normalize_gelu), SoftmaxGroups(x, size)}) {
          for (const float number : y) ASSERT_TRUE(std::isnan(number)) << place << " of " << size;
        }
        ASSERT_TRUE(std::isnan(ExpectedAtom(x))) << bad << " at " << place << " of " << size;
      }
    }
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      const std::vector<float> x(static_cast<size_t>(size), bad);
      for (const std::vector<float>& y : {Normalized(x), SoftmaxGroups(x, size)}) {
        for (const float number : y) ASSERT_TRUE(std::isnan(number)) << "all are " << bad;
      }
      ASSERT_TRUE(std::isnan(ExpectedAtom(x))) << "all are " << bad;
    }
  }
}

// Several rows with strides of their own give the bits that each row gives alone.
TEST_P(RowKernelsTest, GiveARowTheSameBitsInAnyCall) {
  std::mt19937 random(7);
  constexpr int64_t kRows = 6, kSize = 40, kGroup = 8;
  const std::vector<float> weight = RandomNumbers(&random, kSize, -2.0f, 2.0f);
  const std::vector<float> bias = RandomNumbers(&random, kSize, -1.0f, 1.0f);
  const auto normalize_gelu = [&](const RowsCall& call) {
    NormalizeGelu(call, weight.data(), bias.data());
  };
  const auto softmax = [&](const RowsCall& call) { Softmax(call, kGroup); };
  std::vector<float> x = RandomNumbers(&random, kRows * 43, -2.0f, 2.0f);
  x[2 * 43] = kNan;  // stays in its row
  const auto check = [&](const auto& operation, int64_t written) {
    std::vector<float> y(kRows * 51);
    operation(RowsCall{x.data(), 43, y.data(), 51, kRows, kSize});
    for (int64_t r = 0; r < kRows; ++r) {
      const std::vector<float> row(x.begin() + r * 43, x.begin() + r * 43 + kSize);
      const std::vector<float> alone = Run(row, operation);
      EXPECT_TRUE(SameBits(y.data() + r * 51, alone.data(), written)) << r;
    }
  };
  check(Normalize, kSize);
  check(normalize_gelu, kSize);
  check(softmax, kSize);
  check(MeanOfAtoms, 1);
}

TEST_P(RowKernelsTest, WriteNothingForNoRows) {
  std::vector<float> x(16, 3.0f);
  const RowsCall call = {x.data(), 16, x.data(), 16, 0, 16};
  Normalize(call);
  NormalizeGelu(call, x.data(), x.data());
  Softmax(call, 8);
  MeanOfAtoms(call);
  EXPECT_EQ(x, std::vector<float>(16, 3.0f));
}

}  // namespace
}  // namespace lzero::row_kernels_test
