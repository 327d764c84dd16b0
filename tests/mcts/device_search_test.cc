// The search of a device, compiled for the host, against the search of the host: the same decisions
// and the same bits in every node, on random settings and on all golden trees.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/mcts/golden.h"
#include "tests/mcts/plain_search.h"
#include "tests/mcts/random_setting.h"
#include "tests/mcts/same_trees.h"
#include "tests/mcts/search_testing.h"

namespace lzero {
namespace {

constexpr int kRoots = 3;

void ExpectSameSearch(const Setting& setting, const SearchRequest& request) {
  const int num_actions = setting.model.num_actions;
  HashModel model(setting.model);
  RootBatch batch(kRoots, num_actions);
  for (int b = 0; b < kRoots; b += 2) {
    batch.mask(b) = setting.legal;
    batch.roots()[static_cast<size_t>(b)].legal_action_mask = batch.mask(b);
  }
  const auto search = MakeSearch(setting.config, num_actions, kRoots);
  PlainSearch plain(setting.config, num_actions, kRoots + 2);
  SearchResult expected, got;
  // Twice: nothing is left over from the first search.
  for (int i = 0; i < 2; ++i) {
    const absl::Status status = search->Run(model, batch.roots(), request, &expected);
    ASSERT_TRUE(status.ok()) << status;
    const absl::Status plain_status = plain.Run(model, batch.roots(), request, &got);
    ASSERT_TRUE(plain_status.ok()) << plain_status;
    ExpectSameResults(expected, got);
    ExpectSameTrees(search->tree().view(), plain.tree(), kRoots, search->tree().num_nodes());
  }
}

TEST(DeviceSearchTest, RandomSettingsGiveTheBitsOfTheHost) {
  RandomStream stream(/*seed=*/20240502, "device settings");
  for (int i = 0; i < 300; ++i) {
    Setting setting = RandomSetting(&stream);
    if (stream.Uniform() < 0.4) setting.model.logit_scale = 0.0f;  // ties
    SearchRequest request;
    request.add_noise = stream.Uniform() < 0.5;
    request.deterministic_ties = stream.Uniform() < 0.5;
    request.seed = stream.NextUint64();
    request.search_index = stream.NextUint64();
    SCOPED_TRACE(testing::Message()
                 << "setting " << i << ": policy " << static_cast<int>(setting.config.policy)
                 << ", transform " << static_cast<int>(setting.config.q_transform) << ", actions "
                 << setting.model.num_actions << ", simulations " << setting.config.num_simulations
                 << ", noise " << request.add_noise << ", first of ties "
                 << request.deterministic_ties);
    ExpectSameSearch(setting, request);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(DeviceSearchTest, ManyActionsAndManySimulationsGiveTheBitsOfTheHost) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const int num_actions : {2, 362}) {
      Setting setting;
      setting.config.policy = policy;
      setting.config.num_simulations = num_actions == 2 ? 1000 : 60;
      setting.model.num_actions = num_actions;
      setting.model.logit_scale = num_actions == 2 ? 2.0f : 0.0f;
      setting.legal.assign(static_cast<size_t>(num_actions), 1);
      SearchRequest request;
      request.add_noise = true;
      request.deterministic_ties = false;
      ExpectSameSearch(setting, request);
    }
  }
}

TEST(DeviceSearchTest, GoldenTreesGiveTheBitsOfTheHost) {
  int num_files = 0;
  for (const char* folder : {"golden/search", "golden/search/options"}) {
    const std::string path = JoinPath(LZ_TEST_DATA, folder);
    const auto names = ListDirectory(path);
    ASSERT_TRUE(names.ok()) << names.status();
    for (const std::string& name : *names) {
      if (name.find(".json") == std::string::npos) continue;
      SCOPED_TRACE(name);
      const auto text = ReadFile(JoinPath(path, name));
      ASSERT_TRUE(text.ok()) << text.status();
      const auto golden = ParseGoldenTree(*text);
      ASSERT_TRUE(golden.ok()) << golden.status();
      const auto model = MakeGoldenModel(*golden);
      Root root;
      root.legal_action_mask = golden->legal_action_mask;
      SearchRequest request;
      request.root_gumbel = golden->root_gumbel;
      const auto search = MakeSearch(golden->config, golden->num_actions, 1);
      PlainSearch plain(golden->config, golden->num_actions, 1);
      SearchResult expected, got;
      const auto roots = absl::MakeConstSpan(&root, 1);
      ASSERT_TRUE(search->Run(*model, roots, request, &expected).ok());
      ASSERT_TRUE(plain.Run(*model, roots, request, &got).ok());
      ExpectSameResults(expected, got);
      ExpectSameTrees(search->tree().view(), plain.tree(), 1, search->tree().num_nodes());
      ++num_files;
    }
  }
  EXPECT_GE(num_files, 28);
}

}  // namespace
}  // namespace lzero
