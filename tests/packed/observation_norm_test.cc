#include "lzero/packed/observation_norm.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"

namespace lzero::packed::observation_norm_test {
namespace {

// Mean and variance near 2, and 4 less the floor.
DrawnWeights Statistics() {
  DrawnWeights weights;
  weights.Draw("norm.mean", 2, 2.0f, 2.0f);
  weights.Draw("norm.variance", 2, 3.9999f, 3.9999f);
  return weights;
}

TEST(ObservationNorm, ScalesVectorsInPlaceAndHoldsThem) {
  ModelConfig config;
  config.normalize_observations = true;
  ObservationNorm norm(config, 2);
  std::vector<float> x = {4.0f, -2.0f, 1e6f, -1e6f};
  norm.Load(Statistics(), "norm");
  norm.Run(x.data(), 2, x.data());
  EXPECT_THAT(x, testing::Pointwise(testing::FloatNear(1e-5f), {1.0f, -2.0f, 10.0f, -10.0f}));
  EXPECT_EQ(ObservationNorm::Bytes(config, 2), 16);
}

TEST(ObservationNorm, CentresPictures) {
  ModelConfig config;
  config.normalize_observations = true;
  config.encoder = EncoderKind::kImage;
  ObservationNorm norm(config, 2);
  std::vector<float> x = {4.0f, -100.0f};
  norm.Load(Statistics(), "norm");
  norm.Run(x.data(), 1, x.data());
  EXPECT_THAT(x, testing::ElementsAre(2.0f, -102.0f));
}

TEST(ObservationNorm, IsOffByDefault) {
  const ObservationNorm norm(ModelConfig(), 2);
  EXPECT_FALSE(norm.is_on());
  EXPECT_EQ(ObservationNorm::Bytes(ModelConfig(), 2), 0);
}

}  // namespace
}  // namespace lzero::packed::observation_norm_test
