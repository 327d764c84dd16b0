// The choice of a runner from the config.
#include "lzero/family/unizero/engine/runner_choice.h"

#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::runner_choice_test {
namespace {

using testing::HasSubstr;

TEST(RunnerChoiceTest, AutoSaysWhatItChoseAndWhy) {
  const auto choice = ChooseRunner({}, nullptr);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->runner, Runner::kPacked);
  EXPECT_THAT(choice->reason,
              HasSubstr("auto chose packed, the fastest on device cpu (this one has "));
  InferenceConfig named;
  named.runner = Runner::kEager;
  EXPECT_EQ(ChooseRunner(named, nullptr)->runner, Runner::kEager);
  EXPECT_EQ(ChooseRunner(named, nullptr)->reason, "");
}

TEST(RunnerChoiceTest, OnADeviceAutoRecordsGraphsUnlessTheyAreOff) {
  InferenceConfig config;
  config.device = Device::kCuda;
  SearchConfig search, sampled, of_two_sizes;
  sampled.num_sampled_actions = 8;
  of_two_sizes.cheap_fraction = 0.5;
  const std::tuple<const SearchConfig*, Runner, const char*> cases[] = {
      {nullptr, Runner::kCudaGraph, "auto chose cuda_graph: one launch a step on device cuda"},
      {&search, Runner::kCudaSearchGraph,
       "auto chose cuda_search_graph: one launch a search on device cuda"},
      {&sampled, Runner::kCudaGraph,
       "auto chose cuda_graph, one launch a step on device cuda: the host draws the sampled "
       "actions of each node, so a whole search is no graph"},
      {&of_two_sizes, Runner::kCudaGraph,
       "auto chose cuda_graph, one launch a step on device cuda: searches have two sizes "
       "(search.cheap_fraction), and a recorded one has one"}};
  for (const auto& [searches, runner, reason] : cases) {
    config.graphs = Graphs::kRequired;
    EXPECT_EQ(ChooseRunner(config, searches)->runner, runner);
    EXPECT_EQ(ChooseRunner(config, searches)->reason, reason);
    config.graphs = Graphs::kOff;
    EXPECT_EQ(ChooseRunner(config, searches)->runner, Runner::kEager);
  }
}

TEST(RunnerChoiceTest, AGraphRunnerRefusesGrowingStorageInWords) {
  InferenceConfig config;
  config.device = Device::kCuda;
  config.cache_storage = CacheStorage::kGrowing;
  const auto refusal = HasSubstr("inference.cache_storage: graphs need fixed addresses");
  EXPECT_THAT(std::string(ChooseRunner(config, nullptr).status().message()), refusal);
  config.graphs = Graphs::kOff;
  EXPECT_TRUE(ChooseRunner(config, nullptr).ok());
  config.graphs = Graphs::kPreferred;
  config.runner = Runner::kCudaSearchGraph;
  EXPECT_THAT(std::string(ChooseRunner(config, nullptr).status().message()), refusal);
}

}  // namespace
}  // namespace lzero::runner_choice_test
