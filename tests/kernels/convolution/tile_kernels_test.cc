// Transforms of tiles by hand, and that tiles depend on themselves alone.
#include "lzero/kernels/convolution/tile_kernels.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::tile_kernels_test {
namespace {

class TileKernelsTest : public InstructionSetTest {};

// A weight that copies the cell below and to the right.
TEST_P(TileKernelsTest, AShiftByHand) {
  std::vector<float> weight(9), x(20), u(36), tiles(36 * PlaceStride(2)), y(20);
  weight[8] = 1.0f;
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const TileRange range = {{1, 4, 5}, 1, 0, 2};
  ASSERT_EQ(range.planes.tiles(), 2);
  TransformWeights(weight.data(), 1, 1, /*backward=*/false, u.data());
  TransformInputs(range, x.data(), tiles.data());
  for (size_t i = 0; i < tiles.size(); ++i) tiles[i] *= u[i / PlaceStride(2)];
  TransformOutputs(range, tiles.data(), y.data());
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_NEAR(y[i], i < 15 && i % 5 < 4 ? x[i + 6] : 0.0, 1e-4) << i;
  }
}

TEST_P(TileKernelsTest, TilesDoNotDependOnTheirNeighbours) {
  std::mt19937 random(1);
  const PlaneSizes planes = {3, 9, 6};
  constexpr int64_t kChannels = 21, kTiles = 18;
  ASSERT_EQ(planes.tiles(), kTiles);
  const std::vector<float> x = RandomNumbers(&random, planes.cells() * kChannels, -1.0f, 1.0f);
  const int64_t stride = PlaceStride(kTiles * kChannels), stride_of_one = PlaceStride(kChannels);
  std::vector<float> all(36 * stride), one(36 * stride_of_one);
  TransformInputs({planes, kChannels, 0, kTiles}, x.data(), all.data());
  for (int64_t tile = 0; tile < kTiles; ++tile) {
    TransformInputs({planes, kChannels, tile, 1}, x.data(), one.data());
    for (int64_t place = 0; place < 36; ++place) {
      EXPECT_TRUE(SameBits(&all[place * stride + tile * kChannels], &one[place * stride_of_one],
                           kChannels));
    }
  }
}

LZ_TEST_ALL_INSTRUCTION_SETS(TileKernelsTest);

}  // namespace
}  // namespace lzero::tile_kernels_test
