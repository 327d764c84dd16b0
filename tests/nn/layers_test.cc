// Linear, LayerNorm and head against plain loops in double, and their starting weights.
#include "lzero/nn/layers.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/reference.h"

namespace lzero::layers_test {
namespace {

using reference::FlatValues;
using reference::RelativeError;
using reference::Row;
using reference::Rows;
using reference::RowsOf;
using reference::Weights;
using reference::WeightsOf;

TEST(LinearLayer, NumbersByHand) {
  LinearLayer layer(2, 3);
  {
    const torch::NoGradGuard no_grad;
    layer.weight.copy_(torch::tensor({{1.0f, 2.0f}, {-1.0f, 0.5f}, {0.0f, 3.0f}}));
    layer.bias.copy_(torch::tensor({0.1f, 0.2f, -0.3f}));
  }
  const at::Tensor y = layer.Forward(torch::tensor({{2.0f, -1.0f}}));
  EXPECT_LT(RelativeError(y, Row({0.1, -2.3, -3.3})), 1e-6);
}

TEST(LinearLayer, StartsUniformWithinOneOverRootOfInputs) {
  torch::manual_seed(5);
  const LinearLayer layer(100, 400);
  const auto expect_uniform = [](const at::Tensor& values) {
    EXPECT_LE(values.abs().max().item<double>(), 0.1);
    EXPECT_GT(values.abs().max().item<double>(), 0.095);
    EXPECT_NEAR(values.mean().item<double>(), 0.0, 0.01);
    // Standard deviation of a uniform variable in +-b: b / sqrt(3).
    EXPECT_NEAR(values.std().item<double>(), 0.1 / std::sqrt(3.0), 0.006);
  };
  expect_uniform(layer.weight);
  expect_uniform(layer.bias);
}

TEST(LinearLayer, InitZeroAndInitNormal) {
  torch::manual_seed(6);
  LinearLayer layer(50, 200);
  layer.InitNormal(0.02);
  EXPECT_NEAR(layer.weight.std().item<double>(), 0.02, 0.001);
  EXPECT_NEAR(layer.weight.mean().item<double>(), 0.0, 0.001);
  EXPECT_EQ(torch::count_nonzero(layer.bias).item<int64_t>(), 0);
  layer.InitZero();
  EXPECT_EQ(torch::count_nonzero(layer.weight).item<int64_t>(), 0);
  EXPECT_EQ(torch::count_nonzero(layer.bias).item<int64_t>(), 0);
  EXPECT_TRUE(layer.weight.requires_grad());
}

TEST(LayerNormLayer, NumbersByHand) {
  LayerNormLayer layer(3);
  // Mean 2, variance 2/3: (-1, 0, 1) / sqrt(2/3 + 1e-5).
  const double unit = 1.0 / std::sqrt(2.0 / 3.0 + 1e-5);
  EXPECT_LT(RelativeError(layer.Forward(torch::tensor({1.0f, 2.0f, 3.0f})), Row({-unit, 0, unit})),
            1e-6);
  {
    const torch::NoGradGuard no_grad;
    layer.weight.copy_(torch::tensor({2.0f, 3.0f, 4.0f}));
    layer.bias.copy_(torch::tensor({0.5f, -0.5f, 1.0f}));
  }
  EXPECT_LT(RelativeError(layer.Forward(torch::tensor({1.0f, 2.0f, 3.0f})),
                          Row({0.5 - 2 * unit, -0.5, 1 + 4 * unit})),
            1e-6);
}

TEST(LayerNormLayer, MatchesLoopsOnEveryRow) {
  LayerNormLayer layer(33);
  reference::Scatter(layer, 0.5, 7);
  Weights weights;
  for (const auto& [key, array] : WeightsOf(layer)) weights["norm." + key] = array;
  const at::Tensor x = torch::randn({4, 33}) * 3.0 + 5.0;
  Rows expected;
  for (const Row& row : RowsOf(x)) expected.push_back(reference::LayerNorm(weights, "norm", row));
  EXPECT_LT(RelativeError(layer.Forward(x), expected), 1e-5);
}

TEST(Head, MatchesLoops) {
  Head head(12, 20, 7);
  reference::Scatter(head, 0.3, 8);
  Weights weights;
  for (const auto& [key, array] : WeightsOf(head)) weights["head." + key] = array;
  const at::Tensor x = torch::randn({5, 12});
  Rows expected;
  for (const Row& row : RowsOf(x)) expected.push_back(reference::Head(weights, "head", row));
  const at::Tensor y = head.Forward(x);
  ASSERT_EQ(y.sizes(), at::IntArrayRef({5, 7}));
  EXPECT_LT(RelativeError(y, expected), 1e-5);
  // Any number of leading axes.
  EXPECT_TRUE(at::allclose(head.Forward(x.view({5, 1, 1, 12})).view({5, 7}), y, 1e-5, 1e-6));
}

TEST(Head, HoldsTheParametersOfModelMd) {
  const Head head(8, 32, 5);
  const std::map<std::string, std::vector<int64_t>> expected = {
      {"norm_in.weight", {8}},      {"norm_in.bias", {8}},
      {"first.weight", {32, 8}},    {"first.bias", {32}},
      {"norm_hidden.weight", {32}}, {"norm_hidden.bias", {32}},
      {"last.weight", {5, 32}},     {"last.bias", {5}}};
  std::map<std::string, std::vector<int64_t>> actual;
  for (const auto& item : head.named_parameters()) actual[item.key()] = item.value().sizes().vec();
  EXPECT_EQ(actual, expected);
}

TEST(Head, ZeroLastLayerGivesZeros) {
  Head head(8, 32, 5);
  head.last().InitZero();
  EXPECT_EQ(torch::count_nonzero(head.Forward(torch::randn({3, 8}))).item<int64_t>(), 0);
}

}  // namespace
}  // namespace lzero::layers_test
