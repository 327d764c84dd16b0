// Encoders against plain loops in double, their shapes and errors, and the final norm of latents by
// hand.
#include "lzero/nn/encoder.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/reference.h"

namespace lzero::encoder_test {
namespace {

using reference::FlatValues;
using reference::RelativeError;
using reference::Row;
using reference::Rows;
using reference::RowsOf;
using reference::Weights;
using reference::WeightsOf;

ModelConfig VectorConfig(int64_t num_hidden) {
  ModelConfig config;
  config.encoder_width = 24;
  config.encoder_layers = num_hidden;
  config.embed_dim = 10;
  return config;
}

ModelConfig BoardConfig(int64_t num_blocks) {
  ModelConfig config;
  config.encoder = EncoderKind::kBoard;
  config.encoder_channels = 4;
  config.encoder_blocks = num_blocks;
  config.embed_dim = 6;
  return config;
}

std::shared_ptr<Encoder> MakeScattered(const ModelConfig& config,
                                       const std::vector<int64_t>& shape) {
  torch::manual_seed(11);
  absl::StatusOr<std::shared_ptr<Encoder>> encoder = MakeEncoder(config, shape);
  EXPECT_TRUE(encoder.ok()) << encoder.status();
  reference::Scatter(**encoder, 0.2, 12);
  return *encoder;
}

TEST(NormalizeLatent, LayerNormByHand) {
  // Mean 0, variance 5: x / sqrt(5 + 1e-5). No weight, no bias.
  const at::Tensor x = torch::tensor({{-3.0f, -1.0f, 1.0f, 3.0f}});
  const double unit = 1.0 / std::sqrt(5.0 + 1e-5);
  EXPECT_LT(RelativeError(NormalizeLatent(x, LatentNorm::kLayerNorm, 8),
                          Row({-3 * unit, -unit, unit, 3 * unit})),
            1e-6);
}

TEST(NormalizeLatent, SimNormByHand) {
  // Two groups of three: exp of (0, ln 2, ln 5) and of (ln 3, 0, 0) + 100, each divided by its sum.
  const at::Tensor x = torch::tensor(
      {0.0f, std::log(2.0f), std::log(5.0f), 100.0f + std::log(3.0f), 100.0f, 100.0f});
  EXPECT_LT(RelativeError(NormalizeLatent(x, LatentNorm::kSimNorm, 3),
                          Row({1.0 / 8, 2.0 / 8, 5.0 / 8, 3.0 / 5, 1.0 / 5, 1.0 / 5})),
            2e-6);
}

TEST(NormalizeLatent, EveryRowByItself) {
  torch::manual_seed(13);
  const at::Tensor x = torch::randn({2, 3, 16});
  for (const LatentNorm norm : {LatentNorm::kLayerNorm, LatentNorm::kSimNorm}) {
    const at::Tensor y = NormalizeLatent(x, norm, 8);
    ASSERT_EQ(y.sizes(), x.sizes());
    EXPECT_TRUE(at::allclose(y[1][2], NormalizeLatent(x[1][2], norm, 8), 1e-5, 1e-6));
  }
}

TEST(VectorEncoder, MatchesLoops) {
  for (const int64_t num_hidden : {0, 1, 2}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(VectorConfig(num_hidden), {5});
    const Weights weights = WeightsOf(*encoder);
    const at::Tensor observations = torch::randn({4, 5});
    Rows expected;
    for (Row x : RowsOf(observations)) {
      for (int64_t i = 0; i < num_hidden; ++i) {
        const std::string index = std::to_string(i);
        x = reference::Gelu(reference::LayerNorm(weights, "norm" + index,
                                                 reference::Linear(weights, "hidden" + index, x)));
      }
      expected.push_back(reference::Linear(weights, "last", x));
    }
    const at::Tensor latents = encoder->Forward(observations);
    ASSERT_EQ(latents.sizes(), at::IntArrayRef({4, 10}));
    EXPECT_LT(RelativeError(latents, expected), 1e-5) << num_hidden << " hidden layers";
  }
}

TEST(VectorEncoder, FlattensObservationsOfAnyShape) {
  const std::shared_ptr<Encoder> encoder = MakeScattered(VectorConfig(1), {2, 3, 4});
  EXPECT_EQ(encoder->Forward(torch::randn({7, 24})).sizes(), at::IntArrayRef({7, 10}));
}

// 3x3 convolution with zero borders, then a norm over all channels and cells, scaled and shifted by
// channel. x is [channels][cell] of height x width; the output has every `stride`th cell.
Rows ConvolveAndNormalize(const Weights& weights, const std::string& name, const Rows& x,
                          int height, int width, int stride = 1) {
  const reference::Array& kernel = weights.at(name + ".weight");
  const size_t out = static_cast<size_t>(kernel.shape[0]);
  Row all;
  for (size_t o = 0; o < out; ++o) {
    for (int row = 0; row < height; row += stride) {
      for (int column = 0; column < width; column += stride) {
        double sum = 0.0;
        for (size_t i = 0; i < x.size(); ++i) {
          for (int tap = 0; tap < 9; ++tap) {
            const int r = row + tap / 3 - 1, c = column + tap % 3 - 1;
            if (r < 0 || c < 0 || r >= height || c >= width) continue;
            sum += kernel.values[(o * x.size() + i) * 9 + static_cast<size_t>(tap)] *
                   x[i][static_cast<size_t>(r * width + c)];
          }
        }
        all.push_back(sum);
      }
    }
  }
  const Row normal = reference::Normalize(all);
  const size_t cells = all.size() / out;
  Rows y;
  for (size_t o = 0; o < out; ++o) {
    y.push_back(reference::Slice(normal, o * cells, cells));
    for (double& value : y.back()) {
      value = value * weights.at(name + ".norm_weight").values[o] +
              weights.at(name + ".norm_bias").values[o];
    }
  }
  return y;
}

Rows Relu(Rows x) {
  for (Row& row : x) {
    for (double& value : row) value = std::max(value, 0.0);
  }
  return x;
}

Row BoardPass(const Weights& weights, int num_blocks, const Rows& board, int height, int width) {
  Rows x = Relu(ConvolveAndNormalize(weights, "stem", board, height, width));
  for (int i = 0; i < num_blocks; ++i) {
    const std::string block = "block" + std::to_string(i);
    const Rows inner = Relu(ConvolveAndNormalize(weights, block + "a", x, height, width));
    const Rows change = ConvolveAndNormalize(weights, block + "b", inner, height, width);
    for (size_t c = 0; c < x.size(); ++c) reference::AddTo(x[c], change[c]);
    x = Relu(x);
  }
  Row flat;
  for (const Row& channel : x) flat.insert(flat.end(), channel.begin(), channel.end());
  return reference::Linear(weights, "last", flat);
}

TEST(BoardEncoder, MatchesLoops) {
  for (const int64_t num_blocks : {0, 1, 2}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(BoardConfig(num_blocks), {3, 4, 5});
    const Weights weights = WeightsOf(*encoder);
    const at::Tensor observations = torch::randn({2, 3 * 4 * 5});
    Rows expected;
    for (const Row& x : RowsOf(observations)) {
      const Rows planes = {reference::Slice(x, 0, 20), reference::Slice(x, 20, 20),
                           reference::Slice(x, 40, 20)};
      expected.push_back(BoardPass(weights, static_cast<int>(num_blocks), planes, 4, 5));
    }
    const at::Tensor latents = encoder->Forward(observations);
    ASSERT_EQ(latents.sizes(), at::IntArrayRef({2, 6}));
    EXPECT_LT(RelativeError(latents, expected), 1e-5) << num_blocks << " blocks";
  }
}

// Means of 2x2 cells; at an odd border of what is there.
Row HalfSize(const Row& x, int height, int width) {
  Row y;
  for (int row = 0; row < height; row += 2) {
    for (int column = 0; column < width; column += 2) {
      double sum = 0.0, count = 0.0;
      for (int r = row; r < std::min(row + 2, height); ++r) {
        for (int c = column; c < std::min(column + 2, width); ++c, ++count) {
          sum += x[static_cast<size_t>(r * width + c)];
        }
      }
      y.push_back(sum / count);
    }
  }
  return y;
}

// Two halvings, then one block at the last size.
Row ImagePass(const Weights& weights, const Rows& image, int height, int width) {
  Rows x = Relu(ConvolveAndNormalize(weights, "stem", image, height, width, 2));
  height = (height + 1) / 2;
  width = (width + 1) / 2;
  for (const bool halves : {true, false}) {
    const std::string block = halves ? "halving0" : "block0";
    const Rows inner =
        Relu(ConvolveAndNormalize(weights, block + "a", x, height, width, halves ? 2 : 1));
    if (halves) {
      for (Row& channel : x) channel = HalfSize(channel, height, width);
      height = (height + 1) / 2;
      width = (width + 1) / 2;
    }
    const Rows change = ConvolveAndNormalize(weights, block + "b", inner, height, width);
    for (size_t c = 0; c < x.size(); ++c) reference::AddTo(x[c], change[c]);
    x = Relu(x);
  }
  Row flat;
  for (const Row& channel : x) flat.insert(flat.end(), channel.begin(), channel.end());
  return reference::Linear(weights, "last", flat);
}

TEST(ImageEncoder, MatchesLoops) {
  ModelConfig config = BoardConfig(1);
  config.encoder = EncoderKind::kImage;
  for (const auto& [height, width] : {std::pair(32, 32), std::pair(17, 30)}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(config, {2, height, width});
    const Weights weights = WeightsOf(*encoder);
    const size_t cells = static_cast<size_t>(height * width);
    const at::Tensor observations = torch::randn({2, 2 * height * width});
    Rows expected;
    for (const Row& x : RowsOf(observations)) {
      const Rows planes = {reference::Slice(x, 0, cells), reference::Slice(x, cells, cells)};
      expected.push_back(ImagePass(weights, planes, height, width));
    }
    const at::Tensor latents = encoder->Forward(observations);
    ASSERT_EQ(latents.sizes(), at::IntArrayRef({2, 6}));
    EXPECT_LT(RelativeError(latents, expected), 1e-5) << height << " x " << width;
  }
}

TEST(ImageEncoder, TakesTheUsualImages) {
  ModelConfig config = BoardConfig(1);
  config.encoder = EncoderKind::kImage;
  for (const auto& [shape, cells] : {std::pair(std::vector<int64_t>{3, 64, 64}, 64),
                                     std::pair(std::vector<int64_t>{4, 96, 96}, 36),
                                     std::pair(std::vector<int64_t>{1, 84, 84}, 36)}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(config, shape);
    EXPECT_EQ(encoder->Forward(torch::randn({2, shape[0] * shape[1] * shape[2]})).sizes(),
              at::IntArrayRef({2, 6}));
    EXPECT_EQ(encoder->named_parameters()["last.weight"].sizes(), at::IntArrayRef({6, 4 * cells}));
  }
}

TEST(Encoder, ASampleDoesNotDependOnTheOthersOfItsBatch) {
  for (const ModelConfig& config : {VectorConfig(2), BoardConfig(1)}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(config, {2, 3, 3});
    for (const bool training : {true, false}) {
      encoder->train(training);
      at::Tensor observations = torch::randn({6, 18});
      const at::Tensor latents = encoder->Forward(observations);
      observations.narrow(0, 0, 3).mul_(100.0);
      const at::Tensor again = encoder->Forward(observations);
      EXPECT_TRUE(at::equal(again.narrow(0, 3, 3), latents.narrow(0, 3, 3)));
      EXPECT_FALSE(at::allclose(again[0], latents[0]));
      const at::Tensor alone = encoder->Forward(observations.narrow(0, 4, 1));
      EXPECT_LT(RelativeError(alone, FlatValues(latents[4])), 1e-5);
    }
  }
}

// Byte k stands for k / 255.0f, to the last bit.
TEST(Encoder, ReadsBytesAsTheNumbersTheyStandFor) {
  ModelConfig image = BoardConfig(1);
  image.encoder = EncoderKind::kImage;
  for (const ModelConfig& config : {VectorConfig(0), VectorConfig(2), BoardConfig(1), image}) {
    const std::shared_ptr<Encoder> encoder = MakeScattered(config, {3, 16, 17});
    const at::Tensor counts = at::arange(2 * 3 * 16 * 17).view({2, -1});
    const at::Tensor bytes = (255 - counts.remainder(256)).to(at::kByte);
    const at::Tensor numbers = bytes.to(at::kFloat) / at::full({1}, 255.0f);
    EXPECT_TRUE(at::equal(encoder->Forward(bytes), encoder->Forward(numbers)));
  }
}

// Without gradients many samples go by another way, a few at a time.
TEST(Encoder, GivesTheSameNumbersWithAndWithoutGradients) {
  ModelConfig image = BoardConfig(1);
  image.encoder = EncoderKind::kImage;
  for (const ModelConfig& config : {BoardConfig(2), image}) {
    for (const int64_t channels : {2, 4}) {
      const std::shared_ptr<Encoder> encoder = MakeScattered(config, {channels, 20, 17});
      const at::Tensor numbers = torch::randn({70, channels * 20 * 17});
      for (const at::Tensor& x : {numbers, numbers.abs().mul(50).to(at::kByte)}) {
        const at::Tensor expected = encoder->Forward(x).detach();
        const torch::NoGradGuard no_grad;
        EXPECT_LT(RelativeError(encoder->Forward(x), RowsOf(expected)), 1e-5) << channels;
      }
    }
  }
}

TEST(MakeEncoder, BoardRefusesObservationsThatAreNoPlanes) {
  const absl::StatusOr<std::shared_ptr<Encoder>> encoder = MakeEncoder(BoardConfig(1), {4});
  ASSERT_FALSE(encoder.ok());
  EXPECT_EQ(encoder.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(encoder.status().message()),
            "model.encoder: board needs observations [channels, height, width]; this environment "
            "gives [4]; use encoder: vector");
  EXPECT_THAT(std::string(MakeEncoder(BoardConfig(1), {2, 3, 4, 5}).status().message()),
              testing::HasSubstr("gives [2, 3, 4, 5]"));
}

TEST(MakeEncoder, ImageRefusesSmallPlanes) {
  ModelConfig config = BoardConfig(1);
  config.encoder = EncoderKind::kImage;
  EXPECT_EQ(std::string(MakeEncoder(config, {3, 3, 3}).status().message()),
            "model.encoder: image needs observations [channels, height, width] with sides of 16 or "
            "more; this environment gives [3, 3, 3]; use encoder: board, vector");
}

}  // namespace
}  // namespace lzero::encoder_test
