// Load, search, unload: memory returns to where it was, cycle after cycle. Counted in blocks of
// operator new, exactly, and in bytes of the whole C heap, which holds libtorch's tensors, too.
#include <malloc.h>

#include <array>

#include "gtest/gtest.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/host_memory.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/support/torch/counted_allocations.h"

namespace lzero::unload_test {
namespace {

constexpr int kNumEnvs = 3;
constexpr int kNumActions = 4;
constexpr int kNumSimulations = 20;

int64_t LiveBytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

EngineOptions Options() {
  EngineOptions options;
  options.model.embed_dim = 64;
  options.model.encoder_width = 64;
  options.shape = {{5}, kNumActions};
  options.num_envs = kNumEnvs;
  options.search.num_simulations = kNumSimulations;
  return options;
}

// Two searches, the second with roots that continue the first. Returns the bytes that the engine
// held while it lived.
int64_t LoadSearchUnload() {
  const EngineOptions options = Options();
  const int64_t before = LiveBytes();
  auto engine = AnyUniZero(options).value();
  const int64_t held = LiveBytes() - before;
  const auto weights = RandomModel(options.model, options.shape, 1);
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  SearchConfig config;
  config.num_simulations = kNumSimulations;
  const auto search = Search::Create(config, kNumActions, kNumEnvs).value();
  const std::vector<float> observations = {0.1f, -0.2f, 0.3f, 0.4f, 0.5f,
                                           1.0f, -1.0f, 0.5f, 0.2f, 0.1f};
  const std::vector<int32_t> actions = {2};
  const std::vector<uint8_t> legal(kNumActions, 1);
  SearchResult result;
  for (int64_t step = 0; step < 2; ++step) {
    std::vector<Root> roots(kNumEnvs);
    for (int env = 0; env < kNumEnvs; ++env) {
      Root& root = roots[env];
      root.env = EnvId(env);
      root.observations = absl::MakeConstSpan(observations).first(5 * (step + 1));
      root.actions = absl::MakeConstSpan(actions).first(step);
      root.step = step;
      root.legal_action_mask = legal;
    }
    EXPECT_TRUE(search->Run(*engine, roots, {}, &result).ok());
  }
  EXPECT_EQ(engine->root_stats().continued, kNumEnvs);
  return held;
}

TEST(UnloadTest, TenLoadSearchUnloadCyclesPlateauAfterTheSecond) {
  SetTensorThreads(1);
  // Free blocks that the C library keeps for a thread count as used, and how full its cache gets
  // depends on the heap's layout: 1.5 KiB were seen, 0 with glibc.malloc.tcache_count=0.
  constexpr int64_t kCached = 16384;
  std::array<int64_t, 11> bytes = {}, blocks = {};
  // The C library's caches of a thread fill first: the program may have run nothing else.
  for (int cycle = 0; cycle < 8; ++cycle) LoadSearchUnload();
  for (size_t cycle = 1; cycle < bytes.size(); ++cycle) {
    LoadSearchUnload();
    bytes[cycle] = LiveBytes();
    blocks[cycle] = NumLiveBlocks();
  }
  for (size_t cycle = 3; cycle < bytes.size(); ++cycle) {
    EXPECT_EQ(blocks[cycle], blocks[2]) << "blocks after cycle " << cycle;
    EXPECT_NEAR(static_cast<double>(bytes[cycle]), static_cast<double>(bytes[2]), kCached)
        << "bytes after cycle " << cycle;
  }
}

TEST(UnloadTest, PlannedBytesAreWhatAnEngineHolds) {
  SetTensorThreads(1);
  LoadSearchUnload();
  const auto held = static_cast<double>(LoadSearchUnload());
  const auto planned = static_cast<double>(AnyUniZeroBytes(Options()));
  EXPECT_GE(held, planned);
  EXPECT_LE(held, 1.1 * planned);
}

// In a process that trains, libtorch's tensors come from memory that is kept for the next of their
// size. The last test: the allocator stays.
TEST(UnloadTest, WhatAnEngineFreedIsNotKept) {
  KeepTensorMemory();
  SetTensorThreads(1);
  EngineOptions options = Options();
  options.inference.runner = Runner::kEager;
  auto engine = AnyUniZero(options).value();
  at::zeros({100000});
  EXPECT_GE(KeptTensorBytes(), 400000);
  engine.reset();
  EXPECT_EQ(KeptTensorBytes(), 0);
}

}  // namespace
}  // namespace lzero::unload_test
