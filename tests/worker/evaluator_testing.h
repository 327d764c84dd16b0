// What the tests of the evaluator share: walks with an evaluator, its agent and its model. One
// thread.
#ifndef LZERO_TESTS_WORKER_EVALUATOR_TESTING_H_
#define LZERO_TESTS_WORKER_EVALUATOR_TESTING_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "lzero/worker/evaluator.h"
#include "tests/worker/worker_testing.h"

namespace lzero {

inline constexpr int64_t kMaxPast = 3;
inline constexpr double kDiscount = 0.5;

inline std::unique_ptr<Agent> MakeAgent(int num_actions, int num_envs) {
  SearchConfig config;
  config.num_simulations = 8;
  auto search = Search::Create(config, num_actions, num_envs);
  EXPECT_TRUE(search.ok()) << search.status();
  return std::make_unique<Agent>(std::move(search).value(), AgentOptions{3, true});
}

// An evaluator of walks with everything it needs.
struct Walks {
  explicit Walks(int num_envs, const ShownModelOptions& options = {}, WalkOptions walk = {})
      : model(options) {
    evaluator =
        std::make_unique<Evaluator>(kMaxPast, kDiscount, MakeWalks(num_envs, &pool, &logs, walk),
                                    MakeAgent(WalkEnv::kNumActions, num_envs), &model);
  }

  std::vector<EvaluatedEpisode> Run(absl::Span<const uint64_t> seeds) {
    auto episodes = evaluator->Run(seeds);
    EXPECT_TRUE(episodes.ok()) << episodes.status();
    return std::move(episodes).value();
  }

  ThreadPool pool{1};
  ShownModel model;
  std::vector<std::vector<EnvCall>> logs;
  std::unique_ptr<Evaluator> evaluator;
};

inline void ExpectSame(const std::vector<EvaluatedEpisode>& got,
                       const std::vector<EvaluatedEpisode>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].seed, expected[i].seed) << i;
    EXPECT_EQ(got[i].episode_return, expected[i].episode_return) << i;
    EXPECT_EQ(got[i].length, expected[i].length) << i;
    EXPECT_EQ(got[i].terminated, expected[i].terminated) << i;
    EXPECT_EQ(got[i].truncated, expected[i].truncated) << i;
    EXPECT_EQ(got[i].values.count, expected[i].values.count) << i;
    EXPECT_NEAR(got[i].values.error, expected[i].values.error, 1e-5) << i;
    EXPECT_NEAR(got[i].values.value, expected[i].values.value, 1e-5) << i;
    EXPECT_NEAR(got[i].values.followed, expected[i].values.followed, 1e-5) << i;
  }
}

}  // namespace lzero

#endif  // LZERO_TESTS_WORKER_EVALUATOR_TESTING_H_
