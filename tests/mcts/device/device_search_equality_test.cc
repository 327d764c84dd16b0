// The search of a device, compiled for the host, against the search of the host: the same decisions
// and the same bits in every node, on random settings and on all golden trees.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "lzero/mcts/golden/golden.h"
#include "tests/mcts/device/device_driver.h"
#include "tests/mcts/random_setting.h"
#include "tests/mcts/same_trees.h"
#include "tests/mcts/search_testing.h"
#include "tests/support/plain_functions.h"

namespace lzero::device_search_equality_test {
namespace {

constexpr int kRoots = 3;

std::unique_ptr<DeviceSearch> MakePlainSearch(const SearchConfig& config, int num_actions,
                                              int max_roots) {
  auto search = DeviceSearch::Create(config, num_actions, max_roots, PlainFunctions());
  EXPECT_TRUE(search.ok()) << search.status();
  return std::move(search).value();
}

// Twice, so that nothing is left over from the first search.
void ExpectSameSearches(const SearchConfig& config, InferenceModel& model,
                        absl::Span<const Root> roots, const SearchRequest& request) {
  const int num_roots = static_cast<int>(roots.size());
  const auto search = MakeSearch(config, model.num_actions(), num_roots);
  const auto plain = MakePlainSearch(config, model.num_actions(), num_roots + 2);
  DeviceDriver<HostCopies> driver(plain.get(), model.num_actions(), nullptr);
  const int num_simulations = static_cast<int>(config.num_simulations);
  SearchResult expected, got;
  for (const bool fused : {false, true}) {
    const absl::Status status = search->Run(model, roots, request, &expected);
    ASSERT_TRUE(status.ok()) << status;
    const absl::Status plain_status =
        driver.Run(model, roots, request, num_simulations, fused, &got);
    ASSERT_TRUE(plain_status.ok()) << plain_status;
    ExpectSameResults(expected, got);
    ExpectSameTrees(search->tree().view(), plain->device_arrays().tree, num_roots,
                    num_simulations + 1);
  }
}

void ExpectSameSearch(const Setting& setting, const SearchRequest& request) {
  const int num_actions = setting.model.num_actions;
  HashModel model(setting.model);
  RootBatch batch(kRoots, num_actions);
  for (int b = 0; b < kRoots; b += 2) {
    batch.mask(b) = setting.legal;
    batch.roots()[static_cast<size_t>(b)].legal_action_mask = batch.mask(b);
  }
  ExpectSameSearches(setting.config, model, batch.roots(), request);
}

TEST(DeviceSearchEqualityTest, RandomSettingsGiveTheBitsOfTheHost) {
  RandomStream stream(/*seed=*/20240502, "device settings");
  for (int i = 0; i < 300; ++i) {
    Setting setting = RandomSetting(&stream);
    if (stream.Uniform() < 0.4) setting.model.logit_scale = 0.0f;  // ties
    if (i % 2 == 1) setting.model.illegal_fraction = 0.25 * (1 + i % 4);
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

TEST(DeviceSearchEqualityTest, ManyActionsAndManySimulationsGiveTheBitsOfTheHost) {
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

TEST(DeviceSearchEqualityTest, GoldenTreesGiveTheBitsOfTheHost) {
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
      ExpectSameSearches(golden->config, *model, absl::MakeConstSpan(&root, 1), request);
      ++num_files;
    }
  }
  EXPECT_GE(num_files, 28);
}

}  // namespace
}  // namespace lzero::device_search_equality_test
