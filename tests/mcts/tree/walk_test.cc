// Every walk and climb that can be chosen leaves the same bits as single steps, one tree after
// another, that know nothing when they are compiled.
#include "lzero/mcts/tree/walk.h"

#include <vector>

#include "gtest/gtest.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/tree/root.h"
#include "lzero/mcts/tree/tree.h"
#include "tests/mcts/same_trees.h"
#include "tests/mcts/search_testing.h"

namespace lzero::walk_test {
namespace {

// A search without noise by the walks and climbs for `instructions`.
class WalkedSearch {
 public:
  WalkedSearch(const SearchConfig& config, int num_actions, int num_roots)
      : rules_(MakeSearchRules(config, num_actions)),
        tree_(num_roots, rules_.num_simulations + 1, num_actions),
        scores_(static_cast<size_t>(kMaxWalks * tree_.padded_actions())) {}

  void Run(InferenceModel& model, absl::Span<const Root> roots, Instructions instructions) {
    const size_t num_roots = roots.size();
    const size_t width = static_cast<size_t>(tree_.num_actions());
    const RulesView rules = rules_.View();
    std::vector<Leaf> leaves(num_roots);
    std::vector<NodeId> parents(num_roots), children(num_roots);
    std::vector<int32_t> actions(num_roots);
    std::vector<float> rewards(num_roots), discounts(num_roots), values(num_roots);
    std::vector<float> logits(num_roots * width);
    const int count = static_cast<int>(num_roots);
    EXPECT_TRUE(model.InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
    for (size_t b = 0; b < num_roots; ++b) {
      BeginTree(tree_.view(), rules, static_cast<int>(b),
                {roots[b].env.value, b, values[b], logits.data() + b * width,
                 roots[b].legal_action_mask.data(), nullptr, tree_.num_actions()});
    }
    const WalkFunction walk =
        ChooseWalk(rules, tree_.num_actions(), model.num_chance_outcomes() > 0, instructions);
    const ClimbFunction climb = ChooseClimb(instructions);
    for (int simulation = 0; simulation < rules.num_simulations; ++simulation) {
      walk({tree_.view(), &rules, count, simulation, /*first_of_ties=*/simulation % 2 == 0,
            scores_.data(), leaves.data(), parents.data(), actions.data(), children.data()});
      EXPECT_TRUE(model
                      .RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                          absl::MakeSpan(discounts), absl::MakeSpan(values),
                                          absl::MakeSpan(logits))
                      .ok());
      climb({tree_.view(), count, simulation, leaves.data(), rewards.data(), discounts.data(),
             values.data(), logits.data()});
    }
  }
  // The same, one tree after another by the steps that know nothing.
  void RunPlainly(InferenceModel& model, absl::Span<const Root> roots);

  const Tree& tree() const { return tree_; }
  int num_nodes() const { return rules_.num_simulations + 1; }

 private:
  SearchRules rules_;
  Tree tree_;
  std::vector<float> scores_;
};

void WalkedSearch::RunPlainly(InferenceModel& model, absl::Span<const Root> roots) {
  const size_t width = static_cast<size_t>(tree_.num_actions());
  const RulesView rules = rules_.View();
  for (size_t i = 0; i < roots.size(); ++i) {
    std::vector<float> logits(width);
    float reward = 0.0f, discount = 0.0f, value = 0.0f;
    const int b = static_cast<int>(i);
    const auto out = [](float* number) { return absl::MakeSpan(number, 1); };
    EXPECT_TRUE(
        model.InitialInference(roots.subspan(i, 1), absl::MakeSpan(logits), out(&value)).ok());
    BeginTree(tree_.view(), rules, b,
              {roots[i].env.value, i, value, logits.data(), roots[i].legal_action_mask.data(),
               nullptr, tree_.num_actions()});
    for (int simulation = 0; simulation < rules.num_simulations; ++simulation) {
      const RootRecord& root = tree_.root(b);
      Cursor cursor = {{&rules, &root, tree_.num_actions(), tree_.padded_actions(),
                        simulation % 2 == 0, scores_.data(), TreeMinMaxScale(rules, root)},
                       tree_.view().nodes(b),
                       b};
      Leaf leaf;
      const bool has_chance = model.num_chance_outcomes() > 0;
      while (!(has_chance ? Step<ChanceKind>(tree_.view(), simulation, &cursor, &leaf)
                          : Step(tree_.view(), simulation, &cursor, &leaf))) {
      }
      const NodeId parent(leaf.parent), child(simulation + 1);
      EXPECT_TRUE(model
                      .RecurrentInference(absl::MakeConstSpan(&parent, 1),
                                          absl::MakeConstSpan(&leaf.action, 1),
                                          absl::MakeConstSpan(&child, 1), out(&reward),
                                          out(&discount), out(&value), absl::MakeSpan(logits))
                      .ok());
      BackUp(tree_.view(), b,
             ExpandLeaf(tree_.view(), b, simulation + 1, leaf,
                        {reward, discount, value, logits.data()}));
    }
  }
}

void ExpectSameWalks(const SearchConfig& config, const HashModelOptions& options, int num_roots) {
  HashModel model(options);
  RootBatch batch(num_roots, options.num_actions);
  WalkedSearch expected(config, options.num_actions, num_roots);
  expected.RunPlainly(model, batch.roots());
  for (const Instructions instructions : {Instructions::kBase, BestInstructions()}) {
    WalkedSearch got(config, options.num_actions, num_roots);
    got.Run(model, batch.roots(), instructions);
    ExpectSameTrees(expected.tree().view(), got.tree().view(), num_roots, expected.num_nodes());
  }
}

TEST(WalkTest, EveryKindGivesTheBitsOfPlainSteps) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const auto transform : {QTransform::kTreeMinMax, QTransform::kParentAndSiblings,
                                 QTransform::kMinMax, QTransform::kCompletedByMixValue}) {
      for (const int num_actions : {1, 2, 3, 4, 5, 9, 18, 21}) {
        SearchConfig config;
        config.policy = policy;
        config.q_transform = transform;
        config.num_simulations = 40;
        HashModelOptions options;
        options.num_actions = num_actions;
        options.logit_scale = num_actions == 9 ? 0.0f : 2.0f;  // ties
        SCOPED_TRACE(testing::Message()
                     << "policy " << static_cast<int>(policy) << ", transform "
                     << static_cast<int>(transform) << ", actions " << num_actions);
        ExpectSameWalks(config, options, 7);
        config.max_depth = 3;
        ExpectSameWalks(config, options, 3);
        config.max_depth.reset();
        options.illegal_fraction = 0.5;
        ExpectSameWalks(config, options, 7);
        options.num_chance_outcomes = (num_actions + 1) / 2;
        ExpectSameWalks(config, options, 5);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Nodes with few actions are selected at four at once: more roots than walks that take turns, any
// number left at the end, and ties.
TEST(WalkTest, NodesAbreastGiveTheBitsOfPlainSteps) {
  for (const auto transform : {QTransform::kTreeMinMax, QTransform::kCompletedByMixValue}) {
    for (const int num_actions : {2, 3, 4}) {
      for (const int num_roots : {1, 2, 5, kMaxWalks + 6}) {
        SearchConfig config;
        config.policy = SearchPolicy::kGumbel;
        config.q_transform = transform;
        config.num_simulations = 60;
        config.use_mixed_value = num_roots != 5;
        HashModelOptions options;
        options.num_actions = num_actions;
        options.value_scale = num_roots == 2 ? 0.0f : 1.0f;
        options.logit_scale = num_roots == 2 ? 0.0f : 2.0f;
        SCOPED_TRACE(testing::Message() << "transform " << static_cast<int>(transform)
                                        << ", actions " << num_actions << ", roots " << num_roots);
        ExpectSameWalks(config, options, num_roots);
        options.illegal_fraction = 0.4;
        config.rescale_values = false;
        ExpectSameWalks(config, options, num_roots);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// More nodes than the caches of a core hold: climbs take turns, and nodes are asked for early.
TEST(WalkTest, LargeBatchesGiveTheBitsOfPlainSteps) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    SearchConfig config;
    config.policy = policy;
    config.num_simulations = 50;
    HashModelOptions options;
    options.num_actions = 18;
    ExpectSameWalks(config, options, 90);
    options.num_actions = 2;
    ExpectSameWalks(config, options, 200);
  }
}

}  // namespace
}  // namespace lzero::walk_test
