#include "lzero/family/unizero/packed/token_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "lzero/kernels/spin_team.h"
#include "tests/family/unizero/packed/random_network.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/counted_new.h"
#include "tests/support/packed_reference.h"

namespace lzero::packed::token_pass_test {
namespace {

class TokenPassTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(TokenPassTest);

// A packed random model with the scratch of `num_members` threads.
struct PackedModel {
  PackedModel(const NetworkShape& shape, WeightType type, int64_t max_rows, int num_members,
              uint32_t seed)
      : model(shape, seed),
        weights(model.shape(), type),
        pass(model.shape(), weights),
        scratch(model.shape(), type, max_rows, num_members),
        team(num_members) {
    weights.Pack(model.weights());
  }

  // Calls body(share) on every member.
  template <typename Body>
  void Run(const Body& body) {
    team.Run(team.num_members(), [&](int member) {
      body(Share{member, team.num_members(), &team});
    });
  }

  RandomNetwork model;
  PackedWeights weights;
  TokenPass pass;
  TokenScratch scratch;
  SpinTeam team;
};

// Tokens of one sequence as rows of one call: each sees itself and the W - 1 before it.
struct Sequence {
  Sequence(PackedModel* packed, int64_t num_tokens, std::mt19937* random)
      : x(num_tokens, packed->scratch.x_stride),
        tokens(static_cast<size_t>(num_tokens * packed->model.shape().token_size()), kNan) {
    x.FillRandom(random, -1.7f, 1.7f);
    const NetworkShape& shape = packed->model.shape();
    for (int64_t r = 0; r < num_tokens; ++r) {
      std::copy_n(x.row(r), shape.embed_dim, packed->scratch.x.data() + r * x.stride());
      const int64_t size = std::min(r + 1, shape.context_length);
      packed->scratch.window_sizes[static_cast<size_t>(r)] = static_cast<int32_t>(size);
      for (int64_t j = 0; j < size; ++j) {
        packed->scratch.windows[static_cast<size_t>(r * shape.context_length + j)] =
            tokens.data() + (r - size + 1 + j) * shape.token_size();
      }
      packed->scratch.tokens[static_cast<size_t>(r)] = tokens.data() + r * shape.token_size();
    }
  }

  Rows x;
  std::vector<float> tokens;
};

// A whole sequence in one call gives what the reference gives token by token.
TEST_P(TokenPassTest, RunsASequenceThroughAllBlocks) {
  constexpr int64_t kTokens = 11;
  NetworkShape shape = SmallShape();
  shape.num_layers = 3;
  std::mt19937 random(1);
  PackedModel packed(shape, WeightType::kFp32, kTokens, 1, 1);
  const Sequence sequence(&packed, kTokens, &random);
  packed.Run([&](const Share& share) { packed.pass.RunBlocks(share, kTokens, &packed.scratch); });
  std::vector<reference::Token> tokens;
  for (int64_t r = 0; r < kTokens; ++r) {
    const reference::Row expected =
        reference::RunBlocks(shape, packed.model.weights(),
                             reference::RowOf(sequence.x.row(r), shape.embed_dim), &tokens);
    const float* x = packed.scratch.x.data() + r * packed.scratch.x_stride;
    EXPECT_LE(RelativeError(x, expected, 1.0), 1e-5) << r;
    const float* token = sequence.tokens.data() + r * shape.token_size();
    EXPECT_LE(RelativeError(token, reference::Flat(tokens.back()), 1.0), 1e-5) << r;
  }
}

TEST_P(TokenPassTest, ATeamGivesTheBitsOfOneThread) {
  constexpr int64_t kTokens = 9;
  const NetworkShape shape = SmallShape();
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    std::vector<std::vector<float>> outputs;
    for (const int num_members : {1, 2, 3, 4}) {
      std::mt19937 random(2);
      PackedModel packed(shape, type, kTokens, num_members, 2);
      const Sequence sequence(&packed, kTokens, &random);
      std::vector<float> rewards(kTokens, kNan);
      packed.Run([&](const Share& share) {
        packed.pass.RunBlocks(share, kTokens, &packed.scratch);
        packed.pass.NormalizeOutputs(share, kTokens, &packed.scratch);
        packed.pass.RunScalarHead(share, packed.weights.reward(), shape.reward_support, kTokens,
                                  &packed.scratch, rewards.data());
        packed.pass.RunHead(share, packed.weights.latent(), kTokens, &packed.scratch);
        packed.pass.NormalizeLatents(share, kTokens, &packed.scratch);
      });
      std::vector<float> all = sequence.tokens;
      all.insert(all.end(), rewards.begin(), rewards.end());
      for (int64_t r = 0; r < kTokens; ++r) {
        const float* latent = packed.scratch.x.data() + r * packed.scratch.x_stride;
        all.insert(all.end(), latent, latent + shape.embed_dim);
      }
      outputs.push_back(all);
      ASSERT_TRUE(SameBits(all.data(), outputs[0].data(), static_cast<int64_t>(all.size())))
          << num_members << " members";
    }
  }
}

TEST_P(TokenPassTest, RunsHeadsAndNormalizesLatents) {
  for (const auto norm : {LatentNorm::kLayerNorm, LatentNorm::kSimNorm}) {
    constexpr int64_t kRows = 5;
    NetworkShape shape = SmallShape();
    shape.latent_norm = norm;
    std::mt19937 random(3);
    PackedModel packed(shape, WeightType::kFp32, kRows, 1, 3);
    TokenScratch& scratch = packed.scratch;
    Rows x(kRows, scratch.x_stride);
    x.FillRandom(&random, -2.0f, 2.0f);
    std::copy_n(x.row(0), kRows * x.stride(), scratch.x.data());
    packed.pass.NormalizeOutputs({}, kRows, &scratch);
    std::vector<float> values(kRows, kNan);
    packed.pass.RunScalarHead({}, packed.weights.value(), shape.value_support, kRows, &scratch,
                              values.data());
    packed.pass.RunHead({}, packed.weights.policy(), kRows, &scratch);
    const NetworkWeights& weights = packed.model.weights();
    const auto row = [&](int64_t r) { return reference::RowOf(x.row(r), shape.embed_dim); };
    for (int64_t r = 0; r < kRows; ++r) {
      const float* logits = scratch.outputs.data() + r * scratch.wide_stride;
      EXPECT_LE(RelativeError(logits, reference::RunHead(weights.policy, row(r)), 1.0), 1e-5);
      const double value =
          reference::HeadValue(shape.value_support, reference::RunHead(weights.value, row(r)));
      EXPECT_NEAR(values[static_cast<size_t>(r)], value, 1e-5 * (1.0 + std::abs(value)));
    }
    packed.pass.RunHead({}, packed.weights.latent(), kRows, &scratch);
    packed.pass.NormalizeLatents({}, kRows, &scratch);
    for (int64_t r = 0; r < kRows; ++r) {
      const reference::Row latent =
          reference::Latent(shape, reference::RunHead(weights.latent, row(r)));
      EXPECT_LE(RelativeError(scratch.x.data() + r * scratch.x_stride, latent, 0.1), 1e-5);
    }
  }
}

TEST_P(TokenPassTest, EncodesObservations) {
  std::mt19937 random(4);
  for (const int64_t encoder_layers : {0, 1, 2, 3}) {
    for (const int64_t observation_size : {1, 4, 17, 130}) {
      for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
        const auto num_rows = RandomInt(&random, 1, 6);
        NetworkShape shape = SmallShape();
        shape.latent_norm = encoder_layers % 2 == 0 ? LatentNorm::kLayerNorm : LatentNorm::kSimNorm;
        shape.observation_size = observation_size;
        shape.encoder_layers = encoder_layers;
        shape.encoder_width = RandomInt(&random, 3, 110);  // also wider than 4 E
        const int num_members = static_cast<int>(RandomInt(&random, 1, 3));
        PackedModel packed(shape, type, num_rows, num_members, 5);
        FloatsAtTheEnd observations(num_rows * observation_size);
        for (int64_t i = 0; i < num_rows * observation_size; ++i) {
          observations.first()[i] = RandomNumber(&random, -2.0f, 2.0f);
        }
        packed.Run([&](const Share& share) {
          packed.pass.Encode(share, observations.first(), num_rows, &packed.scratch);
        });
        const double tolerance = type == WeightType::kFp32 ? 1e-5 : 3e-2;
        for (int64_t r = 0; r < num_rows; ++r) {
          const float* observation = observations.first() + r * observation_size;
          const reference::Row expected = reference::Encode(
              shape, packed.model.weights(), reference::RowOf(observation, observation_size));
          const float* latent = packed.scratch.x.data() + r * packed.scratch.x_stride;
          ASSERT_LE(RelativeError(latent, expected, 0.1), tolerance)
              << encoder_layers << " layers of " << shape.encoder_width << " from "
              << observation_size;
        }
      }
    }
  }
}

TEST(TokenPassDeathTest, RefusesToEncodeWithoutAnEncoder) {
  PackedModel packed(SmallShape(), WeightType::kFp32, 1, 1, 6);
  const float observation = 0.0f;
  EXPECT_DEATH(packed.pass.Encode({}, &observation, 1, &packed.scratch),
               "the encoder is not packed");
}

TEST(TokenScratchTest, CountsItsBytes) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    for (const int num_members : {1, 3}) {
      NetworkShape shape = SmallShape();
      shape.observation_size = 700;
      shape.encoder_layers = 1;
      shape.encoder_width = 200;
      const int64_t bytes = AllocatedBytes(), allocations = NumAllocations();
      const TokenScratch scratch(shape, type, 13, num_members);
      const int64_t counted = AllocatedBytes() - bytes;
      const int64_t most_beside = 64 * (NumAllocations() - allocations) + 500;
      const int64_t expected = TokenScratch::Bytes(shape, type, 13, num_members);
      EXPECT_GE(counted, expected);
      EXPECT_LE(counted, expected + most_beside);
    }
  }
}

TEST(TokenPassTableTest, CountsItsBytes) {
  NetworkShape shape = SmallShape();
  shape.context_length = 40;
  const PackedWeights weights(shape, WeightType::kFp32);
  const int64_t bytes = AllocatedBytes();
  const TokenPass pass(shape, weights);
  // 40 rows of 16 cosines and 16 sines: heads of 12 are padded.
  EXPECT_EQ(AllocatedBytes() - bytes, 40 * 32 * 4);
  EXPECT_EQ(TokenPass::Bytes(shape), 40 * 32 * 4);
}

}  // namespace
}  // namespace lzero::packed::token_pass_test
