// Search against the slow reference on random settings.
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "tests/mcts/reference_search.h"
#include "tests/mcts/search_testing.h"

namespace lzero {
namespace {

// A choice closer than this may fall either way in float32.
constexpr double kNearTie = 2e-4;

struct Setting {
  SearchConfig config;
  HashModelOptions model;
  std::vector<uint8_t> legal;
  std::vector<float> gumbel;
};

Setting RandomSetting(RandomStream* stream) {
  Setting setting;
  SearchConfig& config = setting.config;
  config.policy = stream->Uniform() < 0.5 ? SearchPolicy::kPuct : SearchPolicy::kGumbel;
  config.q_transform = static_cast<QTransform>(stream->UniformInt(4));
  config.num_simulations = 1 + stream->UniformInt(stream->Uniform() < 0.5 ? 20 : 100);
  config.pb_c_init = 0.5 + 2.0 * stream->Uniform();
  config.min_max_delta = stream->Uniform() < 0.5 ? 0.01 : 1.0;
  config.max_num_considered_actions = 1 + stream->UniformInt(20);
  config.value_scale = stream->Uniform() < 0.5 ? 0.1 : 0.03;
  config.rescale_values = stream->Uniform() < 0.7;
  config.use_mixed_value = stream->Uniform() < 0.7;
  config.max_value = stream->Uniform() < 0.5 ? 1.0 : 3.0;
  if (stream->Uniform() < 0.4) config.max_depth = 1 + stream->UniformInt(5);
  const double discounts[] = {0.997, 0.9, -1.0, -0.9};
  setting.model.seed = stream->NextUint64();
  setting.model.num_actions = 1 + static_cast<int>(stream->UniformInt(24));
  setting.model.discount = static_cast<float>(discounts[stream->UniformInt(4)]);
  setting.model.value_scale = stream->Uniform() < 0.5 ? 1.0f : 4.0f;
  setting.model.terminal_fraction = stream->Uniform() < 0.3 ? 0.2 : 0.0;
  const bool some_illegal = stream->Uniform() < 0.4;
  for (int a = 0; a < setting.model.num_actions; ++a) {
    setting.legal.push_back(some_illegal && stream->Uniform() < 0.4 ? 0 : 1);
    setting.gumbel.push_back(static_cast<float>(stream->Gumbel()));
  }
  setting.legal[static_cast<size_t>(stream->UniformInt(setting.model.num_actions))] = 1;
  return setting;
}

void CompareNodes(const ReferenceSearch::Node& expected, const Tree& tree, int node) {
  ASSERT_TRUE(tree.IsExpanded(0, node));
  ASSERT_EQ(tree.node_visits(0, node), expected.visits);
  EXPECT_NEAR(tree.value(0, node), expected.mean, 1e-5);
  for (int a = 0; a < tree.num_actions(); ++a) {
    const auto found = expected.children.find(a);
    if (found == expected.children.end()) {
      EXPECT_EQ(tree.visit_count(0, node, a), 0);
      EXPECT_EQ(tree.child(0, node, a), -1);
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
  const auto answer = [&](const std::vector<int32_t>& path) {
    const auto outputs = model.Evaluate(EnvId(0), 0, path);
    return ReferenceOutputs{outputs.reward,
                            outputs.discount,
                            outputs.value,
                            {outputs.prior_logits.begin(), outputs.prior_logits.end()}};
  };
  ReferenceSearch reference(setting.config, setting.model.num_actions, setting.legal,
                            {setting.gumbel.begin(), setting.gumbel.end()}, answer);
  reference.Run();
  if (reference.smallest_gap() < kNearTie) return false;

  const auto search = MakeSearch(setting.config, setting.model.num_actions, 1);
  RootBatch batch(1, setting.model.num_actions);
  batch.mask(0) = setting.legal;
  batch.roots()[0].legal_action_mask = batch.mask(0);
  SearchRequest request;
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

TEST(SearchReferenceTest, RandomSettingsGiveTheTreesOfTheReference) {
  RandomStream stream(/*seed=*/20240501, "reference settings");
  int num_compared = 0;
  constexpr int kNumSettings = 400;
  for (int i = 0; i < kNumSettings; ++i) {
    const Setting setting = RandomSetting(&stream);
    SCOPED_TRACE(testing::Message()
                 << "setting " << i << ": policy " << static_cast<int>(setting.config.policy)
                 << ", transform " << static_cast<int>(setting.config.q_transform) << ", actions "
                 << setting.model.num_actions << ", simulations "
                 << setting.config.num_simulations);
    num_compared += CompareOnce(setting);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(num_compared, kNumSettings / 2);
}

}  // namespace
}  // namespace lzero
