#include "gtest/gtest.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "lzero/family/alphazero/packed/env_simulator.h"
#include "tests/family/packed_engine_parity.h"

namespace lzero::packed_alphazero_test {
namespace {

using packed_engine_parity::Case;
using enum EncoderKind;

class PackedAlphaZero : public testing::TestWithParam<Case> {};

TEST_P(PackedAlphaZero, GivesTheNumbersOfTheEagerOne) {
  packed_engine_parity::ExpectNumbersOfEager(GetParam());
}

TEST_P(PackedAlphaZero, ThreadsChangeNoBit) {
  packed_engine_parity::ExpectThreadsChangeNoBit(GetParam());
}

TEST_P(PackedAlphaZero, AllocatesNoMoreThanItsEnvironmentsOnceWarm) {
  CountTorchAllocations();
  const EngineOptions options = packed_engine_parity::OptionsOf(GetParam());
  const auto network = packed_engine_parity::RandomNetwork(options, 1);
  const auto engine = packed_engine_parity::MakeEngine(options, Runner::kPacked);
  const packed_engine_parity::Scene scene(options);
  packed_engine_parity::Player player(engine.get(), options);
  const auto simulator =
      EnvSimulator::Create(packed_engine_parity::BoardFactory(options),
                           {options.num_envs, options.search.NodesPerRoot(), options.discount})
          .value();
  const auto allocations_of = [](const auto& search) {
    search();
    const int64_t before = NumAllocations();
    search();
    return NumAllocations() - before;
  };
  const int64_t by_environments = allocations_of([&] {
    simulator->Begin(scene.roots());
    for (int node = 1; node < packed_engine_parity::kNumNodes; ++node) {
      player.ChooseNode(node);
      ASSERT_TRUE(simulator->Step(player.parents, player.actions, player.children).ok());
    }
  });
  // With fresh weights no position is known.
  const NetworkWeights weights(*network);
  ASSERT_TRUE(engine->CopyWeightsFrom(weights).ok());
  player.Run(scene.roots());
  ASSERT_TRUE(engine->CopyWeightsFrom(weights).ok());
  const int64_t before = NumAllocations();
  player.RunRoots(scene.roots());
  for (int node = 1; node < packed_engine_parity::kNumNodes; ++node) player.RunNode(node);
  EXPECT_EQ(NumAllocations() - before, by_environments);
  EXPECT_GT(by_environments, 0);
}

INSTANTIATE_TEST_SUITE_P(All, PackedAlphaZero,
                         testing::Values(Case{"Vector", Family::kAlphaZero, kVector, {3, 3, 3}},
                                         Case{"Board", Family::kAlphaZero, kBoard, {3, 3, 3}},
                                         Case{"Image", Family::kAlphaZero, kImage, {3, 16, 16}},
                                         Case{"BoardCells",
                                              Family::kAlphaZero,
                                              kBoard,
                                              {3, 3, 3},
                                              16,
                                              0,
                                              LatentNorm::kSimNorm,
                                              true,
                                              {9, 1, 2, 3, 4, 14, 6, 7, -1}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::packed_alphazero_test
