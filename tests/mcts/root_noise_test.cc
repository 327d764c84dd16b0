#include "lzero/mcts/root_noise.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::root_noise_test {
namespace {

class RootNoiseTest : public testing::Test {
 protected:
  std::vector<double> Compute(int b = 0) {
    std::vector<double> noise(4, -1.0);
    ComputeRootNoise(config_, request_, EnvId(0), b, mask_, absl::MakeSpan(noise));
    return noise;
  }

  SearchConfig config_;
  SearchRequest request_;
  std::vector<uint8_t> mask_ = {1, 0, 1, 1};
};

TEST_F(RootNoiseTest, OnlyCollectingAndGivenNoiseCount) {
  EXPECT_FALSE(HasRootNoise(config_, request_));
  const std::vector<float> given(4, 0.0f);
  request_.root_gumbel = given;
  EXPECT_FALSE(HasRootNoise(config_, request_)) << "PUCT has no Gumbel noise";
  config_.policy = SearchPolicy::kGumbel;
  EXPECT_TRUE(HasRootNoise(config_, request_));
  request_.root_gumbel = {};
  EXPECT_FALSE(HasRootNoise(config_, request_));
  request_.add_noise = true;
  EXPECT_TRUE(HasRootNoise(config_, request_));
}

TEST_F(RootNoiseTest, DirichletHasOneNumberForEachLegalAction) {
  const auto noise = Compute();
  EXPECT_NEAR(std::accumulate(noise.begin(), noise.begin() + 3, 0.0), 1.0, 1e-12);
  EXPECT_EQ(noise[3], -1.0) << "left as it was";
  EXPECT_EQ(noise, Compute()) << "a pure function of seed, search and environment";
  request_.search_index = 1;
  EXPECT_NE(noise, Compute());
}

TEST_F(RootNoiseTest, GumbelIsScaledOrGiven) {
  config_.policy = SearchPolicy::kGumbel;
  const auto noise = Compute();
  config_.gumbel_scale = 2.0;
  const auto scaled = Compute();
  request_.gumbel_factor = 0.25;
  const auto halved = Compute();
  for (size_t a = 0; a < 4; ++a) {
    EXPECT_EQ(scaled[a], 2.0 * noise[a]);
    EXPECT_EQ(halved[a], 0.5 * noise[a]);
  }
  const std::vector<float> given = {0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 2.0f, 3.0f, 4.0f};
  request_.root_gumbel = given;
  EXPECT_EQ(Compute(1), (std::vector<double>{1.0, 2.0, 3.0, 4.0}));
}

}  // namespace
}  // namespace lzero::root_noise_test
