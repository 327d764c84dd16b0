// Towers of convolutions beside plain loops.
#include "lzero/packed/plane_tower.h"

#include <random>

#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"

namespace lzero::packed::plane_tower_test {
namespace {

constexpr int64_t kSamples = 5, kChannels = 16;

// Means of 2x2 cells of even planes.
Numbers Halved(const PlaneSizes& planes, const Numbers& x) {
  Numbers y(x.size() / 4);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto cell = static_cast<int64_t>(i) / kChannels, line = cell / planes.width;
    const int64_t half = line / planes.height * planes.height / 2 + line % planes.height / 2;
    const int64_t to = half * (planes.width / 2) + cell % planes.width / 2;
    y[static_cast<size_t>(to * kChannels) + i % kChannels] += x[i] / 4.0;
  }
  return y;
}

TEST(PlaneTower, AnEncoderHalvesAndAddsWhatWasThere) {
  DrawnWeights weights;
  weights.DrawConvolution("e.stem", 3, kChannels);
  for (const char* name : {"e.half0a", "e.half0b", "e.block0a", "e.block0b"}) {
    weights.DrawConvolution(name, kChannels, kChannels);
  }
  TowerShape shape;
  shape.height = 8;
  shape.width = 12;
  shape.in = 3;
  shape.channels = kChannels;
  shape.stem_stride = 2;
  shape.blocks = {{"half0", 2}, {"block0", 1}};
  PlaneTower tower(shape);
  tower.Load(weights, "e");
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, shape.input(kSamples).cells() * 3, -1, 1);
  // By hand.
  const ConvolutionShape same = {kChannels, kChannels, 1}, half = {kChannels, kChannels, 2};
  const PlaneSizes behind = shape.stem_output(kSamples), small = shape.output(kSamples);
  Numbers y =
      PlainLayer(weights, "e.stem", {3, kChannels, 2}, shape.input(kSamples), Widened(x), {}, true);
  Numbers hidden = PlainLayer(weights, "e.half0a", half, behind, y, {}, true);
  y = PlainLayer(weights, "e.half0b", same, small, hidden, Halved(behind, y), true);
  hidden = PlainLayer(weights, "e.block0a", same, small, y, {}, true);
  y = PlainLayer(weights, "e.block0b", same, small, hidden, y, true);
  // Packed.
  FloatsAtTheEnd result(static_cast<int64_t>(y.size())), scratch(PlaneTower::ScratchSize(shape));
  tower.Run(x.data(), {}, kSamples, result.first(), scratch.first());
  EXPECT_LT(RelativeError(result.first(), y, 1.0), 3e-5);
}

// The plane of an action beside the latent's, as the network has it.
TEST(PlaneTower, AStepReadsThePlaneOfItsAction) {
  constexpr int64_t kCells = 12, kRows = 3;
  DrawnWeights weights;
  weights.DrawConvolution("s.stem", kChannels + 1, kChannels);
  weights.DrawConvolution("s.block0a", kChannels, kChannels);
  weights.DrawConvolution("s.block0b", kChannels, kChannels);
  weights.Draw("table", kRows * kCells);
  TowerShape shape;
  shape.height = 3;
  shape.width = 4;
  shape.in = shape.channels = kChannels;
  shape.blocks = {{"block0", 1}};
  shape.num_inputs = kRows;
  PlaneTower tower(shape);
  const auto table = weights.Get("table");
  tower.Load(weights, "s", table);
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kSamples * kCells * kChannels, -1, 1);
  const std::vector<int64_t> rows = {2, 0, 1, 1, 2};
  const std::vector<float> values = RandomNumbers(&random, kSamples * (kRows - 1), -1, 1);
  for (const bool is_box : {false, true}) {
    Numbers with_plane;
    for (size_t cell = 0; cell < kSamples * kCells; ++cell) {
      const size_t sample = cell / kCells, at = cell % kCells;
      with_plane.insert(with_plane.end(), x.begin() + static_cast<int64_t>(cell) * kChannels,
                        x.begin() + static_cast<int64_t>(cell + 1) * kChannels);
      double number = table[static_cast<size_t>(rows[sample]) * kCells + at];
      if (is_box) {
        number = values[2 * sample] * table[at] + values[2 * sample + 1] * table[kCells + at] +
                 table[2 * kCells + at];
      }
      with_plane.push_back(number);
    }
    const PlaneSizes planes = shape.input(kSamples);
    const ConvolutionShape same = {kChannels, kChannels, 1};
    Numbers y = PlainLayer(weights, "s.stem", {kChannels + 1, kChannels, 1}, planes, with_plane,
                           Widened(x), true);
    const Numbers hidden = PlainLayer(weights, "s.block0a", same, planes, y, {}, true);
    y = PlainLayer(weights, "s.block0b", same, planes, hidden, y, false);
    FloatsAtTheEnd result(static_cast<int64_t>(y.size())), scratch(PlaneTower::ScratchSize(shape));
    const TowerInputs inputs = {is_box ? nullptr : rows.data(), is_box ? values.data() : nullptr};
    tower.Run(x.data(), inputs, kSamples, result.first(), scratch.first());
    EXPECT_LT(RelativeError(result.first(), y, 1.0), 3e-5) << is_box;
  }
}

}  // namespace
}  // namespace lzero::packed::plane_tower_test
