// The engine of UniZero in libtorch, on the CPU; on devices: runners/, cuda/.
#include "lzero/family/unizero/unizero_engine.h"

#include "gtest/gtest.h"
#include "lzero/family/unizero/world_model.h"

namespace lzero::unizero_engine_test {
namespace {

EngineOptions Options() {
  EngineOptions options;
  options.model.embed_dim = 16;
  options.shape = {{5}, 3};
  options.num_envs = 2;
  options.search.num_simulations = 7;
  options.inference.runner = Runner::kEager;
  return options;
}

TEST(UniZeroEngine, RunsEagerAndPlansItsWeightsAndTokens) {
  EngineOptions options = Options();
  EXPECT_EQ(MakeUniZeroEngine(options).value()->runner_name(), "eager");
  const int64_t few = UniZeroEngineBytes(options).value();
  const int64_t weights =
      4 * WorldModel::Create(options.model, options.shape, 1, at::kMeta).value()->num_parameters();
  EXPECT_GT(few, weights);
  options.search.num_simulations += 10;
  EXPECT_EQ(UniZeroEngineBytes(options).value() - few, 2 * 10 * 2 * (2 * 2 * 16) * 4);
  EXPECT_EQ(UniZeroGraphNodes(options), 0);
}

TEST(UniZeroEngine, GraphsWithoutADeviceAreRefused) {
  EngineOptions options = Options();
  options.inference.graphs = Graphs::kRequired;
  EXPECT_EQ(MakeUniZeroEngine(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lzero::unizero_engine_test
