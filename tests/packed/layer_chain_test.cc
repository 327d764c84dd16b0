// Chains of layers beside plain loops.
#include "lzero/packed/layer_chain.h"

#include <random>

#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"

namespace lzero::packed::layer_chain_test {
namespace {

constexpr int64_t kRows = 13, kIn = 7;

DrawnWeights Weights() {
  DrawnWeights weights;
  weights.DrawNorm("m.before", kIn);
  weights.DrawLinear("m.first", kIn, 20);
  weights.DrawNorm("m.norm", 20);
  weights.DrawLinear("m.last", 20, 5);
  return weights;
}

TEST(LayerChain, GivesTheNumbersOfPlainLoops) {
  const DrawnWeights weights = Weights();
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kRows * kIn, -1.0f, 1.0f);
  for (const bool normed : {false, true}) {
    const ChainShape shape = {kIn, {{"first", 20, "norm"}, {"last", 5}}, normed ? "before" : ""};
    LayerChain chain(shape);
    chain.Load(weights, "m");
    Numbers expected = Widened(x);
    if (normed) expected = PlainNorm(weights, "m.before", expected, /*gelu=*/false);
    expected = PlainLinear(weights, "m.first", expected, kIn);
    expected = PlainLinear(weights, "m.last", PlainNorm(weights, "m.norm", expected, true), 20);
    FloatsAtTheEnd y(kRows * 5), scratch(shape.ScratchSize(kRows));
    chain.Run(x.data(), kRows, y.first(), scratch.first());
    EXPECT_LT(RelativeError(y.first(), expected, 1.0), 1e-5) << normed;
  }
}

TEST(LayerChain, TakesTheColumnsInAnotherOrder) {
  const DrawnWeights weights = Weights();
  LayerChain plain({kIn, {{"first", 20}}}), reordered({kIn, {{"first", 20}}});
  plain.Load(weights, "m");
  reordered.LoadReordered(weights, "m", {3, 0, 1, 6, 2, 5, 4});
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7}, turned = {4, 1, 2, 7, 3, 6, 5};
  std::vector<float> y(20), z(20);
  plain.Run(x.data(), 1, y.data(), nullptr);
  reordered.Run(turned.data(), 1, z.data(), nullptr);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(z[i], y[i], 1e-5);
}

}  // namespace
}  // namespace lzero::packed::layer_chain_test
