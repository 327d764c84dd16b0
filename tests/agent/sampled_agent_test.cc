// An agent whose model samples its actions: slots are translated, and draws are over slots.
#include <numeric>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/agent/agent.h"
#include "lzero/mcts/golden/hash_model.h"
#include "lzero/mcts/search.h"

namespace lzero::sampled_agent_test {
namespace {

constexpr int kSlots = 3;
constexpr int kEnvActions = 10;

// Slots with fixed actions; the last one of environment 1 is empty.
class SlotModel final : public InferenceModel {
 public:
  explicit SlotModel(int action_dim) {
    sampled_.num_slots = kSlots;
    sampled_.action_dim = action_dim;
  }
  int num_actions() const override { return kSlots; }
  const SampledActions* sampled_actions() const override { return &sampled_; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    sampled_.slot_mask.clear();
    sampled_.indices.clear();
    sampled_.values.clear();
    for (const Root& root : roots) {
      const uint8_t last = root.env.value != 1;
      sampled_.slot_mask.insert(sampled_.slot_mask.end(), {1, 1, last});
      if (sampled_.action_dim == 0) {
        // Environment 0 has one action in two slots.
        const auto indices = root.env.value == 0 ? std::vector<int32_t>{7, 4, 7}
                                                 : std::vector<int32_t>{2, first_index, 999};
        sampled_.indices.insert(sampled_.indices.end(), indices.begin(), indices.end());
      } else {
        for (int slot = 0; slot < kSlots; ++slot) {
          for (int d = 0; d < sampled_.action_dim; ++d) {
            const float value = 0.25f * static_cast<float>(slot) + 0.125f * static_cast<float>(d);
            sampled_.values.push_back(root.env.value == 1 && slot == 2 ? 1e9f : value);
          }
        }
      }
    }
    return model_.InitialInference(roots, prior_logits, value);
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    return model_.RecurrentInference(parents, actions, children, rewards, discounts, values,
                                     prior_logits);
  }
  int32_t first_index = 5;

 private:
  HashModel model_{{.num_actions = kSlots}};
  SampledActions sampled_;
};

class SampledAgentTest : public testing::Test {
 protected:
  SampledAgentTest() : roots_(2) {
    roots_[1].env = EnvId(1);
    options_.num_env_actions = kEnvActions;
  }
  std::unique_ptr<Agent> Make() {
    return std::make_unique<Agent>(Search::Create(config_, kSlots, /*max_roots=*/2).value(),
                                   options_);
  }
  SearchConfig config_;
  AgentOptions options_;
  std::vector<Root> roots_;  // without masks
};

// Environment 0 has its action 7 in two slots, environment 1 three different ones.
TEST_F(SampledAgentTest, TheBestActionAloneMayBeTheTarget) {
  config_.policy_target = PolicyTarget::kBestAction;
  for (const int action_dim : {0, 2}) {
    SlotModel model(action_dim);
    Decision decision;
    ASSERT_TRUE(Make()->Act(model, roots_, ActMode::kEvaluate, 0, &decision).ok());
    for (size_t b = 0; b < roots_.size(); ++b) {
      std::vector<float> expected(decision.policy_size, 0.0f);
      expected[decision.actions[b]] = 1.0f;
      const absl::Span<const float> policy = decision.PolicyOf(b);
      EXPECT_EQ(std::vector<float>(policy.begin(), policy.end()), expected) << action_dim;
    }
  }
}

TEST_F(SampledAgentTest, SlotsAreScatteredIntoTheActionsOfTheEnvironment) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    config_.policy = policy;
    const auto agent = Make();
    SlotModel model(0);
    Decision decision;
    std::set<int32_t> seen[2];
    for (int i = 0; i < 30; ++i) {
      const absl::Status status = agent->Act(model, roots_, ActMode::kCollect, 0, &decision);
      ASSERT_TRUE(status.ok()) << status;
      for (size_t b = 0; b < 2; ++b) seen[b].insert(decision.actions[b]);
    }
    EXPECT_EQ(seen[0], (std::set<int32_t>{4, 7}));
    seen[1].insert({2, 5});
    EXPECT_EQ(seen[1], (std::set<int32_t>{2, 5})) << "never the empty slot";
    ASSERT_EQ(decision.policy_size, kEnvActions);
    ASSERT_EQ(decision.policies.size(), 2u * kEnvActions);
    const auto& weights = decision.search.action_weights;
    EXPECT_EQ(decision.policies[7], weights[0] + weights[2]) << "two slots of one action";
    EXPECT_EQ(decision.policies[4], weights[1]);
    EXPECT_EQ(decision.policies[10 + 2], weights[3]);
    EXPECT_EQ(decision.policies[10 + 5], weights[4]);
    EXPECT_NEAR(std::accumulate(decision.policies.begin(), decision.policies.end(), 0.0), 2.0,
                1e-5);
    EXPECT_EQ(decision.action_dim, 0);
    EXPECT_TRUE(decision.action_values.empty());
  }
}

TEST_F(SampledAgentTest, ContinuousActionsComeWithAllThatWereSampled) {
  const auto agent = Make();
  SlotModel model(2);
  Decision decision;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(agent->Act(model, roots_, ActMode::kCollect, 0, &decision).ok());
    EXPECT_EQ(decision.action_dim, 2);
    EXPECT_EQ(decision.policy_size, kSlots);
    EXPECT_EQ(decision.policies, decision.search.action_weights);
    EXPECT_EQ(decision.sampled_actions,
              (std::vector<float>{0.0f, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f,  //
                                  0.0f, 0.125f, 0.25f, 0.375f, 0.0f, 0.0f}));
    ASSERT_EQ(decision.action_values.size(), 4u);
    for (size_t b = 0; b < 2; ++b) {
      const float slot = static_cast<float>(decision.actions[b]);
      EXPECT_EQ(decision.action_values[b * 2], 0.25f * slot);
      EXPECT_EQ(decision.action_values[b * 2 + 1], 0.25f * slot + 0.125f);
    }
  }
}

TEST_F(SampledAgentTest, TheSameObjectServesPlainModelsToo) {
  const auto agent = Make();
  SlotModel sampling(2);
  Decision decision;
  ASSERT_TRUE(agent->Act(sampling, roots_, ActMode::kEvaluate, 0, &decision).ok());
  HashModel plain({.num_actions = kSlots});
  const std::vector<uint8_t> mask(kSlots, 1);
  for (Root& root : roots_) root.legal_action_mask = mask;
  ASSERT_TRUE(agent->Act(plain, roots_, ActMode::kEvaluate, 0, &decision).ok());
  EXPECT_EQ(decision.action_dim, 0);
  EXPECT_TRUE(decision.action_values.empty());
  EXPECT_TRUE(decision.sampled_actions.empty());
  EXPECT_EQ(decision.policies, decision.search.action_weights);
}

TEST_F(SampledAgentTest, AnActionThatTheEnvironmentLacksIsAnErrorAndCountsNoSearch) {
  const auto agent = Make();
  SlotModel model(0);
  model.first_index = kEnvActions;
  Decision decision;
  EXPECT_EQ(agent->Act(model, roots_, ActMode::kCollect, 0, &decision),
            absl::InternalError("environment 1: the model sampled action 10; the environment has "
                                "10 (AgentOptions::num_env_actions)"));
  EXPECT_EQ(agent->num_searches(), 0u);
}

}  // namespace
}  // namespace lzero::sampled_agent_test
