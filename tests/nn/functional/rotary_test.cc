// Rotary positions against cosines and sines in plain loops, and their relative property.
#include "lzero/nn/functional/rotary.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/reference.h"

namespace lzero::rotary_test {
namespace {

using reference::FlatValues;
using reference::Row;

TEST(RotaryTable, CosinesAndSinesByHand) {
  // D = 4: theta = 1 and 10000^(-1/2) = 0.01.
  const at::Tensor table = RotaryTable(2, 2, 4);
  ASSERT_EQ(table.sizes(), at::IntArrayRef({2, 1, 2}));
  EXPECT_EQ(table.scalar_type(), at::kComplexFloat);
  const Row values = FlatValues(torch::view_as_real(table));
  const Row expected = {std::cos(2.0), std::sin(2.0), std::cos(0.02), std::sin(0.02),
                        std::cos(3.0), std::sin(3.0), std::cos(0.03), std::sin(0.03)};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-7) << i;
}

TEST(RotaryTable, StaysPreciseAtLargeAndNegativePositions) {
  for (const int64_t first : {-7, 0, 100000}) {
    const Row values = FlatValues(torch::view_as_real(RotaryTable(first, 3, 6)));
    size_t next = 0;
    for (int64_t position = first; position < first + 3; ++position) {
      for (int pair = 0; pair < 3; ++pair) {
        const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * pair / 6.0);
        EXPECT_NEAR(values[next++], std::cos(angle), 1e-6);
        EXPECT_NEAR(values[next++], std::sin(angle), 1e-6);
      }
    }
  }
}

TEST(RotaryTableDeathTest, HeadSizeMustBeEven) {
  EXPECT_DEATH(RotaryTable(0, 4, 7), "head size 7");
}

TEST(Rotate, QuarterTurn) {
  // A table of i turns (a, b) to (-b, a).
  const at::Tensor table = torch::complex(torch::zeros({1, 1, 2}), torch::ones({1, 1, 2}));
  const at::Tensor turned = Rotate(torch::tensor({1.0f, 2.0f, 3.0f, 4.0f}).view({1, 1, 4}), table);
  EXPECT_EQ(FlatValues(turned), Row({-2, 1, -4, 3}));
}

TEST(Rotate, MatchesLoopsOverTokensHeadsAndPairs) {
  torch::manual_seed(1);
  const int64_t batch = 2, tokens = 9, heads = 3, size = 10;
  const at::Tensor x = torch::randn({batch, tokens, heads, size});
  const at::Tensor rotated = Rotate(x, RotaryTable(-4, tokens, size));
  ASSERT_EQ(rotated.sizes(), x.sizes());
  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t h = 0; h < heads; ++h) {
        const Row expected = reference::Turn(FlatValues(x[n][t][h]), static_cast<double>(t - 4));
        EXPECT_LT(reference::RelativeError(rotated[n][t][h], expected), 1e-6);
      }
    }
  }
}

TEST(Rotate, ProductDependsOnDistanceAlone) {
  torch::manual_seed(2);
  const int64_t size = 16;
  const at::Tensor query = torch::randn({1, 1, size});
  const at::Tensor key = torch::randn({1, 1, size});
  const auto product = [&](int64_t query_position, int64_t key_position) {
    return (Rotate(query, RotaryTable(query_position, 1, size)) *
            Rotate(key, RotaryTable(key_position, 1, size)))
        .sum()
        .item<double>();
  };
  for (const int64_t distance : {0, 1, 5, 19}) {
    const double expected = product(0, -distance);
    for (const int64_t position : {1, 7, 63, 1000}) {
      EXPECT_NEAR(product(position, position - distance), expected, 1e-5) << distance;
    }
  }
  EXPECT_GT(std::abs(product(0, -1) - product(0, -5)), 1e-3);
  EXPECT_GT(std::abs(product(0, -5) - product(-5, 0)), 1e-3) << "the sign of the distance matters";
}

TEST(Rotate, KeepsLengths) {
  torch::manual_seed(3);
  const at::Tensor x = torch::randn({5, 2, 8});
  const at::Tensor rotated = Rotate(x, RotaryTable(3, 5, 8));
  EXPECT_TRUE(at::allclose(at::norm(rotated, 2, {-1}), at::norm(x, 2, {-1})));
}

TEST(Rotate, ReadsStridedHeads) {
  torch::manual_seed(4);
  const at::Tensor packed = torch::randn({4, 3, 2, 6});  // [T, q/k/v, H, D]
  const at::Tensor table = RotaryTable(0, 4, 6);
  EXPECT_TRUE(at::equal(Rotate(packed.select(1, 1), table),
                        Rotate(packed.select(1, 1).contiguous(), table)));
}

TEST(RotaryTest, Bfloat16IsRotatedInFloat32) {
  const at::Tensor x = at::randn({2, 3, 1, 4}).to(at::kBFloat16), table = RotaryTable(0, 3, 4);
  EXPECT_TRUE(at::equal(Rotate(x, table), Rotate(x.to(at::kFloat), table)));
}

}  // namespace
}  // namespace lzero::rotary_test
