// Four nodes at once get the actions that they get one by one. Whole trees are compared in
// walk_test.cc and search_reference_test.cc.
#include "lzero/mcts/tree/select_abreast.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/tree/search_kind.h"
#include "lzero/mcts/tree/simulate.h"
#include "lzero/mcts/tree/tree.h"

namespace lzero::select_abreast_test {
namespace {

// Node 1 of four trees, each with random numbers or with actions that are all alike.
template <int NumActions>
class FourNodes {
 public:
  FourNodes(const SearchConfig& config, bool first_of_ties)
      : rules_(MakeSearchRules(config, NumActions)),
        rules_view_(rules_.View()),
        tree_(kLanes, 2, NumActions),
        first_of_ties_(first_of_ties) {}

  void Draw(RandomStream* stream) {
    for (int k = 0; k < kLanes; ++k) {
      const bool alike = stream->Uniform() < 0.3;
      float logits[NumActions] = {};
      const int missing = static_cast<int>(stream->UniformInt(3 * NumActions));
      if (missing < NumActions) logits[missing] = -kInfinity;
      ExpandNode(tree_.view(), k, 1, {-1, -1, -1, 0},
                 {.value = static_cast<float>(stream->Normal()), .prior_logits = logits});
      const Node node = tree_.At(k, 1);
      OpenNode(node, kLanes);
      MakeReady(node, kLanes, 0.0f);
      RootRecord& root = tree_.root(k);
      root = {.min_q = 0.0f, .max_q = 0.0f, .env = k, .num_legal = NumActions, .tie_key = 7};
      const int first = static_cast<int>(stream->UniformInt(NumActions));
      const int same_visits = 1 + static_cast<int>(stream->UniformInt(3));
      for (int a = 0; a < NumActions; ++a) {
        if (a == missing) continue;
        if (!alike) node.prior[a] = static_cast<float>(stream->Uniform()) + 0.01f;
        const int drawn = static_cast<int>(stream->UniformInt(5)) + (a == first);
        node.visits[a] = alike ? same_visits : drawn;
        node.record->visits += node.visits[a];
        node.record->num_children += node.visits[a] > 0;
        if (node.visits[a] > 0 && !alike) node.q[a] = static_cast<float>(stream->Normal());
        root.min_q = std::min(root.min_q, node.q[a]);
        root.max_q = std::max(root.max_q, node.q[a]);
      }
    }
  }

  template <class Kind>
  void ExpectSameActions() {
    std::vector<SelectContext> contexts;
    float scores[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      contexts.push_back({&rules_view_, &tree_.root(k), NumActions, kLanes, first_of_ties_, scores,
                          TreeMinMaxScale(rules_, tree_.root(k))});
    }
    NodeVisit visits[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      visits[k] = {&contexts[static_cast<size_t>(k)], tree_.At(k, 1), 1};
    }
    int actions[kLanes];
    SelectGumbelAbreast<Kind>(visits, actions);
    for (int k = 0; k < kLanes; ++k) {
      EXPECT_EQ(actions[k], SelectGumbelInterior(*visits[k].context, visits[k].node, 1)) << k;
    }
  }

 private:
  SearchRules rules_;
  RulesView rules_view_;
  Tree tree_;
  bool first_of_ties_;
};

template <QTransform Transform, int NumActions>
void ExpectSameActions() {
  RandomStream stream(/*seed=*/NumActions, "select abreast");
  for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) {
    SearchConfig config;
    config.policy = SearchPolicy::kGumbel;
    config.q_transform = Transform;
    config.use_mixed_value = i % 3 != 0;
    config.rescale_values = i % 5 != 0;
    FourNodes<NumActions> nodes(config, /*first_of_ties=*/i % 2 == 0);
    nodes.Draw(&stream);
    nodes.template ExpectSameActions<AbreastKind<Transform, NumActions>>();
  }
}

TEST(SelectAbreastTest, TakesTheActionsOfSingleNodes) {
  ExpectSameActions<QTransform::kTreeMinMax, 2>();
  ExpectSameActions<QTransform::kTreeMinMax, 3>();
  ExpectSameActions<QTransform::kTreeMinMax, 4>();
  ExpectSameActions<QTransform::kCompletedByMixValue, 2>();
  ExpectSameActions<QTransform::kCompletedByMixValue, 3>();
  ExpectSameActions<QTransform::kCompletedByMixValue, 4>();
}

}  // namespace
}  // namespace lzero::select_abreast_test
