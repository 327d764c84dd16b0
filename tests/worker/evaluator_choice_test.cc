// The evaluator's choices at single positions and at roots with a past, and the states that a
// search is given; what the model forgets before them.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/evaluator_testing.h"

namespace lzero::evaluator_choice_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Single positions with nothing before them, of many walks at many steps.
std::vector<TimeStep> Positions(int count) {
  std::vector<TimeStep> positions;
  for (uint64_t seed = 0; static_cast<int>(positions.size()) < count; ++seed) {
    WalkEnv env({});
    TimeStep last = env.Reset(seed);
    for (size_t step = 0; step < seed % 3 && !last.ended(); ++step) {
      const auto legal = std::find(last.legal_action_mask.begin(), last.legal_action_mask.end(), 1);
      last =
          env.Step(Action::Discrete(static_cast<int32_t>(legal - last.legal_action_mask.begin())))
              .value();
    }
    if (!last.ended()) positions.push_back(last);
  }
  return positions;
}

TEST(EvaluatorChoiceTest, ThePolicyAloneChoosesTheLegalActionOfTheLargestLogit) {
  const std::vector<TimeStep> positions = Positions(50);
  Walks walks(4);
  const auto chosen = walks.evaluator->ChooseActions(positions, /*with_search=*/false);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_EQ(chosen->size(), positions.size());
  int num_overruled = 0;  // the largest logit of all is illegal
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<float> logits = walks.model.Logits(positions[i].observation);
    int best = -1;
    for (int a = 0; a < WalkEnv::kNumActions; ++a) {
      if (positions[i].legal_action_mask[a] == 0) continue;
      if (best == -1 || logits[a] > logits[best]) best = a;
    }
    EXPECT_EQ(chosen->at(i), best) << i;
    num_overruled += *std::max_element(logits.begin(), logits.end()) > logits[best] ? 1 : 0;
  }
  EXPECT_GT(num_overruled, 5);
}

TEST(EvaluatorChoiceTest, SearchChoosesAtManyPositionsAsAtEachAlone) {
  const std::vector<TimeStep> positions = Positions(23);
  Walks walks(4);
  const auto chosen = walks.evaluator->ChooseActions(positions, /*with_search=*/true);
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_EQ(chosen->size(), positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    ShownModel model;
    Root root;
    root.observations = positions[i].observation;
    root.legal_action_mask = positions[i].legal_action_mask;
    Decision decision;
    ASSERT_TRUE(MakeAgent(WalkEnv::kNumActions, 1)
                    ->Act(model, {root}, ActMode::kEvaluate, 0, &decision)
                    .ok());
    EXPECT_EQ(chosen->at(i), decision.actions[0]) << i;
    EXPECT_EQ(positions[i].legal_action_mask[chosen->at(i)], 1) << i;
  }
  for (const SeenRoot& root : walks.model.seen) {
    EXPECT_EQ(root.step, 0);
    EXPECT_THAT(root.actions, IsEmpty());
  }
}

// Five roots with pasts of their own, in batches of two.
TEST(EvaluatorChoiceTest, RootsMayBringTheirPast) {
  const std::vector<TimeStep> positions = Positions(5);
  std::vector<std::vector<float>> observations(5);
  std::vector<std::vector<int32_t>> actions(5);
  std::vector<Root> roots(5);
  for (int i = 0; i < 5; ++i) {
    for (int t = 0; t < i % 3; ++t) {
      observations[i].insert(observations[i].end(), {0.5f, static_cast<float>(t), 1.0f});
      actions[i].push_back(t);
    }
    observations[i].insert(observations[i].end(), positions[i].observation.begin(),
                           positions[i].observation.end());
    roots[i].env = EnvId(77);  // has no meaning
    roots[i].observations = observations[i];
    roots[i].actions = actions[i];
    roots[i].step = i % 3;
    roots[i].legal_action_mask = positions[i].legal_action_mask;
  }
  for (const bool with_search : {false, true}) {
    Walks walks(2);
    const auto chosen = walks.evaluator->ChooseRootActions(roots, with_search);
    ASSERT_TRUE(chosen.ok()) << chosen.status();
    // The answers of this model depend on the newest observation alone.
    EXPECT_EQ(*chosen, walks.evaluator->ChooseActions(positions, with_search).value());
    ASSERT_EQ(walks.model.seen.size(), 10u);
    for (int i = 0; i < 5; ++i) {
      const SeenRoot& root = walks.model.seen[i];
      EXPECT_EQ(root.env, i % 2);
      EXPECT_EQ(root.step, i % 3);
      EXPECT_EQ(root.observations, observations[i]);
      EXPECT_EQ(root.actions, actions[i]);
    }
  }
}

// Where values and rewards say nothing, search has only the prior to go by.
TEST(EvaluatorChoiceTest, SearchAndPolicyAgreeWhereAllValuesAreEqual) {
  const std::vector<TimeStep> positions = Positions(40);
  Walks walks(4, ShownModelOptions{WalkEnv::kNumActions, 0.0f, 0.9f});
  const auto by_search = walks.evaluator->ChooseActions(positions, true);
  const auto by_policy = walks.evaluator->ChooseActions(positions, false);
  ASSERT_TRUE(by_search.ok() && by_policy.ok());
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::vector<float> logits = walks.model.Logits(positions[i].observation);
    std::vector<float> legal;
    for (int a = 0; a < WalkEnv::kNumActions; ++a) {
      if (positions[i].legal_action_mask[a] != 0) legal.push_back(logits[a]);
    }
    std::sort(legal.rbegin(), legal.rend());
    // Near ties are left to the order of the visits.
    if (legal.size() > 1 && legal[0] - legal[1] < 0.6f) continue;
    EXPECT_EQ(by_search->at(i), by_policy->at(i)) << i;
  }
}

TEST(EvaluatorChoiceTest, NoPositionsNoActions) {
  Walks walks(2);
  EXPECT_THAT(walks.evaluator->ChooseActions({}, true).value(), IsEmpty());
  EXPECT_THAT(walks.evaluator->ChooseActions({}, false).value(), IsEmpty());
}

ShownModelOptions WithStates() {
  ShownModelOptions options;
  options.needs_state = true;
  return options;
}

// Each root of an episode carries what its environment saved there: the seed comes first in it.
TEST(EvaluatorChoiceTest, RootsCarryStatesForAModelThatAsks) {
  Walks with(2, WithStates()), without(2);
  ExpectSame(with.Run({4, 5, 6}), without.Run({4, 5, 6}));
  ASSERT_EQ(with.model.seen.size(), without.model.seen.size());
  for (const SeenRoot& root : with.model.seen) {
    WalkEnv env({});
    ASSERT_TRUE(env.Load(root.state).ok());
    uint64_t seed = 0;
    std::memcpy(&seed, root.state.data(), sizeof(seed));
    EXPECT_EQ(root.observations[root.observations.size() - 3], ToUnit(seed));
  }
  for (const SeenRoot& root : without.model.seen) EXPECT_EQ(root.state, "");
}

TEST(EvaluatorChoiceTest, PositionsBringTheirStateOrTheSearchSaysWhatItLacks) {
  Walks walks(2, WithStates());
  std::vector<TimeStep> positions = Positions(5);
  const auto refused = walks.evaluator->ChooseActions(positions, /*with_search=*/true);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "position 0 of 'walk' has no state, and this model searches with the environment "
            "itself; allowed: positions with what Env::Save gives there (TimeStep::state), or the "
            "policy alone");
  EXPECT_TRUE(walks.evaluator->ChooseActions(positions, /*with_search=*/false).ok());
  for (size_t i = 0; i < positions.size(); ++i) positions[i].state = absl::StrCat("state ", i);
  walks.model.seen.clear();
  ASSERT_TRUE(walks.evaluator->ChooseActions(positions, true).ok());
  ASSERT_EQ(walks.model.seen.size(), 5u);
  EXPECT_EQ(walks.model.seen[3].state, "state 3");
}

TEST(EvaluatorChoiceTest, AnErrorOfTheModelReachesTheCallerOfChooseActions) {
  Walks walks(2);
  walks.model.failure = absl::UnavailableError("no model today");
  for (const bool with_search : {false, true}) {
    const auto chosen = walks.evaluator->ChooseActions(Positions(3), with_search);
    EXPECT_THAT(std::string(chosen.status().message()), HasSubstr("no model today"));
  }
}

TEST(EvaluatorChoiceTest, TheModelForgetsEveryEnvironmentThatIsUsedAnew) {
  Walks walks(3);
  walks.model.kept = {0, 1, 2};
  walks.Run({4, 5});  // two seeds: the third environment stays out
  EXPECT_THAT(walks.model.kept, ElementsAre(2));
  for (const bool with_search : {false, true}) {
    walks.model.kept = {0, 1, 2};
    ASSERT_TRUE(walks.evaluator->ChooseActions(Positions(1), with_search).ok());
    EXPECT_THAT(walks.model.kept, ElementsAre(1, 2));
  }
}

}  // namespace
}  // namespace lzero::evaluator_choice_test
