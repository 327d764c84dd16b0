// AlphaZero's engine in libtorch; its numbers are held to those of the packed one
// (packed/packed_alphazero_test.cc), and those to the network (packed/alphazero_engine_test.cc).
#include "lzero/family/alphazero/alphazero_inference.h"

#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/packed/env_simulator.h"
#include "tests/family/alphazero/env_scene.h"

namespace lzero::alphazero_inference_test {
namespace {

TEST(AlphaZeroInference, IsEager) {
  const auto env = NativeFactory("tictactoe")().value();
  const auto engine =
      MakeAlphaZeroEngine(SmallOptions(env->spec(), 2, 3), NativeFactory("tictactoe")).value();
  EXPECT_EQ(engine->runner_name(), "eager");
}

TEST(AlphaZeroInference, PlannedBytesCountWeightsBuffersAndStates) {
  const auto env = NativeFactory("connect4")().value();
  const auto planned = [&](int64_t num_envs, int64_t num_simulations) {
    return AlphaZeroEngineBytes(SmallOptions(env->spec(), num_envs, num_simulations),
                                NativeFactory("connect4"))
        .value();
  };
  const EngineOptions options = SmallOptions(env->spec(), 1, 1);
  const int64_t weights = 4 * AlphaZeroNetwork::Create(options.model, options.shape, 1, at::kMeta)
                                  .value()
                                  ->num_parameters();
  const int64_t rows = 2 * 4 * (126 + 7 + 1);
  const int64_t node = EnvSimulator::Bytes(NativeFactory("connect4"), {1, 1, 1.0}).value();
  EXPECT_EQ(planned(1, 1), weights + rows + 2 * node);
  EXPECT_EQ(planned(6, 49), weights + 6 * (rows + 50 * node));
  EngineOptions misfit = options;
  misfit.model.encoder = EncoderKind::kImage;
  EXPECT_FALSE(AlphaZeroEngineBytes(misfit, NativeFactory("connect4")).ok());
  EXPECT_FALSE(MakeAlphaZeroEngine(misfit, NativeFactory("connect4")).ok());
}

}  // namespace
}  // namespace lzero::alphazero_inference_test
