#include "lzero/agent/agent.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/golden/hash_model.h"
#include "lzero/mcts/search.h"

namespace lzero::agent_test {
namespace {

using testing::HasSubstr;

class AgentTest : public testing::Test {
 protected:
  static constexpr int kRoots = 4;
  static constexpr int kActions = 3;

  AgentTest()
      : mask_(kActions, 1), model_([] {
          HashModelOptions options;
          options.num_actions = kActions;
          return options;
        }()) {
    for (int b = 0; b < kRoots; ++b) {
      roots_.emplace_back();
      roots_.back().env = EnvId(b);
      roots_.back().legal_action_mask = mask_;
    }
  }

  std::unique_ptr<Agent> Make(const AgentOptions& options = {}, int num_chance_outcomes = 0) {
    auto search = Search::Create(config_, kActions, kRoots, num_chance_outcomes);
    EXPECT_TRUE(search.ok()) << search.status();
    return std::make_unique<Agent>(std::move(search).value(), options);
  }

  Decision Act(Agent* agent, ActMode mode, int64_t env_steps = 0) {
    Decision decision;
    const absl::Status status = agent->Act(model_, roots_, mode, env_steps, &decision);
    EXPECT_TRUE(status.ok()) << status;
    return decision;
  }

  SearchConfig config_;
  std::vector<uint8_t> mask_;
  HashModel model_;
  std::vector<Root> roots_;
};

TEST_F(AgentTest, EvaluationTakesTheBestActionsWithoutNoise) {
  const auto agent = Make();
  const Decision first = Act(agent.get(), ActMode::kEvaluate);
  EXPECT_EQ(first.actions, first.search.best_actions);
  EXPECT_EQ(first.temperature, 0.0);
  const Decision second = Act(agent.get(), ActMode::kEvaluate);
  EXPECT_EQ(first.search.visit_counts, second.search.visit_counts);
}

// The temperature falls to 0 over 100 steps: then no noise is left.
TEST_F(AgentTest, GumbelNoiseFollowsTheTemperature) {
  config_.policy = SearchPolicy::kGumbel;
  config_.temperature_final = 0.0;
  config_.temperature_decay_env_steps = 100;
  const auto agent = Make();
  const std::vector<int32_t> calm = Act(agent.get(), ActMode::kEvaluate).search.visit_counts;
  std::set<std::vector<int32_t>> noisy;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Act(agent.get(), ActMode::kCollect, 100).search.visit_counts, calm);
    noisy.insert(Act(agent.get(), ActMode::kCollect, 0).search.visit_counts);
  }
  EXPECT_GT(noisy.size(), 5u);
}

TEST_F(AgentTest, CollectingDrawsVisitedActions) {
  const auto agent = Make();
  std::set<std::vector<int32_t>> seen;
  for (int i = 0; i < 20; ++i) {
    const Decision decision = Act(agent.get(), ActMode::kCollect);
    EXPECT_EQ(decision.temperature, 1.0);
    seen.insert(decision.actions);
    for (size_t b = 0; b < kRoots; ++b) {
      const size_t at = b * kActions + static_cast<size_t>(decision.actions[b]);
      EXPECT_GT(decision.search.visit_counts[at], 0);
    }
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST_F(AgentTest, TheScheduleReachesTemperatureZero) {
  config_.temperature_final = 0.0;
  config_.temperature_decay_env_steps = 100;
  const auto agent = Make();
  EXPECT_EQ(Act(agent.get(), ActMode::kCollect, 50).temperature, 0.5);
  const Decision late = Act(agent.get(), ActMode::kCollect, 200);
  EXPECT_EQ(late.temperature, 0.0);
  EXPECT_EQ(late.actions, late.search.best_actions);
}

TEST_F(AgentTest, LateInAnEpisodeTheBestActionIsTaken) {
  config_.temperature_steps = 10;
  const auto agent = Make();
  roots_[0].step = 9;
  for (int b = 1; b < kRoots; ++b) roots_[static_cast<size_t>(b)].step = 10;
  int num_others = 0;
  for (int i = 0; i < 50; ++i) {
    const Decision decision = Act(agent.get(), ActMode::kCollect);
    num_others += decision.actions[0] != decision.search.best_actions[0];
    for (size_t b = 1; b < kRoots; ++b) {
      EXPECT_EQ(decision.actions[b], decision.search.best_actions[b]);
    }
  }
  EXPECT_GT(num_others, 5);
}

TEST_F(AgentTest, CheapSearchesHaveNoNoiseAndNoPolicyTarget) {
  config_.cheap_fraction = 0.5;
  const auto agent = Make();
  SearchConfig small = config_;
  small.num_simulations = 7;
  const auto cheap_search = [&] { return Search::Create(small, kActions, kRoots).value(); };
  agent->set_cheap_searcher(cheap_search());
  Agent small_agent(cheap_search(), {});
  const Decision expected = Act(&small_agent, ActMode::kEvaluate);
  int num_cheap = 0;
  for (int i = 0; i < 100; ++i) {
    const Decision decision = Act(agent.get(), ActMode::kCollect);
    if (decision.policies[0] + decision.policies[1] + decision.policies[2] > 0.0f) {
      EXPECT_NE(decision.search.visit_counts, expected.search.visit_counts);
      continue;
    }
    ++num_cheap;
    EXPECT_EQ(decision.search.visit_counts, expected.search.visit_counts);
    EXPECT_THAT(decision.policies, testing::Each(0.0f));
  }
  EXPECT_NEAR(num_cheap, 50, 20);  // four deviations
  EXPECT_THAT(Act(agent.get(), ActMode::kEvaluate).policies, testing::Contains(testing::Gt(0.0f)));
}

TEST_F(AgentTest, GumbelTakesTheChoiceOfTheSearch) {
  config_.policy = SearchPolicy::kGumbel;
  const auto agent = Make();
  std::set<std::vector<int32_t>> seen;
  for (int i = 0; i < 20; ++i) {
    const Decision decision = Act(agent.get(), ActMode::kCollect);
    EXPECT_EQ(decision.actions, decision.search.best_actions);
    seen.insert(decision.actions);
  }
  EXPECT_GT(seen.size(), 3u) << "the noise makes it a draw";
}

TEST_F(AgentTest, SameSeedSameActionsAndResumable) {
  const auto one = Make({.seed = 5});
  const auto other = Make({.seed = 5});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Act(one.get(), ActMode::kCollect).actions,
              Act(other.get(), ActMode::kCollect).actions);
  }
  const auto resumed = Make({.seed = 5});
  resumed->set_num_searches(one->num_searches());
  EXPECT_EQ(resumed->num_searches(), 3u);
  EXPECT_EQ(Act(one.get(), ActMode::kCollect).actions,
            Act(resumed.get(), ActMode::kCollect).actions);
}

TEST_F(AgentTest, AnEnvironmentDoesNotNoticeTheOthers) {
  const auto together = Make({.seed = 5, .deterministic_ties = false});
  const auto alone = Make({.seed = 5, .deterministic_ties = false});
  for (int i = 0; i < 10; ++i) {
    const Decision all = Act(together.get(), ActMode::kCollect);
    Decision one;
    ASSERT_TRUE(
        alone->Act(model_, absl::MakeConstSpan(roots_).subspan(2, 1), ActMode::kCollect, 0, &one)
            .ok());
    EXPECT_EQ(all.actions[2], one.actions[0]);
  }
}

TEST_F(AgentTest, ModelsMayHaveChanceNodes) {
  const auto agent = Make({}, 7);
  HashModel model({.num_actions = kActions, .num_chance_outcomes = 7});
  Decision decision;
  ASSERT_TRUE(agent->Act(model, roots_, ActMode::kCollect, 0, &decision).ok());
  EXPECT_EQ(decision.policy_size, kActions);
  EXPECT_EQ(decision.policies.size(), static_cast<size_t>(kRoots * kActions));
  EXPECT_THAT(agent->Act(model_, roots_, ActMode::kCollect, 0, &decision).message(),
              HasSubstr("0 chance outcomes, the search was made for 7"));
}

TEST_F(AgentTest, PoliciesOfPlainModelsAreTheWeightsOfTheSearch) {
  const auto agent = Make();
  const Decision decision = Act(agent.get(), ActMode::kCollect);
  EXPECT_EQ(decision.policy_size, kActions);
  EXPECT_EQ(decision.policies, decision.search.action_weights);
  EXPECT_EQ(decision.action_dim, 0);
  EXPECT_TRUE(decision.action_values.empty());
  EXPECT_TRUE(decision.sampled_actions.empty());
}

TEST_F(AgentTest, ErrorsArePassedOnAndCountNoSearch) {
  const auto agent = Make();
  mask_.assign(kActions, 0);
  Decision decision;
  EXPECT_THAT(agent->Act(model_, roots_, ActMode::kCollect, 0, &decision).message(),
              HasSubstr("environment 0, step 0: no legal action"));
  EXPECT_EQ(agent->num_searches(), 0u);
}

}  // namespace
}  // namespace lzero::agent_test
