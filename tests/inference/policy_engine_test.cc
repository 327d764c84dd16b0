#include "lzero/inference/policy_engine.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::policy_engine_test {
namespace {

using testing::ElementsAre;

// Lets a test see what families see.
class TestEngine : public PolicyEngine {
 public:
  explicit TestEngine(const EngineOptions& options) : PolicyEngine(options) {}
  absl::Status CopyWeightsFrom(const packed::WeightSource&) override { return absl::OkStatus(); }
  std::string runner_name() const override { return "test"; }
  absl::Status InitialInference(absl::Span<const Root>, absl::Span<float>,
                                absl::Span<float>) override {
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId>, absl::Span<const int32_t>,
                                  absl::Span<const NodeId>, absl::Span<float>, absl::Span<float>,
                                  absl::Span<float>, absl::Span<float>) override {
    return absl::OkStatus();
  }
  using PolicyEngine::ActionsOf;
  using PolicyEngine::FinishRoots;
  using PolicyEngine::PolicyOutputs;
  using PolicyEngine::SignedDiscount;
};

EngineOptions Options() {
  EngineOptions options;
  options.shape = {{4}, 3, 0};
  options.num_envs = 2;
  options.search.num_simulations = 4;
  options.discount = 0.5;
  return options;
}

TEST(PolicyEngine, WithoutSamplesSlotsAreActions) {
  TestEngine engine(Options());
  EXPECT_EQ(engine.num_actions(), 3);
  EXPECT_EQ(engine.sampled_actions(), nullptr);
  EXPECT_EQ(PolicyEngine::SamplerBytes(Options()), 0);
  std::vector<float> logits(6);
  EXPECT_EQ(engine.PolicyOutputs(2, absl::MakeSpan(logits)).data(), logits.data());
  EXPECT_THAT(engine.ActionsOf({kRootNode, kRootNode}, {2, 1}).indices, ElementsAre(2, 1));
  EXPECT_EQ(engine.ReadSlot(kRootNode, 1, {}), 1);
}

TEST(PolicyEngine, SamplesStandBetweenPolicyAndSearch) {
  EngineOptions options = Options();
  options.search.num_sampled_actions = 2;
  TestEngine engine(options);
  EXPECT_EQ(engine.num_actions(), 2);
  EXPECT_GT(PolicyEngine::SamplerBytes(options), 0);
  engine.BeginSearch({});
  std::vector<float> logits(2);
  const absl::Span<float> policies = engine.PolicyOutputs(1, absl::MakeSpan(logits));
  ASSERT_EQ(policies.size(), 3u);
  policies[0] = policies[2] = 3.0f;
  policies[1] = -50.0f;
  const std::vector<uint8_t> legal = {1, 1, 1};
  Root root;
  root.legal_action_mask = legal;
  engine.FinishRoots({root}, policies, absl::MakeSpan(logits));
  EXPECT_EQ(engine.sampled_actions()->indices, (std::vector<int32_t>{0, 2}));
  EXPECT_THAT(engine.ActionsOf({kRootNode}, {1}).indices, ElementsAre(2));
  EXPECT_EQ(engine.ReadSlot(kRootNode, 1, {}), 2);
}

TEST(PolicyEngine, TheDiscountChangesItsSignWithTheMover) {
  EngineOptions options = Options();
  EXPECT_EQ(TestEngine(options).SignedDiscount(), 0.5);
  options.num_players = 2;
  EXPECT_EQ(TestEngine(options).SignedDiscount(), -0.5);
}

}  // namespace
}  // namespace lzero::policy_engine_test
