// A step against the reference, for many shapes. Batches, threads and errors are in
// packed_network_batch_test.cc.
#include "lzero/family/unizero/packed/packed_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/family/unizero/packed/random_network.h"
#include "tests/kernels/kernel_testing.h"
#include "tests/support/packed_reference.h"

namespace lzero::packed::packed_network_test {
namespace {

class PackedNetworkTest : public InstructionSetTest {};
LZ_TEST_ALL_INSTRUCTION_SETS(PackedNetworkTest);

// Errors of the outputs of one row: of vectors relative to their largest number, of decoded scalars
// relative to 1 + |scalar|.
struct Errors {
  double scalars = 0.0, prior_logits = 0.0, tokens = 0.0;
};

Errors ErrorsOf(const std::vector<float>& outputs, const reference::StepOutputs& expected) {
  const auto scalar_error = [](double value, double right) {
    const double error = std::abs(value - right) / (1.0 + std::abs(right));
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
  };
  const size_t num_actions = expected.prior_logits.size();
  return {
      std::max(scalar_error(outputs[0], expected.reward), scalar_error(outputs[1], expected.value)),
      RelativeError(outputs.data() + 2, expected.prior_logits, 1.0),
      RelativeError(outputs.data() + 2 + num_actions, expected.tokens, 1.0)};
}

// The largest errors over all rows of one step.
Errors StepErrors(const RandomNetwork& model, const NetworkOptions& options, uint32_t seed) {
  PackedNetwork network(options);
  network.Load(model.weights());
  StepMemory memory(options.shape, options.max_batch, seed);
  EXPECT_TRUE(network.Step(memory.arrays(), options.max_batch).ok());
  Errors worst;
  for (int64_t row = 0; row < options.max_batch; ++row) {
    const auto place = static_cast<size_t>(row);
    const Errors errors = ErrorsOf(
        memory.Outputs(row), reference::Step(options.shape, model.weights(), memory.context(row),
                                             memory.lengths[place], memory.actions[place]));
    worst.scalars = std::max(worst.scalars, errors.scalars);
    worst.prior_logits = std::max(worst.prior_logits, errors.prior_logits);
    worst.tokens = std::max(worst.tokens, errors.tokens);
  }
  return worst;
}

void ExpectClose(const Errors& errors, double tolerance, const std::string& what) {
  EXPECT_LE(errors.scalars, tolerance) << what;
  EXPECT_LE(errors.prior_logits, tolerance) << what;
  EXPECT_LE(errors.tokens, tolerance) << what;
}

TEST_P(PackedNetworkTest, AgreesWithTheReferenceForRandomShapes) {
  std::mt19937 random(1);
  for (uint32_t seed = 0; seed < 10; ++seed) {
    NetworkOptions options;
    options.shape = RandomShape(&random);
    options.max_batch = RandomInt(&random, 1, 6);
    options.num_threads = static_cast<int>(RandomInt(&random, 1, 3));
    const RandomNetwork model(options.shape, seed);
    ExpectClose(StepErrors(model, options, seed), 1e-5, Describe(options.shape));
  }
}

TEST_P(PackedNetworkTest, AgreesWithTheReferenceForAllContextLengths) {
  for (int64_t context_length = 1; context_length <= 9; ++context_length) {
    NetworkOptions options;
    options.shape = SmallShape();
    options.shape.context_length = context_length;
    options.max_batch = context_length;
    const RandomNetwork model(options.shape, 7);
    ExpectClose(StepErrors(model, options, 8), 1e-5, Describe(options.shape));
  }
}

// More rows than go through the model at once.
TEST_P(PackedNetworkTest, AgreesWithTheReferenceForLargeBatches) {
  NetworkOptions options;
  options.shape = SmallShape();
  options.shape.embed_dim = 8;
  options.shape.num_layers = 1;
  options.shape.latent_norm = LatentNorm::kSimNorm;
  options.max_batch = 70;
  const RandomNetwork model(options.shape, 9);
  ExpectClose(StepErrors(model, options, 10), 1e-5, "one thread");
  options.num_threads = 2;
  ExpectClose(StepErrors(model, options, 11), 1e-5, "two threads");
}

TEST_P(PackedNetworkTest, AgreesWithTheReferenceWhenThreadsShareColumns) {
  NetworkOptions options;
  options.shape = SmallShape();
  options.shape.embed_dim = 264;
  options.shape.num_heads = 4;
  options.shape.num_layers = 1;
  options.max_batch = 1;
  options.num_threads = 2;
  const RandomNetwork model(options.shape, 12);
  ExpectClose(StepErrors(model, options, 13), 1e-5, "fp32");
}

// bf16 keeps 8 bits of each weight and input: relative errors of 2^-9 that add up over the layers.
TEST_P(PackedNetworkTest, StaysNearTheReferenceWithBf16Weights) {
  std::mt19937 random(2);
  for (uint32_t seed = 0; seed < 8; ++seed) {
    NetworkOptions options;
    options.shape = RandomShape(&random);
    options.shape.head_dim = 4 * options.shape.embed_dim;
    options.type = WeightType::kBf16;
    options.max_batch = RandomInt(&random, 1, 5);
    const RandomNetwork model(options.shape, seed);
    const Errors errors = StepErrors(model, options, seed);
    // Latents of sim_norm vary little, and the norm behind them enlarges their errors. An error of
    // logits moves a decoded scalar by a share of all atoms.
    const double tolerance = options.shape.latent_norm == LatentNorm::kLayerNorm ? 2e-2 : 6e-2;
    EXPECT_LE(errors.scalars, 8e-2) << Describe(options.shape);
    EXPECT_LE(errors.prior_logits, tolerance) << Describe(options.shape);
    EXPECT_LE(errors.tokens, tolerance) << Describe(options.shape);
    // That it is bf16 at all.
    EXPECT_GE(errors.tokens, 1e-4) << Describe(options.shape);
  }
}

// Sums differ in their last bits, which now and then rounds an activation the other way.
TEST_P(PackedNetworkTest, Bf16IsNearlyTheSameOnEveryInstructionSet) {
  NetworkOptions options;
  options.shape = SmallShape();
  options.type = WeightType::kBf16;
  options.max_batch = 8;
  const RandomNetwork model(options.shape, 14);
  StepMemory own(options.shape, options.max_batch, 15), scalar(options.shape, 8, 15);
  PackedNetwork network(options);
  network.Load(model.weights());
  ASSERT_TRUE(network.Step(own.arrays(), options.max_batch).ok());
  const ScopedInstructionSet smallest(InstructionSet::kScalar);
  ASSERT_TRUE(network.Step(scalar.arrays(), options.max_batch).ok());
  for (int64_t row = 0; row < options.max_batch; ++row) {
    const std::vector<float> expected = scalar.Outputs(row);
    EXPECT_LE(RelativeError(own.Outputs(row).data(), {expected.begin(), expected.end()}, 1.0), 3e-3)
        << row;
  }
}

TEST(PackedNetworkShapeTest, ThreadsShareColumnsOnlyOfWideModels) {
  for (const int64_t embed_dim : {256, 258}) {
    for (const int num_threads : {1, 2}) {
      NetworkOptions options;
      options.shape = SmallShape();
      options.shape.embed_dim = embed_dim;
      options.shape.num_layers = 1;
      options.max_batch = 1;
      options.num_threads = num_threads;
      const PackedNetwork network(options);
      EXPECT_EQ(network.shares_columns(), embed_dim > 256 && num_threads > 1);
      EXPECT_EQ(network.shape().embed_dim, embed_dim);
    }
  }
}

}  // namespace
}  // namespace lzero::packed::packed_network_test
