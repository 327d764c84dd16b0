// What the actions of an environment ask of the search; settings for play alone are refused in
// agent_loader_test.cc.
#include "lzero/player/play_rules.h"

#include <limits>

#include "gtest/gtest.h"

namespace lzero::play_rules_test {
namespace {

TEST(PlayRules, BoxActionsNeedSamplesAndBounds) {
  EnvSpec spec;
  spec.id = "steering";
  spec.action = {ActionKind::kBox, 0, {0.0f, 0.0f}, {1.0f, 1.0f}};
  SearchConfig search;
  auto errors = ActionErrors(search, spec);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(
      errors[0].message,
      "got null, but steering has box actions (real numbers), of which a search tries samples; "
      "allowed: how many, often 20");
  search.num_sampled_actions = 20;
  EXPECT_TRUE(ActionErrors(search, spec).empty());
  spec.action.high[1] = std::numeric_limits<float>::infinity();
  errors = ActionErrors(search, spec);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message,
            "steering has actions without bounds: number 1 lies in 0 .. inf; an agent needs finite "
            "ones");
}

TEST(PlayRules, DiscreteActionsAreSampledWithoutReplacement) {
  EnvSpec spec;
  spec.id = "walk";
  spec.action.num_actions = 3;
  const auto said = [&](const SearchConfig& search) {
    const auto errors = ActionErrors(search, spec);
    return errors.empty() ? "" : errors[0].message;
  };
  SearchConfig search;
  EXPECT_EQ(said(search), "");
  search.num_sampled_actions = 3;
  EXPECT_EQ(said(search), "");
  search.num_sampled_actions = 4;
  EXPECT_EQ(said(search),
            "got 4, but walk has 3 actions; allowed: 2 to 3, or null for all of them");
  search.uniform_sample_fraction = 0.25;
  EXPECT_EQ(said(search),
            "got 0.25, which is for box actions, but walk has 3 discrete ones; allowed: 0");
  search.uniform_sample_fraction = 0;
  search.root_wide_fraction = 0.75;
  EXPECT_EQ(said(search),
            "got 0.75, which is for box actions, but walk has 3 discrete ones; allowed: 0");
}

}  // namespace
}  // namespace lzero::play_rules_test
