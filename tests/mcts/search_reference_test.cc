// Search against the slow reference on random settings.
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "tests/mcts/random_setting.h"
#include "tests/mcts/reference_search.h"
#include "tests/mcts/search_testing.h"

namespace lzero::search_reference_test {
namespace {

// A choice closer than this may fall either way in float32.
constexpr double kNearTie = 2e-4;

void CompareNodes(const ReferenceSearch::Node& expected, const Tree& tree, int node) {
  ASSERT_TRUE(tree.IsExpanded(0, node));
  ASSERT_EQ(tree.node_visits(0, node), expected.visits);
  EXPECT_NEAR(tree.value(0, node), expected.mean, 1e-5);
  for (int a = 0; a < tree.num_actions(); ++a) {
    const auto found = expected.children.find(a);
    if (found == expected.children.end()) {
      EXPECT_EQ(tree.visit_count(0, node, a), 0);
      EXPECT_EQ(tree.child(0, node, a), -1);
      const auto& logits = expected.outputs.logits;
      const size_t i = static_cast<size_t>(a);
      if (i >= logits.size() || logits[i] == -kInfinity) {
        EXPECT_EQ(tree.prior(0, node, a), 0.0f);
      }
      continue;
    }
    ASSERT_EQ(tree.visit_count(0, node, a), expected.action_visits.at(a));
    const ReferenceOutputs& edge = found->second->outputs;
    EXPECT_NEAR(tree.q_value(0, node, a), edge.reward + edge.discount * found->second->mean, 1e-5);
    CompareNodes(*found->second, tree, tree.child(0, node, a));
  }
}

// False when the reference met a near tie, so that nothing could be compared.
bool CompareOnce(const Setting& setting) {
  HashModel model(setting.model);
  const int num_outcomes = setting.model.num_chance_outcomes;
  const auto answer = [&](const std::vector<int32_t>& path) {
    const auto outputs = model.Evaluate(EnvId(0), 0, path);
    const bool is_chance = num_outcomes > 0 && path.size() % 2 == 1;
    const auto first = outputs.prior_logits.begin();
    return ReferenceOutputs{
        outputs.reward,
        outputs.discount,
        outputs.value,
        {first, first + (is_chance ? num_outcomes : setting.model.num_actions)}};
  };
  ReferenceSearch reference(setting.config, num_outcomes > 0, setting.legal,
                            {setting.gumbel.begin(), setting.gumbel.end()}, answer);
  reference.Run();
  if (reference.smallest_gap() < kNearTie) return false;

  const auto search = MakeSearch(setting.config, setting.model.num_actions, 1, num_outcomes);
  RootBatch batch(1, setting.model.num_actions);
  batch.mask(0) = setting.legal;
  batch.roots()[0].legal_action_mask = batch.mask(0);
  SearchRequest request;
  // A temperature and forced playouts at the root belong to searches with noise, of which there is
  // none here in PUCT.
  request.add_noise = setting.config.policy == SearchPolicy::kPuct;
  if (setting.config.policy == SearchPolicy::kGumbel) request.root_gumbel = setting.gumbel;
  SearchResult result;
  const absl::Status status = search->Run(model, batch.roots(), request, &result);
  EXPECT_TRUE(status.ok()) << status;
  CompareNodes(reference.root(), search->tree(), 0);
  EXPECT_EQ(result.best_actions[0], reference.BestAction());
  const auto weights = reference.ActionWeights();
  for (size_t a = 0; a < weights.size(); ++a) {
    EXPECT_NEAR(result.action_weights[a], weights[a], 2e-5);
  }
  return true;
}

// Compares `num_settings` searches whose models `change` has changed.
template <class Change>
void CompareMany(const char* stream_name, int num_settings, const Change& change) {
  RandomStream stream(/*seed=*/20240501, stream_name);
  int num_compared = 0;
  for (int i = 0; i < num_settings; ++i) {
    Setting setting = RandomSetting(&stream);
    change(&stream, &setting);
    setting.config.root_noise_fraction = 0.0;
    SCOPED_TRACE(testing::Message()
                 << "setting " << i << ": policy " << static_cast<int>(setting.config.policy)
                 << ", transform " << static_cast<int>(setting.config.q_transform) << ", actions "
                 << setting.model.num_actions << ", simulations " << setting.config.num_simulations
                 << ", illegal " << setting.model.illegal_fraction);
    num_compared += CompareOnce(setting);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(num_compared, num_settings / 2);
}

TEST(SearchReferenceTest, RandomSettingsGiveTheTreesOfTheReference) {
  CompareMany("reference settings", 400, [](RandomStream*, Setting*) {});
}

TEST(SearchReferenceTest, IllegalActionsInsideTheTreeGiveTheTreesOfTheReference) {
  CompareMany("illegal settings", 300, [](RandomStream* stream, Setting* setting) {
    const double fractions[] = {0.2, 0.5, 0.9, 1.0};  // 1: one action in every node
    setting->model.illegal_fraction = fractions[stream->UniformInt(4)];
  });
}

TEST(SearchReferenceTest, ChanceNodesGiveTheTreesOfTheReference) {
  CompareMany("chance settings", 300, [](RandomStream* stream, Setting* setting) {
    setting->model.num_chance_outcomes = 1 + static_cast<int>(stream->UniformInt(30));
    if (stream->Uniform() < 0.3) setting->model.illegal_fraction = 0.4;
  });
}

}  // namespace
}  // namespace lzero::search_reference_test
