#include "lzero/base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <set>
#include <vector>

namespace lzero::rng_test {
namespace {

using ::testing::ElementsAre;

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments MomentsOf(int count, const std::function<double()>& draw) {
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < count; ++i) {
    const double value = draw();
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  return {mean, squares / count - mean * mean};
}

// Random123's published known answers (its file kat_vectors, lines "philox4x32 10").
TEST(PhiloxTest, PublishedKnownAnswers) {
  EXPECT_THAT(ComputePhilox(0, 0, 0).word,
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_THAT(ComputePhilox(ones, ones, ones).word,
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(ComputePhilox(0x299f31d0a4093822u, 0x85a308d3243f6a88u, 0x0370734413198a2eu).word,
              ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

// The numbers below come from an independent implementation of Philox and FNV-1a in Python.
TEST(RngTest, PureFunctionsOfTheirArguments) {
  EXPECT_EQ(StreamKey(42, "collect", 3), 0x9b1d731daf7f8955u);
  EXPECT_EQ(UniformAt(7, 5, 6), 0x1.a136739068de8p-1);
}

TEST(RngTest, AStreamReadsBlocksInOrder) {
  RandomStream words(0);
  for (const uint32_t expected :
       {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u, 0xf8e4cca4u}) {
    EXPECT_EQ(words.NextUint32(), expected);
  }
  EXPECT_EQ(RandomStream(0).NextUint64(), 0x6627e8d5e169c58du);
  EXPECT_EQ(RandomStream(0).Uniform(), 0x1.989fa35785a70p-2);
}

TEST(RngTest, NamesIndicesAndSeedsGiveOtherStreams) {
  std::set<uint64_t> keys;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const char* name : {"collect", "evaluate", "replay", ""}) {
      for (uint64_t index = 0; index < 10; ++index) keys.insert(StreamKey(seed, name, index));
    }
  }
  EXPECT_EQ(keys.size(), 400u);
  EXPECT_EQ(RandomStream(3, "replay").state().key, StreamKey(3, "replay", 0));
}

TEST(RngTest, StateRestoresTheStreamAtAnyWord) {
  for (int words_before = 0; words_before < 9; ++words_before) {
    RandomStream stream(5, "save");
    for (int i = 0; i < words_before; ++i) stream.NextUint32();
    const RandomStream::State state = stream.state();
    EXPECT_EQ(state.position, static_cast<uint64_t>(words_before));
    std::vector<uint32_t> expected(6), found(6);
    for (uint32_t& word : expected) word = stream.NextUint32();
    RandomStream restored(99);
    restored.NextUint32();  // its cached block must not survive
    restored.set_state(state);
    for (uint32_t& word : found) word = restored.NextUint32();
    EXPECT_EQ(found, expected) << words_before;
    EXPECT_EQ(restored.state().position, stream.state().position);
  }
}

TEST(RngTest, UniformIsInRangeWithItsMoments) {
  RandomStream stream(1);
  const Moments moments = MomentsOf(100'000, [&] {
    const double value = stream.Uniform();
    EXPECT_TRUE(value >= 0.0 && value < 1.0);
    return value;
  });
  EXPECT_NEAR(moments.mean, 0.5, 0.004);
  EXPECT_NEAR(moments.variance, 1.0 / 12.0, 0.002);
}

TEST(RngTest, UniformIntIsUniform) {
  constexpr int kLimit = 10, kDraws = 100'000;
  RandomStream stream(2);
  std::array<int, kLimit> counts = {};
  for (int i = 0; i < kDraws; ++i) {
    const int64_t value = stream.UniformInt(kLimit);
    ASSERT_TRUE(value >= 0 && value < kLimit);
    ++counts[value];
  }
  double chi_square = 0.0;
  for (const int count : counts) {
    const double expected = static_cast<double>(kDraws) / kLimit;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 27.88);  // 99.9 % point with 9 degrees of freedom
  EXPECT_GT(chi_square, 1.15);   // 0.1 % point: nor too even
}

TEST(RngTest, UniformIntRejectsToStayUniformForHugeLimits) {
  // 2^64 mod limit of the 2^64 values are drawn again; plain modulo would favour the lower third.
  constexpr int64_t kLimit = int64_t{3} << 61;
  RandomStream stream(3);
  const Moments moments = MomentsOf(20'000, [&] {
    const int64_t value = stream.UniformInt(kLimit);
    EXPECT_TRUE(value >= 0 && value < kLimit);
    return static_cast<double>(value) / static_cast<double>(kLimit);
  });
  EXPECT_NEAR(moments.mean, 0.5, 0.01);
  EXPECT_EQ(stream.UniformInt(1), 0);
}

TEST(RngTest, NormalMoments) {
  RandomStream stream(4);
  double fourth = 0.0;
  const Moments moments = MomentsOf(100'000, [&] {
    const double value = stream.Normal();
    fourth += value * value * value * value / 100'000;
    return value;
  });
  EXPECT_NEAR(moments.mean, 0.0, 0.015);
  EXPECT_NEAR(moments.variance, 1.0, 0.02);
  EXPECT_NEAR(fourth, 3.0, 0.15);
}

TEST(RngTest, GammaMoments) {
  for (const double shape : {0.3, 1.0, 2.5, 20.0}) {
    RandomStream stream(5, "gamma", static_cast<uint64_t>(shape * 10));
    const Moments moments = MomentsOf(100'000, [&] { return stream.Gamma(shape); });
    EXPECT_NEAR(moments.mean, shape, 0.02 * shape) << shape;  // both equal the shape
    EXPECT_NEAR(moments.variance, shape, 0.06 * shape) << shape;
  }
}

TEST(RngTest, GumbelMoments) {
  RandomStream stream(6);
  const Moments moments = MomentsOf(100'000, [&] { return stream.Gumbel(); });
  EXPECT_NEAR(moments.mean, 0.5772156649, 0.015);  // Euler's constant
  EXPECT_NEAR(moments.variance, M_PI * M_PI / 6.0, 0.05);
}

TEST(RngTest, DirichletMoments) {
  // Each coordinate: mean 1/K, variance (K - 1) / (K^2 (K alpha + 1)).
  constexpr int kSize = 4;
  constexpr double kAlpha = 0.3;
  RandomStream stream(7);
  std::array<double, kSize> sample;
  for (int coordinate = 0; coordinate < kSize; ++coordinate) {
    const Moments moments = MomentsOf(30'000, [&] {
      stream.Dirichlet(kAlpha, absl::MakeSpan(sample));
      EXPECT_NEAR(std::accumulate(sample.begin(), sample.end(), 0.0), 1.0, 1e-12);
      return sample[coordinate];
    });
    EXPECT_NEAR(moments.mean, 0.25, 0.01);
    EXPECT_NEAR(moments.variance, 3.0 / (16.0 * (4.0 * kAlpha + 1.0)), 0.004);
  }
}

TEST(RngTest, DirichletOfTinyAlphaIsACorner) {
  RandomStream stream(8);
  std::array<double, 3> sample;
  for (int i = 0; i < 50; ++i) {
    stream.Dirichlet(1e-6, absl::MakeSpan(sample));
    EXPECT_NEAR(std::accumulate(sample.begin(), sample.end(), 0.0), 1.0, 1e-12);
    for (const double value : sample) EXPECT_TRUE(value >= 0.0 && value <= 1.0);
  }
}

TEST(RngTest, CategoricalFollowsItsWeights) {
  RandomStream stream(9);
  const std::vector<double> weights = {0.0, 3.0, 0.0, 1.0, 0.0};
  std::array<int, 5> counts = {};
  for (int i = 0; i < 40'000; ++i) ++counts[stream.Categorical(weights)];
  EXPECT_EQ(counts[0] + counts[2] + counts[4], 0);
  EXPECT_NEAR(counts[1] / 40'000.0, 0.75, 0.01);
  EXPECT_EQ(stream.Categorical(std::vector<double>{1e-300}), 0);
}

TEST(RngDeathTest, RefusesWhatHasNoDistribution) {
  RandomStream stream(10);
  EXPECT_DEATH(stream.UniformInt(0), "limit > 0 got 0");
  EXPECT_DEATH(stream.Gamma(0.0), "shape > 0 got 0");
  EXPECT_DEATH(stream.Categorical(std::vector<double>{0.0, 0.0}), "weights sum to 0");
  EXPECT_DEATH(stream.Categorical({}), "weights sum to 0");
}

}  // namespace
}  // namespace lzero::rng_test
