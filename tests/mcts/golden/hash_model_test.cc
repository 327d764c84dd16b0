#include "lzero/mcts/golden/hash_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::hash_model_test {
namespace {

TEST(HashModelTest, AnswersOfASearchAreThoseOfThePathAlone) {
  HashModelOptions options;
  options.num_actions = 3;
  options.seed = 5;
  options.terminal_fraction = 0.3;
  HashModel model(options);
  RootBatch batch(2, 3);
  std::vector<float> logits(6), values(2), rewards(2), discounts(2);
  ASSERT_TRUE(
      model.InitialInference(batch.roots(), absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  EXPECT_EQ(values[1], model.Evaluate(EnvId(1), 0, {}).value);
  const std::vector<NodeId> roots = {NodeId(0), NodeId(0)};
  const std::vector<NodeId> first = {NodeId(1), NodeId(1)};
  const std::vector<NodeId> second = {NodeId(2), NodeId(2)};
  for (const auto& [parents, actions, children] :
       {std::tuple{roots, std::vector<int32_t>{2, 1}, first},
        std::tuple{first, std::vector<int32_t>{0, 1}, second}}) {
    ASSERT_TRUE(model
                    .RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                        absl::MakeSpan(discounts), absl::MakeSpan(values),
                                        absl::MakeSpan(logits))
                    .ok());
  }
  const auto answer = model.Evaluate(EnvId(0), 0, {2, 0});
  EXPECT_EQ(rewards[0], answer.reward);
  EXPECT_EQ(discounts[0], answer.discount);
  EXPECT_EQ(values[0], answer.value);
  EXPECT_EQ(logits[1], answer.prior_logits[1]);
  EXPECT_EQ(logits[5], model.Evaluate(EnvId(1), 0, {1, 1}).prior_logits[2]);
}

TEST(HashModelTest, SeedEnvironmentStepAndPathAllMatter) {
  const auto value = [](uint64_t seed, int env, int64_t step, std::vector<int32_t> path) {
    HashModelOptions options;
    options.seed = seed;
    return HashModel(options).Evaluate(EnvId(env), step, path).value;
  };
  const float base = value(1, 2, 3, {0, 1});
  EXPECT_NE(base, value(2, 2, 3, {0, 1}));
  EXPECT_NE(base, value(1, 3, 3, {0, 1}));
  EXPECT_NE(base, value(1, 2, 4, {0, 1}));
  EXPECT_NE(base, value(1, 2, 3, {1, 0}));
  EXPECT_EQ(base * 1024, std::round(base * 1024));
}

TEST(HashModelTest, NodesBelowTheRootLackAFractionOfTheirActionsButNotAll) {
  HashModelOptions options;
  options.num_actions = 10;
  const HashModel full(options);
  options.illegal_fraction = 0.3;
  const HashModel model(options);
  EXPECT_EQ(model.Evaluate(EnvId(0), 0, {}).prior_logits,
            full.Evaluate(EnvId(0), 0, {}).prior_logits);
  int num_missing = 0;
  for (int32_t first = 0; first < 10; ++first) {
    for (int32_t second = 0; second < 10; ++second) {
      const auto logits = model.Evaluate(EnvId(0), 0, {first, second}).prior_logits;
      const auto expected = full.Evaluate(EnvId(0), 0, {first, second}).prior_logits;
      for (size_t a = 0; a < 10; ++a) {
        if (logits[a] != expected[a]) {
          EXPECT_EQ(logits[a], -kInfinity);
          ++num_missing;
        }
      }
    }
  }
  EXPECT_NEAR(num_missing / 1000.0, 0.27, 0.06);  // one of ten is always there
  options.illegal_fraction = 1.0;
  const auto lone = HashModel(options).Evaluate(EnvId(0), 0, {3}).prior_logits;
  EXPECT_EQ(std::count(lone.begin(), lone.end(), -kInfinity), 9);
}

TEST(HashModelTest, EverySecondNodeIsAChanceNode) {
  for (const auto& [actions, outcomes] : {std::pair(2, 5), {5, 2}}) {
    HashModelOptions options;
    options.num_actions = actions;
    options.num_chance_outcomes = outcomes;
    const HashModel model(options);
    std::vector<int32_t> path;
    for (int depth = 0; depth < 5; ++depth, path.push_back(1)) {
      const auto answer = model.Evaluate(EnvId(0), 0, path);
      ASSERT_EQ(answer.prior_logits.size(), 5u);
      const int expected = depth % 2 == 1 ? outcomes : actions;
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(answer.prior_logits[static_cast<size_t>(i)] > -kInfinity, i < expected);
      }
      if (depth % 2 == 1) {
        EXPECT_EQ(answer.reward, 0.0f);
        EXPECT_EQ(answer.discount, 1.0f);
      } else if (depth > 0) {
        EXPECT_EQ(answer.discount, 0.997f);
      }
    }
  }
}

}  // namespace
}  // namespace lzero::hash_model_test
