// A whole packed model: what it writes where, by threads and batch sizes. Its numbers are those of
// its parts and, with the weights of networks, of eager engines
// (tests/family/packed_engine_parity.h).
#include "lzero/packed/latent_model.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"
#include "tests/support/counted_new.h"

namespace lzero::packed::latent_model_test {
namespace {

constexpr int64_t kEmbed = 8, kWidth = 12, kAtoms = 11;

LatentModelOptions Options(int num_threads) {
  LatentModelOptions options;
  options.model.embed_dim = kEmbed;
  options.model.head_dim = kWidth;
  options.model.encoder_layers = 0;
  options.model.support_size = kAtoms;
  options.observation_shape = {3};
  options.steps = {{"step", "table", 2}};
  options.heads = {{"policy", 4}, {"value", kAtoms, SqueezedSupport(kAtoms)}};
  options.max_rows = 7;
  options.num_threads = num_threads;
  return options;
}

DrawnWeights Weights() {
  DrawnWeights weights;
  weights.DrawLinear("encoder.last", 3, kEmbed);
  weights.DrawLinear("step.first", 2 * kEmbed, kWidth);
  weights.DrawNorm("step.norm", kWidth);
  weights.DrawLinear("step.last", kWidth, kEmbed);
  weights.Draw("table", 2 * kEmbed);
  for (const auto& [head, out] :
       {std::pair<std::string, int64_t>("policy", 4), {"value", kAtoms}}) {
    weights.DrawNorm(head + ".norm_in", kEmbed);
    weights.DrawLinear(head + ".first", kEmbed, kWidth);
    weights.DrawNorm(head + ".norm_hidden", kWidth);
    weights.DrawLinear(head + ".last", kWidth, out);
  }
  return weights;
}

// Latents, policies and values of `rows` observations and of a step from them.
std::vector<float> RunModel(int num_threads, int64_t rows, int64_t first_row) {
  LatentModel model(Options(num_threads));
  EXPECT_EQ(model.latent_size(), kEmbed);
  model.Load(Weights());
  std::mt19937 random(2);
  std::vector<float> all = RandomNumbers(&random, 7 * 3, -1, 1);
  const std::vector<float> observations(all.begin() + 3 * first_row, all.end());
  std::vector<float> latents(2 * rows * kEmbed), policies(2 * rows * 4), values(2 * rows);
  std::vector<float*> roots, children;
  std::vector<int64_t> actions;
  for (int64_t row = 0; row < rows; ++row) {
    roots.push_back(latents.data() + row * kEmbed);
    children.push_back(latents.data() + (rows + row) * kEmbed);
    actions.push_back((row + first_row) % 2);
  }
  model.Encode(observations.data(), rows, roots.data(), {{0, policies.data()}, {1, values.data()}});
  model.Step(0, roots.data(), {actions.data(), nullptr}, rows, children.data(),
             {{0, policies.data() + rows * 4}, {1, values.data() + rows}});
  latents.insert(latents.end(), policies.begin(), policies.end());
  latents.insert(latents.end(), values.begin(), values.end());
  return latents;
}

TEST(LatentModel, ThreadsChangeNoBit) {
  const std::vector<float> one = RunModel(1, 7, 0);
  for (const int threads : {2, 3, 9}) EXPECT_EQ(RunModel(threads, 7, 0), one) << threads;
}

TEST(LatentModel, ARowDependsOnItselfAlone) {
  const std::vector<float> all = RunModel(2, 7, 0), last = RunModel(2, 1, 6);
  EXPECT_TRUE(SameBits(&all[6 * kEmbed], last.data(), kEmbed));
  EXPECT_TRUE(SameBits(&all[13 * kEmbed], &last[kEmbed], kEmbed));
  EXPECT_EQ(all.back(), last.back());
}

TEST(LatentModel, LatentsAreNormalisedAndValuesAreMeansOfAtoms) {
  const std::vector<float> numbers = RunModel(1, 7, 0);
  for (size_t at = 0; at < 14 * kEmbed; at += kEmbed) {
    double sum = 0.0;
    for (size_t i = 0; i < kEmbed; ++i) sum += numbers[at + i];
    EXPECT_NEAR(sum, 0.0, 1e-4);
  }
  for (size_t i = numbers.size() - 14; i < numbers.size(); ++i) {
    EXPECT_LT(std::abs(numbers[i]), 36.0);  // h^-1(5)
    EXPECT_NE(numbers[i], 0.0f);
  }
}

// Whatever it is asked for.
class AnyWeights : public WeightSource {
 public:
  absl::Span<const float> Get(const std::string& /*name*/,
                              absl::Span<const int64_t> shape) const override {
    size_t size = 1;
    for (const int64_t length : shape) size *= static_cast<size_t>(length);
    return absl::MakeConstSpan(numbers_).first(size);
  }

 private:
  std::vector<float> numbers_ = std::vector<float>(1 << 18, 0.5f);
};

// Beside the arrays come the rounding of each to a register, names and the vectors of parts; a
// second load asks for names alone, so that no weight can have moved.
TEST(LatentModel, HoldsTheBytesThatItPlansAndLoadsInPlace) {
  const AnyWeights weights;
  for (const EncoderKind encoder :
       {EncoderKind::kVector, EncoderKind::kBoard, EncoderKind::kImage}) {
    for (const bool has_planes : {false, true}) {
      for (const int threads : {1, 3}) {
        LatentModelOptions options = Options(threads);
        options.model.encoder = encoder;
        options.model.encoder_channels = 32;
        options.model.encoder_blocks = 1;
        if (encoder != EncoderKind::kVector) options.observation_shape = {3, 20, 18};
        options.has_planes = has_planes;
        const int64_t bytes = AllocatedBytes(), allocations = NumAllocations();
        LatentModel model(options);
        model.Load(weights);
        const int64_t counted = AllocatedBytes() - bytes;
        const int64_t most_beside = 64 * (NumAllocations() - allocations) + 6000;
        EXPECT_GE(counted, LatentModel::Bytes(options));
        EXPECT_LE(counted, LatentModel::Bytes(options) + most_beside);
        const int64_t before = AllocatedBytes(), names = NumAllocations();
        model.Load(weights);
        EXPECT_LE(AllocatedBytes() - before, 40 * (NumAllocations() - names));
      }
    }
  }
  EXPECT_EQ(LatentModel::LatentSize(Options(1)), kEmbed);
}

TEST(LatentModelDeathTest, RefusesRowsThatItsTableLacks) {
  LatentModel model(Options(1));
  model.Load(Weights());
  std::vector<float> latents(2 * kEmbed);
  float* const from[] = {latents.data()};
  for (const int64_t action : {-1, 2}) {
    EXPECT_DEATH(model.Step(0, from, {&action, nullptr}, 1, from, {}), "of 2 inputs");
  }
}

}  // namespace
}  // namespace lzero::packed::latent_model_test
