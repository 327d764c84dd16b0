// Whole searches from a graph, on a backend that replays on the CPU and functions of the device
// compiled for the host: against Search with eager steps of the same engine settings.
#include "lzero/family/unizero/runners/search_graph.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/family/unizero/runners/graph_roots.h"
#include "lzero/family/unizero/unizero_engine.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/family/unizero/runners/moving_roots.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/family/unizero/runners/replay_device.h"

namespace lzero::search_graph_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kNumEnvs = 5;
constexpr int kNumActions = 4;
constexpr int kObservationSize = 3;
constexpr int kNumRootGraphs = 6;  // buckets of 2, 4 and 8 roots, rebuilt and continued

EngineOptions SmallOptions() {
  EngineOptions options;
  options.model.embed_dim = 16;
  options.model.num_heads = 2;
  options.model.context_length = 6;
  options.model.support_size = 11;
  options.model.encoder_width = 16;
  options.shape = {{kObservationSize}, kNumActions};
  options.num_envs = kNumEnvs;
  options.search.num_simulations = 12;
  options.discount = 0.9;
  return options;
}

// An engine with its searcher, null where that failed and need not work.
struct GraphEngine {
  std::unique_ptr<UniZeroInference> engine;
  std::unique_ptr<Searcher> searcher;
};

// On the replaying backend; `backend` is valid as long as the engine lives.
absl::StatusOr<GraphEngine> MakeGraphEngine(EngineOptions options, ReplayBackend** backend,
                                            int fail_capture = -1) {
  options.inference.device = Device::kCuda;
  options.inference.runner = Runner::kCudaSearchGraph;
  EngineDevice device = MakeReplayDevice();
  *backend = &BackendOf(device);
  (*backend)->fail_capture = fail_capture;
  GraphEngine made_engine;
  LZ_ASSIGN_OR_RETURN(made_engine.engine, MakeUniZeroEngineOn(options, std::move(device)));
  LZ_ASSIGN_OR_RETURN(made_engine.searcher, made_engine.engine->MakeDeviceSearcher());
  return made_engine;
}

std::unique_ptr<UniZeroInference> MakeEagerEngine(EngineOptions options) {
  options.inference.runner = Runner::kEager;
  return AnyUniZero(options).value();
}

void ExpectNear(const std::vector<float>& got, const std::vector<float>& expected,
                const char* what) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-4 * std::max(1.0f, std::abs(expected[i])))
        << what << " " << i;
  }
}

// The same search of both; every decision equal.
void ExpectSameSearch(const GraphEngine& graph, UniZeroInference& eager, const SearchConfig& config,
                      absl::Span<const Root> roots, const SearchRequest& request) {
  const auto search = Search::Create(config, kNumActions, kNumEnvs).value();
  SearchResult got, expected;
  Searcher& searcher = graph.searcher != nullptr ? *graph.searcher : *search;
  const absl::Status ran = searcher.Run(*graph.engine, roots, request, &got);
  ASSERT_TRUE(ran.ok()) << ran;
  ASSERT_TRUE(search->Run(eager, roots, request, &expected).ok());
  EXPECT_EQ(got.visit_counts, expected.visit_counts);
  EXPECT_EQ(got.best_actions, expected.best_actions);
  EXPECT_EQ(got.mean_depth, expected.mean_depth);
  ExpectNear(got.root_values, expected.root_values, "root value");
  ExpectNear(got.network_values, expected.network_values, "network value");
  ExpectNear(got.action_weights, expected.action_weights, "weight");
  ExpectNear(got.q_values, expected.q_values, "Q");
}

TEST(SearchGraphTest, WholeSearchesEqualSearchesStepByStep) {
  SetTensorThreads(1);
  for (const SearchPolicy policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const int num_players : {1, 2}) {
      EngineOptions options = SmallOptions();
      options.search.policy = policy;
      options.num_players = num_players;
      ReplayBackend* backend = nullptr;
      const auto graph = MakeGraphEngine(options, &backend).value();
      const auto eager = MakeEagerEngine(options);
      MovingRoots episodes(kNumEnvs, kObservationSize, kNumActions, 3);
      RandomStream random(5, "rounds");
      for (int round = 0; round < 24; ++round) {
        SCOPED_TRACE(testing::Message() << "round " << round << ", players " << num_players);
        if (round % 6 == 0) {  // in place: the next replay reads them
          const auto weights = RandomModel(options.model, options.shape, 1 + round);
          ASSERT_TRUE(graph.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
          ASSERT_TRUE(eager->CopyWeightsFrom(NetworkWeights(*weights)).ok());
        }
        // All, some, and in another order: other buckets, idle rows.
        std::vector<int> envs;
        for (int env = kNumEnvs; env-- > 0;) {
          if (round % 2 == 0 || env == 3 || random.UniformInt(2) == 0) envs.push_back(env);
        }
        SearchRequest request;
        request.add_noise = round % 3 != 0;
        request.deterministic_ties = round % 4 == 0;
        request.search_index = static_cast<uint64_t>(round);
        const int replays = backend->num_replays;
        const RootStats before = graph.engine->root_stats();
        ExpectSameSearch(graph, *eager, options.search, episodes.Roots(envs), request);
        // One launch a search, and one each for roots that are rebuilt and continued.
        const RootStats& after = graph.engine->root_stats();
        EXPECT_EQ(backend->num_replays - replays,
                  1 + (after.rebuilt > before.rebuilt) + (after.continued > before.continued));
        EXPECT_EQ(graph.engine->root_stats().continued, eager->root_stats().continued);
        episodes.Step();
      }
      EXPECT_GT(graph.engine->root_stats().continued, 20);
    }
  }
}

TEST(SearchGraphTest, EveryBucketIsCapturedOnceAndUnloadedTogether) {
  SetTensorThreads(1);
  const int memories = NumPlainMemories();
  // Lives longer than the engine, which owns its backend.
  struct Counts {
    int captures, warm_ups, live;
  } counts;
  {
    ReplayBackend* backend = nullptr;
    const auto engine = MakeGraphEngine(SmallOptions(), &backend).value();
    counts = {backend->num_captures, backend->num_warm_ups, backend->num_live};
    EXPECT_EQ(engine.engine->runner_name(), "cuda_search_graph");
    EXPECT_EQ(engine.searcher->num_actions(), kNumActions);
    EXPECT_EQ(NumPlainMemories(), memories + 1);
  }
  EXPECT_EQ(counts.captures, kNumRootGraphs + 3);  // the largest: 2, 4, 8
  EXPECT_EQ(counts.warm_ups, 3 * counts.captures);
  EXPECT_EQ(counts.live, counts.captures);
  EXPECT_EQ(NumPlainMemories(), memories);
}

TEST(SearchGraphTest, LongSearchesAreRecordedForTheLargestBucketsAlone) {
  SetTensorThreads(1);
  EngineOptions options = SmallOptions();
  for (const auto& [simulations, captures] :
       {std::pair<int64_t, int>(333, 3), {334, 2}, {500, 2}, {501, 1}}) {
    options.search.num_simulations = simulations;
    ReplayBackend* backend = nullptr;
    const auto engine = MakeGraphEngine(options, &backend).value();
    EXPECT_EQ(backend->num_captures, kNumRootGraphs + captures) << simulations;
    if (simulations != 500) continue;
    const auto eager = MakeEagerEngine(options);
    const auto weights = RandomModel(options.model, options.shape, 2);
    ASSERT_TRUE(engine.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    ASSERT_TRUE(eager->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    const MovingRoots episodes(kNumEnvs, kObservationSize, kNumActions,
                               4);  // one root in a bucket of four
    ExpectSameSearch(engine, *eager, options.search, episodes.Roots({1}), {});
  }
}

TEST(SearchGraphTest, ASearchWaitsForItsOwnStreamOnceAndWeightsAreCopiedWhenItReturns) {
  SetTensorThreads(1);
  const EngineOptions options = SmallOptions();
  ReplayBackend* backend = nullptr;
  const auto engine = MakeGraphEngine(options, &backend).value();
  const auto weights = RandomModel(options.model, options.shape, 2);
  int waits = backend->num_waits;
  ASSERT_TRUE(engine.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  EXPECT_EQ(backend->num_waits, waits + 1);
  const MovingRoots episodes(kNumEnvs, kObservationSize, kNumActions, 4);
  SearchResult result;
  waits = backend->num_waits;
  const int synchronizations = backend->num_synchronizations;
  ASSERT_TRUE(engine.searcher->Run(*engine.engine, episodes.Roots({0, 1}), {}, &result).ok());
  EXPECT_EQ(backend->num_waits, waits + 1);
  EXPECT_EQ(backend->num_synchronizations, synchronizations);  // the learner goes on
}

TEST(SearchGraphTest, AFailedCaptureFallsBackOnlyWhereTheConfigAllowsIt) {
  SetTensorThreads(1);
  const int memories = NumPlainMemories();
  EngineOptions options = SmallOptions();
  ReplayBackend* backend = nullptr;
  options.inference.graphs = Graphs::kRequired;
  EXPECT_THAT(
      std::string(MakeGraphEngine(options, &backend, kNumRootGraphs + 1).status().message()),
      HasSubstr("recording a search of 4: capture failed: busy"));
  EXPECT_EQ(NumPlainMemories(), memories);
  options.inference.graphs = Graphs::kPreferred;
  const auto engine = MakeGraphEngine(options, &backend, kNumRootGraphs + 1).value();
  EXPECT_EQ(engine.searcher, nullptr);
  EXPECT_EQ(engine.engine->runner_name(), "eager");
  EXPECT_EQ(backend->num_live, 0);
  const auto eager =
      MakeEagerEngine(options.inference.graphs == Graphs::kOff ? options : SmallOptions());
  const auto weights = RandomModel(options.model, options.shape, 2);
  ASSERT_TRUE(engine.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  ASSERT_TRUE(eager->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  const MovingRoots episodes(kNumEnvs, kObservationSize, kNumActions, 4);
  ExpectSameSearch(engine, *eager, options.search, episodes.Roots({0, 1, 2}), {});
}

TEST(SearchGraphTest, NoRootsGiveAnEmptyResult) {
  SetTensorThreads(1);
  ReplayBackend* backend = nullptr;
  const auto engine = MakeGraphEngine(SmallOptions(), &backend).value();
  SearchResult result;
  ASSERT_TRUE(engine.searcher->Run(*engine.engine, {}, {}, &result).ok());
  EXPECT_EQ(result.num_roots, 0);
  EXPECT_EQ(result.num_actions, kNumActions);
  EXPECT_EQ(backend->num_replays, 0);
}

TEST(SearchGraphTest, SampledActionsAreRefusedWhenTheSearcherIsMade) {
  SetTensorThreads(1);
  EngineOptions options = SmallOptions();
  options.search.num_sampled_actions = 2;
  ReplayBackend* backend = nullptr;
  EXPECT_EQ(MakeGraphEngine(options, &backend).status(),
            absl::UnimplementedError("a search that runs inside the memory of a device knows no "
                                     "sampled actions; take a runner that searches on the host"));
}

TEST(SearchGraphTest, NumbersThatAreNotFiniteNameTheEnvironment) {
  SetTensorThreads(1);
  const EngineOptions options = SmallOptions();
  ReplayBackend* backend = nullptr;
  const auto engine = MakeGraphEngine(options, &backend).value();
  const auto weights = RandomModel(options.model, options.shape, 2);
  const MovingRoots episodes(kNumEnvs, kObservationSize, kNumActions, 4);
  SearchResult result;
  const torch::NoGradGuard no_grad;
  for (at::Tensor& weight : weights->parameters()) weight.fill_(std::nanf(""));
  ASSERT_TRUE(engine.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  const absl::Status status =
      engine.searcher->Run(*engine.engine, episodes.Roots({2, 0}), {}, &result);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("environment 2, node 0"));
  // What this one left does not change the next one.
  Randomize(*weights, 7);
  for (at::Tensor& weight : weights->parameters()) weight.nan_to_num_(0.1);
  ASSERT_TRUE(engine.engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  const auto eager = MakeEagerEngine(options);
  ASSERT_TRUE(eager->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  ExpectSameSearch(engine, *eager, options.search, episodes.Roots({2, 0}), {});
}

TEST(SearchGraphTest, BytesAreThoseOfItsArrays) {
  const EngineOptions options = SmallOptions();
  EngineOptions steps = options, searches = options;
  for (EngineOptions* of : {&steps, &searches}) of->inference.device = Device::kCuda;
  steps.inference.runner = Runner::kEager;
  searches.inference.runner = Runner::kCudaSearchGraph;
  EXPECT_EQ(AnyUniZeroBytes(searches) - AnyUniZeroBytes(steps),
            SearchGraphBytes(options.search, options.model, options.shape, kNumEnvs) +
                DeviceNetwork::Bytes(options.model, options.shape, 8, InferenceDtype::kFp32) +
                GraphRootsBytes(options.model, options.shape, kNumEnvs) -
                EagerRoots::Bytes(options.model, options.shape, kNumEnvs));
  // 8 rows: logits and values of roots and nodes, rewards, discounts; 3 queries and 13 parents;
  // twice 5 slots and a length, the first node, a child's slot, its action; the trees.
  EXPECT_EQ(SearchGraphBytes(options.search, options.model, options.shape, kNumEnvs),
            8 * (4 * (2 * 4 + 4) + 4 * (3 + 13) + 8 * (2 * 6 + 3)) +
                TreeLayout::Of(8, 13, kNumActions).num_bytes);
}

}  // namespace
}  // namespace lzero::search_graph_test
