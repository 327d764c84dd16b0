// Encoders beside plain loops: vectors, and planes that end in a vector or stay planes.
#include "lzero/packed/observation_encoder.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"

namespace lzero::packed::observation_encoder_test {
namespace {

constexpr int64_t kRows = 5;

TEST(ObservationEncoder, VectorsGoThroughLayers) {
  ModelConfig config;
  config.encoder_width = 20;
  config.encoder_layers = 1;
  config.embed_dim = 8;
  DrawnWeights weights;
  weights.DrawLinear("encoder.hidden0", 3, 20);
  weights.DrawNorm("encoder.norm0", 20);
  weights.DrawLinear("encoder.last", 20, 8);
  ObservationEncoder encoder(config, {3}, /*ends_in_planes=*/false);
  encoder.Load(weights, "encoder");
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kRows * 3, -1, 1);
  Numbers expected = PlainLinear(weights, "encoder.hidden0", Widened(x), 3);
  expected = PlainLinear(weights, "encoder.last",
                         PlainNorm(weights, "encoder.norm0", expected, /*gelu=*/true), 20);
  FloatsAtTheEnd y(kRows * 8);
  FloatsAtTheEnd scratch(ObservationEncoder::ScratchSize(config, {3}, false, kRows));
  encoder.Run(x.data(), kRows, y.first(), scratch.first());
  EXPECT_LT(RelativeError(y.first(), expected, 1.0), 1e-5);
}

TEST(ObservationEncoder, ObservationsAreNormalisedFirst) {
  for (const EncoderKind kind : {EncoderKind::kVector, EncoderKind::kBoard, EncoderKind::kImage}) {
    const bool is_vector = kind == EncoderKind::kVector;
    ModelConfig config;
    config.encoder = kind;
    config.encoder_channels = 4;
    config.encoder_blocks = 0;
    config.encoder_width = 20;
    config.embed_dim = 8;
    const bool is_board = kind == EncoderKind::kBoard;
    const std::vector<int64_t> shape = is_vector  ? std::vector<int64_t>{3}
                                       : is_board ? std::vector<int64_t>{2, 3, 4}
                                                  : std::vector<int64_t>{1, 16, 16};
    const int64_t size = ObservationSize(shape);
    DrawnWeights weights;
    weights.DrawLinear("encoder.hidden0", 3, 20);
    weights.DrawNorm("encoder.norm0", 20);
    weights.DrawConvolution("encoder.stem", is_board ? 2 : 1, 4);
    weights.DrawConvolution("encoder.halving0a", 4, 4);
    weights.DrawConvolution("encoder.halving0b", 4, 4);
    weights.DrawLinear("encoder.last", is_vector ? 20 : 4 * (is_board ? 3 * 4 : 8 * 8), 8);
    weights.Draw("encoder.observations.mean", size, -1.0f, 1.0f);
    weights.Draw("encoder.observations.variance", size, 0.5f, 2.0f);
    std::mt19937 random(1);
    std::vector<float> x = RandomNumbers(&random, kRows * size, -1, 1);
    const auto run = [&](const std::vector<float>& observations, bool normalises) {
      config.normalize_observations = normalises;
      ObservationEncoder encoder(config, shape, /*ends_in_planes=*/false);
      encoder.Load(weights, "encoder");
      FloatsAtTheEnd y(kRows * 8);
      FloatsAtTheEnd scratch(ObservationEncoder::ScratchSize(config, shape, false, kRows));
      encoder.Run(observations.data(), kRows, y.first(), scratch.first());
      return Numbers(y.first(), y.first() + kRows * 8);
    };
    const Numbers normed = run(x, true);
    const auto mean = weights.Get("encoder.observations.mean", {size});
    const auto variance = weights.Get("encoder.observations.variance", {size});
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t at = i % static_cast<size_t>(size);
      x[i] -= mean[at];
      if (is_vector) x[i] /= std::sqrt(variance[at] + 1e-4f);
    }
    const Numbers plain = run(x, false);
    for (size_t i = 0; i < normed.size(); ++i) EXPECT_NEAR(normed[i], plain[i], 1e-4) << i;
  }
}

// The network's planes are [channels, cells], those of the kernels [cells, channels].
TEST(ObservationEncoder, BoardsAreTurnedOnceAndTheLastLayerReadsTheNetworksOrder) {
  constexpr size_t kIn = 2, kCells = 12, kChannels = 16;
  ModelConfig config;
  config.encoder = EncoderKind::kBoard;
  config.encoder_channels = kChannels;
  config.encoder_blocks = 0;
  config.embed_dim = 8;
  const std::vector<int64_t> shape = {kIn, 3, 4};
  DrawnWeights weights;
  weights.DrawConvolution("encoder.stem", kIn, kChannels);
  weights.DrawLinear("encoder.last", kChannels * kCells, 8);
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kRows * kIn * kCells, -1, 1);
  Numbers turned(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t row = i / (kIn * kCells), channel = i / kCells % kIn;
    turned[(row * kCells + i % kCells) * kIn + channel] = x[i];
  }
  const Numbers planes = PlainLayer(weights, "encoder.stem", {kIn, kChannels, 1}, {kRows, 3, 4},
                                    turned, {}, /*relu=*/true);
  Numbers flat(planes.size());
  for (size_t i = 0; i < planes.size(); ++i) {
    const size_t row = i / (kChannels * kCells), cell = i / kChannels % kCells;
    flat[(row * kChannels + i % kChannels) * kCells + cell] = planes[i];
  }
  for (const bool ends_in_planes : {true, false}) {
    const Numbers expected =
        ends_in_planes ? planes : PlainLinear(weights, "encoder.last", flat, kChannels * kCells);
    ObservationEncoder encoder(config, shape, ends_in_planes);
    encoder.Load(weights, "encoder");
    EXPECT_EQ(encoder.out_size(), static_cast<int64_t>(expected.size()) / kRows);
    FloatsAtTheEnd y(static_cast<int64_t>(expected.size()));
    FloatsAtTheEnd scratch(ObservationEncoder::ScratchSize(config, shape, ends_in_planes, kRows));
    encoder.Run(x.data(), kRows, y.first(), scratch.first());
    EXPECT_LT(RelativeError(y.first(), expected, 1.0), 3e-5) << ends_in_planes;
  }
}

TEST(ObservationEncoder, ImagesAreHalvedToSmallPlanes) {
  ModelConfig config;
  config.encoder = EncoderKind::kImage;
  const PlaneSizes planes = EncodedPlanes(config, {3, 64, 40});
  EXPECT_EQ(planes.height, 8);
  EXPECT_EQ(planes.width, 5);
}

}  // namespace
}  // namespace lzero::packed::observation_encoder_test
