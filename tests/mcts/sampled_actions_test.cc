#include "lzero/mcts/sampled_actions.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::sampled_actions_test {
namespace {

SampledActions Discrete() {
  return {.num_slots = 2, .slot_mask = {1, 0, 1, 1}, .indices = {7, -1, 3, 0}, .values = {}};
}
SampledActions Continuous() {
  return {.num_slots = 2,
          .action_dim = 1,
          .slot_mask = {1, 0, 1, 1},
          .indices = {},
          .values = {1.0f, 9.0f, -1.0f, 0.0f}};
}

TEST(SampledActionsTest, FilledSlotsAreChecked) {
  RootBatch batch(2, 2);
  SampledActions sampled = Discrete();
  EXPECT_TRUE(CheckSampledActions(sampled, batch.roots(), 2).ok()) << "an empty slot holds nothing";
  sampled.indices[3] = -2;
  EXPECT_EQ(CheckSampledActions(sampled, batch.roots(), 2),
            absl::InternalError("environment 1: the model sampled action -2; allowed: 0 or more"));
  sampled = Continuous();
  EXPECT_TRUE(CheckSampledActions(sampled, batch.roots(), 2).ok());
  for (const float value : {1.5f, -1.5f, std::numeric_limits<float>::quiet_NaN()}) {
    sampled.values[2] = value;
    EXPECT_EQ(CheckSampledActions(sampled, batch.roots(), 2).message(),
              absl::StrCat("environment 1: the model sampled an action with value ", value,
                           "; allowed: -1 to 1"));
  }
}

TEST(SampledActionsTest, WrongSizesAreNamed) {
  RootBatch batch(2, 2);
  EXPECT_EQ(CheckSampledActions(Discrete(), batch.roots(), 3).message(),
            "the model samples 2 actions of 0 numbers for a search of 3 slots");
  SampledActions sampled = Continuous();
  sampled.values.pop_back();
  EXPECT_EQ(CheckSampledActions(sampled, batch.roots(), 2).message(),
            "the model's sampled actions are 4 slots, 0 indices and 3 values; for 2 roots they "
            "must be 4, 0 and 4");
}

TEST(SampledActionsTest, ARootNeedsAFilledSlot) {
  RootBatch batch(2, 2);
  batch.roots()[1].step = 17;
  SampledActions sampled = Discrete();
  sampled.slot_mask = {1, 0, 0, 0};
  EXPECT_EQ(CheckSampledActions(sampled, batch.roots(), 2),
            absl::InternalError(
                "environment 1, step 17: no slot holds an action at the root of a search; the "
                "model must sample at least one"));
}

// Draws slots for each root: environment b has b + 1 filled ones of three.
class SlotModel final : public InferenceModel {
 public:
  int num_actions() const override { return 3; }
  const SampledActions* sampled_actions() const override { return &sampled_; }
  void BeginSearch(const SearchRequest& request) override {
    ++num_begun;
    search_index = request.search_index;
  }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const absl::Status status = model_.InitialInference(roots, prior_logits, value);
    sampled_.slot_mask.assign(prior_logits.size(), 0);
    sampled_.indices.assign(prior_logits.size(), 0);
    for (size_t b = 0; b < roots.size(); ++b) {
      for (size_t a = 0; a < 3; ++a) {
        const bool filled = static_cast<int64_t>(a) <= roots[b].env.value;
        sampled_.slot_mask[b * 3 + a] = filled;
        if (!filled) prior_logits[b * 3 + a] = -kInfinity;
      }
    }
    return status;
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    return model_.RecurrentInference(parents, actions, children, rewards, discounts, values,
                                     prior_logits);
  }

  int num_begun = 0;
  uint64_t search_index = 0;

 private:
  SampledActions sampled_ = {.num_slots = 3, .slot_mask = {}, .indices = {}, .values = {}};
  HashModel model_{{.num_actions = 3, .illegal_fraction = 0.3}};
};

TEST(SampledSearchTest, TheSlotsOfTheModelAreTheLegalActions) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    SearchConfig config;
    config.policy = policy;
    const auto search = MakeSearch(config, 3, 2);
    RootBatch batch(2, 3);
    for (Root& root : batch.roots()) root.legal_action_mask = {};
    SlotModel model;
    SearchRequest request;
    request.add_noise = true;
    request.search_index = 6;
    SearchResult result;
    const absl::Status status = search->Run(model, batch.roots(), request, &result);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(model.num_begun, 1);
    EXPECT_EQ(model.search_index, 6u);
    EXPECT_EQ(result.visit_counts[0], 25) << "environment 0 has one slot";
    EXPECT_EQ(result.visit_counts[3 + 2], 0);
    EXPECT_GT(result.visit_counts[3], 0);
    EXPECT_GT(result.visit_counts[4], 0);
    EXPECT_EQ(search->tree().prior(1, 0, 2), 0.0f);
    // Noise over the slots alone: priors still sum to 1.
    EXPECT_NEAR(search->tree().prior(1, 0, 0) + search->tree().prior(1, 0, 1), 1.0f, 1e-6);
    ASSERT_TRUE(search->Run(model, {}, request, &result).ok());
    EXPECT_EQ(model.num_begun, 1) << "no roots, no search";
  }
}

TEST(SampledSearchTest, WhatDoesNotFitIsRefused) {
  const auto search = MakeSearch(SearchConfig(), 3, 2);
  RootBatch batch(2, 3);
  SlotModel model;
  SearchResult result;
  batch.roots()[0].env = EnvId(-1);  // no slot
  EXPECT_THAT(search->Run(model, batch.roots(), {}, &result).message(),
              testing::HasSubstr("environment -1, step 0: no slot holds an action"));
}

}  // namespace
}  // namespace lzero::sampled_actions_test
