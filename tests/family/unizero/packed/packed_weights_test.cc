#include "lzero/family/unizero/packed/packed_weights.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "tests/family/unizero/packed/random_network.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/counted_new.h"

namespace lzero::packed::packed_weights_test {
namespace {

NetworkShape ShapeWithEncoder(int64_t encoder_layers) {
  NetworkShape shape = SmallShape();
  shape.observation_size = 7;
  shape.encoder_width = 18;
  shape.encoder_layers = encoder_layers;
  return shape;
}

// What the matrix keeps is the layer with the norm before it folded in.
void ExpectPacked(const PackedMatrix& matrix, const LinearWeights& layer, const NormWeights* norm) {
  ASSERT_EQ(matrix.in() * matrix.out(), static_cast<int64_t>(layer.weight.size()));
  for (int64_t n = 0; n < matrix.out(); ++n) {
    double bias = layer.bias[static_cast<size_t>(n)];
    for (int64_t k = 0; k < matrix.in(); ++k) {
      double weight = layer.weight[static_cast<size_t>(n * matrix.in() + k)];
      if (norm != nullptr) {
        bias += weight * static_cast<double>(norm->bias[static_cast<size_t>(k)]);
        weight *= static_cast<double>(norm->weight[static_cast<size_t>(k)]);
      }
      const double tolerance = matrix.type() == WeightType::kFp32 ? 1e-7 : 1.0 / 256;
      ASSERT_NEAR(KeptWeight(matrix, n, k), weight, tolerance * std::abs(weight)) << n << " " << k;
    }
    ASSERT_NEAR(matrix.bias()[n], bias, 1e-6) << n;
  }
}

void ExpectSame(const AlignedArray<float>& array, absl::Span<const float> numbers) {
  ASSERT_EQ(array.size(), static_cast<int64_t>(numbers.size()));
  EXPECT_TRUE(SameBits(array.data(), numbers.data(), array.size()));
}

void ExpectPackedHead(const PackedHead& head, const HeadWeights& weights) {
  ExpectPacked(head.first, weights.first, &weights.norm_in);
  ExpectSame(head.norm_weight, weights.norm_hidden.weight);
  ExpectSame(head.norm_bias, weights.norm_hidden.bias);
  ExpectPacked(head.last, weights.last, nullptr);
}

void ExpectAllPacked(const PackedWeights& packed, const NetworkWeights& weights) {
  ASSERT_EQ(packed.blocks().size(), weights.blocks.size());
  for (size_t i = 0; i < weights.blocks.size(); ++i) {
    const PackedBlock& block = packed.blocks()[i];
    const BlockWeights& expected = weights.blocks[i];
    ExpectPacked(block.query_key_value, expected.query_key_value, &expected.norm_attention);
    ExpectPacked(block.projection, expected.projection, nullptr);
    ExpectPacked(block.expand, expected.expand, &expected.norm_feed_forward);
    ExpectPacked(block.contract, expected.contract, nullptr);
  }
  ExpectPackedHead(packed.policy(), weights.policy);
  ExpectPackedHead(packed.value(), weights.value);
  ExpectPackedHead(packed.reward(), weights.reward);
  ExpectPackedHead(packed.latent(), weights.latent);
  EXPECT_TRUE(SameBits(packed.action_embedding(), weights.action_embedding.data(),
                       static_cast<int64_t>(weights.action_embedding.size())));
  ASSERT_EQ(packed.encoder().hidden.size(), weights.encoder.hidden.size());
  for (size_t i = 0; i < weights.encoder.hidden.size(); ++i) {
    ExpectPacked(packed.encoder().hidden[i], weights.encoder.hidden[i], nullptr);
    ExpectSame(packed.encoder().norm_weights[i], weights.encoder.norms[i].weight);
    ExpectSame(packed.encoder().norm_biases[i], weights.encoder.norms[i].bias);
  }
  ASSERT_EQ(packed.encoder().last.has_value(), !weights.encoder.last.weight.empty());
  if (packed.encoder().last.has_value()) {
    ExpectPacked(*packed.encoder().last, weights.encoder.last, nullptr);
  }
}

void AddPlaces(const PackedMatrix& matrix, std::vector<const void*>* places) {
  places->insert(places->end(), {matrix.bias(), matrix.panels(), matrix.half_panels()});
}

// Where all weights lie.
std::vector<const void*> Places(const PackedWeights& weights) {
  std::vector<const void*> places = {weights.action_embedding()};
  for (const PackedBlock& block : weights.blocks()) {
    AddPlaces(block.query_key_value, &places);
    AddPlaces(block.projection, &places);
    AddPlaces(block.expand, &places);
    AddPlaces(block.contract, &places);
  }
  for (const PackedHead* head :
       {&weights.policy(), &weights.value(), &weights.reward(), &weights.latent()}) {
    AddPlaces(head->first, &places);
    AddPlaces(head->last, &places);
    places.insert(places.end(), {head->norm_weight.data(), head->norm_bias.data()});
  }
  for (size_t i = 0; i < weights.encoder().hidden.size(); ++i) {
    AddPlaces(weights.encoder().hidden[i], &places);
    places.push_back(weights.encoder().norm_weights[i].data());
    places.push_back(weights.encoder().norm_biases[i].data());
  }
  if (weights.encoder().last.has_value()) AddPlaces(*weights.encoder().last, &places);
  return places;
}

TEST(PackedWeightsTest, KeepAllWeightsWithNormsFoldedIn) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    for (const int64_t encoder_layers : {0, 1, 3}) {
      const RandomNetwork model(ShapeWithEncoder(encoder_layers), 1);
      PackedWeights packed(model.shape(), type);
      packed.Pack(model.weights());
      ExpectAllPacked(packed, model.weights());
    }
  }
}

TEST(PackedWeightsTest, HaveNoEncoderWithoutObservations) {
  const RandomNetwork model(SmallShape(), 2);
  PackedWeights packed(model.shape(), WeightType::kFp32);
  packed.Pack(model.weights());
  EXPECT_FALSE(packed.encoder().last.has_value());
  ExpectAllPacked(packed, model.weights());
}

TEST(PackedWeightsTest, PackAgainAtTheSameAddressesWithoutAllocation) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    const RandomNetwork first(ShapeWithEncoder(2), 3), second(ShapeWithEncoder(2), 4);
    PackedWeights packed(first.shape(), type);
    packed.Pack(first.weights());
    const std::vector<const void*> places = Places(packed);
    const int64_t allocations = NumAllocations();
    packed.Pack(second.weights());
    EXPECT_EQ(NumAllocations(), allocations);
    EXPECT_EQ(Places(packed), places);
    ExpectAllPacked(packed, second.weights());
  }
}

TEST(PackedWeightsTest, LieAtPlacesOfTheirOwn) {
  const PackedWeights packed(ShapeWithEncoder(2), WeightType::kFp32);
  const std::vector<const void*> places = Places(packed);
  std::set<const void*> distinct(places.begin(), places.end());
  distinct.erase(nullptr);  // fp32 weights have no bf16 panels
  // 2 blocks, 4 heads and the encoder have a bias and panels of 8 + 8 + 3 matrices, weight and bias
  // of 4 + 2 norms, and the action embedding.
  EXPECT_EQ(distinct.size(), 2u * (8 + 8 + 3) + 2 * (4 + 2) + 1);
}

// Bytes() counts weights; beside them come the rounding of each array to a register and the vectors
// of blocks and layers.
TEST(PackedWeightsTest, CountTheirBytes) {
  for (const auto type : {WeightType::kFp32, WeightType::kBf16}) {
    for (const bool has_encoder : {false, true}) {
      const NetworkShape shape = has_encoder ? ShapeWithEncoder(2) : SmallShape();
      const int64_t bytes = AllocatedBytes(), allocations = NumAllocations();
      const PackedWeights packed(shape, type);
      const int64_t counted = AllocatedBytes() - bytes;
      const int64_t most_beside = 64 * (NumAllocations() - allocations) + 6000;
      EXPECT_GE(counted, PackedWeights::Bytes(shape, type));
      EXPECT_LE(counted, PackedWeights::Bytes(shape, type) + most_beside);
    }
  }
}

TEST(PackedWeightsTest, CountTheirBytesByHand) {
  NetworkShape shape;
  shape.embed_dim = 16;
  shape.num_heads = 1;
  shape.num_layers = 1;
  shape.context_length = 2;
  shape.head_dim = 16;
  shape.num_actions = 3;
  shape.value_support = shape.reward_support = SqueezedSupport(5);
  // Blocks 16 * 16 * (3 + 1 + 4 + 4) weights and 16 * (3 + 1 + 4 + 1) biases; 4 heads of two
  // matrices of 16 * 16 weights (outputs are padded to 16) and 16 biases, and 2 * 16 of a norm; an
  // embedding of 3 * 16.
  const int64_t floats = 3072 + 144 + 4 * (2 * (256 + 16) + 32) + 48;
  EXPECT_EQ(PackedWeights::Bytes(shape, WeightType::kFp32), 4 * floats);
  const int64_t half_weights = 3072 + 4 * 2 * 256;
  EXPECT_EQ(PackedWeights::Bytes(shape, WeightType::kBf16), 4 * floats - 2 * half_weights);
}

TEST(PackedWeightsDeathTest, RefuseWeightsOfAnotherShape) {
  PackedWeights packed(ShapeWithEncoder(2), WeightType::kFp32);
  const auto pack = [&](const auto& change) {
    RandomNetwork model(ShapeWithEncoder(2), 5);
    change(&model.weights());
    packed.Pack(model.weights());
  };
  EXPECT_DEATH(pack([](NetworkWeights* weights) { weights->blocks.pop_back(); }), "1 blocks for 2");
  EXPECT_DEATH(pack([](NetworkWeights* weights) { weights->action_embedding.remove_suffix(1); }),
               "119 numbers for 120");
  EXPECT_DEATH(pack([](NetworkWeights* weights) { weights->encoder.hidden.pop_back(); }),
               "1 encoder layers for 2");
  EXPECT_DEATH(pack([](NetworkWeights* weights) { weights->value.last = weights->policy.last; }),
               "200 weights and 5 biases for 40 to 21");
  EXPECT_DEATH(
      pack([](NetworkWeights* weights) { weights->latent.norm_hidden.bias.remove_suffix(3); }),
      "37 numbers for 40");
}

}  // namespace
}  // namespace lzero::packed::packed_weights_test
