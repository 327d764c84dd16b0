// What plays, put together from a config.
#include "lzero/player/build_player.h"

#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tests/train/train_testing.h"

namespace lzero::build_player_test {
namespace {

TEST(BuildPlayerTest, TheEngineIsMadeForTheRootsOfItsSearches) {
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  for (const int64_t num_roots : {0, 9}) {
    EngineOptions asked;
    const EngineMaker make_engine = [&](const EngineOptions& options, const EnvFactory& make_env) {
      asked = options;
      return MakePackedEngine(options, make_env);
    };
    ASSERT_TRUE(BuildPlayer(make_engine, TinyConfig(), registry, 3, 5, &pool, num_roots).ok());
    EXPECT_EQ(asked.num_envs, num_roots == 0 ? 3 : 9);
    EXPECT_EQ(asked.search.num_simulations, 5);
    EXPECT_EQ(asked.shape.observation_shape, std::vector<int64_t>{4});
    EXPECT_EQ(asked.owner, "evaluator");
  }
}

TEST(BuildPlayerTest, AnEngineThatCannotBeMadeIsTheError) {
  ThreadPool pool(1);
  const absl::Status wrong = absl::DataLossError("none");
  EXPECT_EQ(BuildPlayer([&](const auto&, const auto&) { return wrong; }, TinyConfig(),
                        NativeRegistry(), 1, 1, &pool)
                .status(),
            wrong);
}

TEST(BuildPlayerTest, EvaluationDoesNotDependOnTheNumberOfEnvironments) {
  SetTensorThreads(1);
  const EnvRegistry registry = NativeRegistry();
  const ExperimentConfig config = TinyConfig();
  const auto weights = WorldModel::Create(config.model, {{4}, 2}, 3).value();
  ThreadPool pool(1);
  const std::vector<uint64_t> seeds = {1, 2, 3, 4, 5};
  std::vector<std::vector<EvaluatedEpisode>> results;
  for (const int64_t num_envs : {1, 2, 5}) {
    auto role = BuildPlayer(MakePackedEngine, config, registry, num_envs, 3, &pool).value();
    ASSERT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    results.push_back(role.evaluator->Run(seeds).value());
  }
  for (const auto& result : results) {
    for (size_t i = 0; i < seeds.size(); ++i) {
      EXPECT_EQ(result[i].seed, seeds[i]);
      EXPECT_EQ(result[i].length, results[0][i].length);
      EXPECT_EQ(result[i].episode_return, results[0][i].episode_return);
    }
  }
}

}  // namespace
}  // namespace lzero::build_player_test
