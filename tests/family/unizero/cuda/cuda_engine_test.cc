// Engines on a real device: captured steps and roots beside the CPU's, weights updated in place,
// and memory after loading and unloading; skipped where there is no device.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/family/unizero/runners/graph_roots.h"
#include "lzero/family/unizero/runners/graph_step.h"
#include "lzero/family/unizero/runners/search_graph.h"
#include "lzero/family/unizero/unizero_engine.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/train/build.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/family/unizero/runners/moving_roots.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/null_gpu/count.h"

namespace lzero::cuda_engine_test {
namespace {

constexpr int kNumActions = 6;

std::shared_ptr<WorldModel> MakeModel(uint64_t seed, at::Device device) {
  const ModelConfig config;
  auto model = RandomModel(config, {{4}, kNumActions}, seed);
  if (!device.is_cpu()) model->to(device);
  return model;
}

class CudaEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeEngineDevice(Device::kCuda);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    device_ = *std::move(made);
    backend_ = device_.backend.get();
  }
  void TearDown() override {
    // tools/gpu_table.py shows it.
    if (largest_error_ >= 0) RecordProperty("largest_error", absl::StrCat(largest_error_));
  }

  // The first `batch` rows: the difference, relative to the largest number expected.
  void ExpectClose(const at::Tensor& got, const at::Tensor& expected, int64_t batch) {
    const at::Tensor g = got.narrow(0, 0, batch).cpu(), e = expected.narrow(0, 0, batch);
    const double scale = std::max(1.0, e.abs().max().item<double>());
    const double error = (g - e).abs().max().item<double>() / scale;
    EXPECT_LE(error, 1e-4);
    largest_error_ = std::max(largest_error_, error);
  }

  EngineDevice device_;
  GraphBackend* backend_ = nullptr;  // of the device
  double largest_error_ = -1;
};

void FillInputs(RandomStream& random, int64_t batch, StepBuffers& buffers) {
  const int64_t window = buffers.contexts.tokens.size(1);
  buffers.contexts.tokens.normal_();
  buffers.contexts.lengths.zero_();
  buffers.actions.zero_();
  for (int64_t row = 0; row < batch; ++row) {
    const int64_t length = random.UniformInt(window + 1);
    buffers.contexts.lengths[row].fill_(length);
    buffers.contexts.tokens[row].narrow(0, 0, window - length).zero_();
    buffers.actions[row].fill_(random.UniformInt(kNumActions));
  }
}

TEST_F(CudaEngineTest, CapturedStepsGiveTheNumbersOfTheCpu) {
  const auto model = MakeModel(1, backend_->device()), on_cpu = MakeModel(1, at::kCPU);
  auto step = MakeGraphStep(*model, 256, InferenceDtype::kFp32, device_, nullptr);
  ASSERT_TRUE(step.ok()) << step.status();
  EagerStep eager(*on_cpu, 256);
  RandomStream random(1, "cuda steps");
  for (const int64_t bucket : BatchBuckets()) {
    const int64_t batch = std::max<int64_t>(1, bucket - bucket / 3);  // idle rows too
    FillInputs(random, batch, eager.buffers());
    StepBuffers& buffers = (*step)->buffers();
    buffers.contexts.tokens.copy_(eager.buffers().contexts.tokens);
    buffers.contexts.lengths.copy_(eager.buffers().contexts.lengths);
    buffers.actions.copy_(eager.buffers().actions);
    buffers.values.fill_(std::nan(""));
    buffers.tokens.fill_(std::nan(""));
    ASSERT_TRUE(backend_->Synchronize().ok());
    ASSERT_TRUE((*step)->Run(batch).ok());
    ASSERT_TRUE(backend_->Synchronize().ok());
    ASSERT_TRUE(eager.Run(batch).ok());
    ExpectClose(buffers.values, eager.buffers().values, batch);
    ExpectClose(buffers.rewards, eager.buffers().rewards, batch);
    ExpectClose(buffers.prior_logits, eager.buffers().prior_logits, batch);
    ExpectClose(buffers.tokens, eager.buffers().tokens, batch);
  }
}

TEST_F(CudaEngineTest, WeightsUpdatedInPlaceTakeEffectAtTheNextReplay) {
  const auto model = MakeModel(2, backend_->device()), other = MakeModel(3, backend_->device());
  const auto other_cpu = MakeModel(3, at::kCPU);
  auto step = MakeGraphStep(*model, 4, InferenceDtype::kFp32, device_, nullptr).value();
  EagerStep eager(*other_cpu, 4);
  ASSERT_TRUE(step->Run(4).ok());
  ASSERT_TRUE(backend_->Synchronize().ok());
  model->CopyWeightsFrom(*other);
  ASSERT_TRUE(backend_->Synchronize().ok());
  ASSERT_TRUE(backend_->OnStream([&] { step->OnWeightsChanged(); }).ok());
  ASSERT_TRUE(backend_->Synchronize().ok());
  ASSERT_TRUE(step->Run(4).ok());
  ASSERT_TRUE(backend_->Synchronize().ok());
  ASSERT_TRUE(eager.Run(4).ok());
  ExpectClose(step->buffers().prior_logits, eager.buffers().prior_logits, 4);
}

// Visit counts of one search of an engine with these settings.
std::vector<int32_t> SearchOnce(const InferenceConfig& inference) {
  EngineOptions options;
  options.shape = {{4}, kNumActions};
  options.inference = inference;
  options.num_envs = 8;
  options.search.num_simulations = 25;
  auto engine = AnyUniZero(options).value();
  const auto weights = MakeModel(5, inference.device.is_cuda() ? at::kCUDA : at::kCPU);
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
  const auto search = BuildSearcher(options, engine.get()).value();
  RandomStream random(2, "roots");
  std::vector<std::vector<float>> observations(8, std::vector<float>(4));
  const std::vector<uint8_t> legal(kNumActions, 1);
  std::vector<Root> roots(8);
  for (int env = 0; env < 8; ++env) {
    for (float& number : observations[env]) number = static_cast<float>(random.Normal());
    roots[env].env = EnvId(env);
    roots[env].observations = observations[env];
    roots[env].legal_action_mask = legal;
  }
  SearchResult result;
  EXPECT_TRUE(search->Run(*engine, roots, {}, &result).ok());
  return result.visit_counts;
}

TEST_F(CudaEngineTest, ASearchVisitsWhatTheCpuVisits) {
  InferenceConfig cpu, graph, eager;
  graph.device = eager.device = Device::kCuda;
  graph.graphs = Graphs::kRequired;
  eager.runner = Runner::kEager;
  const std::vector<int32_t> expected = SearchOnce(cpu);
  const auto differing = [&](const std::vector<int32_t>& visits) {
    int count = 0;
    for (size_t i = 0; i < visits.size(); ++i) count += visits[i] != expected[i];
    return count;
  };
  // Rounding may turn a tie; random weights make ties rare.
  EXPECT_LE(differing(SearchOnce(graph)), 4);
  graph.runner = Runner::kCudaSearchGraph;
  EXPECT_LE(differing(SearchOnce(graph)), 4) << "one graph a search";
  EXPECT_LE(differing(SearchOnce(eager)), 4);
}

// A device may put one more kernel behind each product than the null GPU does: sums of parts, or an
// activation that its library does not fuse. One took 51 nodes a step.
TEST_F(CudaEngineTest, GraphsHaveTheNodesOfThePlan) {
  EngineOptions options;
  options.shape = {{4}, kNumActions};
  options.inference.device = Device::kCuda;
  options.inference.graphs = Graphs::kRequired;
  options.num_envs = 3;
  options.search.num_simulations = 25;
  const int64_t num_layers = options.model.num_layers, num_buckets = 2;
  auto engine = MakeUniZeroEngineOn(options, device_).value();
  const int64_t of_roots = backend_->recorded().num_nodes;
  const auto search = BuildSearcher(options, engine.get()).value();
  const int64_t of_searches = backend_->recorded().num_nodes - of_roots;
  const auto model = MakeModel(1, backend_->device());
  auto step = MakeGraphStep(*model, options.num_envs, InferenceDtype::kFp32, device_, nullptr);
  ASSERT_TRUE(step.ok()) << step.status();
  const int64_t of_steps = backend_->recorded().num_nodes - of_roots - of_searches;
  EXPECT_GE(of_steps, num_buckets * GraphStepNodes(num_layers));
  const int64_t num_products = 2 * (4 * num_layers + 3);
  EXPECT_LE(of_steps, num_buckets * (GraphStepNodes(num_layers) + num_products));
  EXPECT_GE(of_searches, SearchGraphNodes(num_layers, options.num_envs, 25));
  EXPECT_LE(of_searches,
            SearchGraphNodes(num_layers, options.num_envs, 25) + num_buckets * 25 * num_products);
  if (!null_gpu::IsUnder()) return;
  EXPECT_EQ(of_steps, num_buckets * GraphStepNodes(num_layers));
  EXPECT_EQ(of_searches, SearchGraphNodes(num_layers, options.num_envs, 25));
  // Operations of libtorch are one node each there but at level control; a device has more for
  // some.
  EXPECT_NEAR(of_roots, GraphRootsNodes(num_layers, options.num_envs), 0.35 * of_roots);
}

// Roots are libtorch's operations, whose precision is its own setting.
TEST_F(CudaEngineTest, RootsAreRoundedAsTheEngineIsTold) {
  const auto values_of = [](InferenceDtype dtype) {
    EngineOptions options;
    options.shape = {{4}, kNumActions};
    options.inference.device = Device::kCuda;
    options.inference.dtype = dtype;
    options.num_envs = 8;
    auto engine = AnyUniZero(options).value();
    EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*MakeModel(5, at::kCUDA))).ok());
    MovingRoots episodes(8, 4, kNumActions, 6);
    std::vector<float> logits(8 * kNumActions), values(8);
    EXPECT_TRUE(engine
                    ->InitialInference(episodes.Roots({0, 1, 2, 3, 4, 5, 6, 7}),
                                       absl::MakeSpan(logits), absl::MakeSpan(values))
                    .ok());
    return values;
  };
  const std::vector<float> exact = values_of(InferenceDtype::kFp32);
  for (const auto dtype : {InferenceDtype::kTf32, InferenceDtype::kBf16}) {
    const std::vector<float> rounded = values_of(dtype);
    EXPECT_NE(rounded, exact);
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(rounded[i], exact[i], 0.02 * std::max(1.0f, std::abs(exact[i])));
    }
  }
}

// Visit counts of nine searches that move on: contexts continued and windows slid, some roots of
// eight (idle rows), weights changed in place, noise.
std::vector<std::vector<int32_t>> SearchOften(Runner runner, SearchPolicy policy) {
  EngineOptions options;
  options.shape = {{4}, kNumActions};
  options.inference.device = Device::kCuda;
  options.inference.runner = runner;
  options.num_envs = 8;
  options.search.num_simulations = 25;
  options.search.policy = policy;
  auto engine = AnyUniZero(options).value();
  const auto search = BuildSearcher(options, engine.get()).value();
  MovingRoots episodes(8, 4, kNumActions, 6);
  std::vector<std::vector<int32_t>> visits;
  for (int round = 0; round < 9; ++round) {
    if (round % 4 == 0) {
      const auto weights = MakeModel(5 + round, at::kCUDA);
      EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*weights)).ok());
    }
    SearchRequest request;
    request.add_noise = round % 2 == 1;
    request.deterministic_ties = round % 3 == 0;
    request.search_index = static_cast<uint64_t>(round);
    const std::vector<int> envs =
        round % 2 == 0 ? std::vector<int>{7, 2, 0, 5, 3} : std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7};
    SearchResult result;
    const absl::Status status = search->Run(*engine, episodes.Roots(envs), request, &result);
    EXPECT_TRUE(status.ok()) << status;
    visits.push_back(result.visit_counts);
    episodes.Step();
  }
  return visits;
}

TEST_F(CudaEngineTest, SearchesThatMoveOnVisitWhatEagerOnesVisit) {
  for (const SearchPolicy policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    const auto expected = SearchOften(Runner::kEager, policy);
    for (const Runner runner : {Runner::kCudaGraph, Runner::kCudaSearchGraph}) {
      const auto got = SearchOften(runner, policy);
      int differing = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i].size(), expected[i].size());
        for (size_t j = 0; j < got[i].size(); ++j) differing += got[i][j] != expected[i][j];
      }
      // Rows of other batches may be rounded in another way, which may turn a tie.
      EXPECT_LE(differing, 12) << "policy " << static_cast<int>(policy) << ", runner "
                               << static_cast<int>(runner);
    }
  }
}

TEST_F(CudaEngineTest, TenLoadSearchUnloadCyclesPlateauAfterTheSecond) {
  const struct {
    const char* name;
    Graphs graphs;
    Runner runner;
  } cases[] = {{"cuda_graph", Graphs::kRequired, Runner::kCudaGraph},
               {"cuda_search_graph", Graphs::kRequired, Runner::kCudaSearchGraph},
               {"graphs off", Graphs::kOff, Runner::kAuto}};
  for (const auto& [name, graphs, runner] : cases) {
    InferenceConfig config;
    config.device = Device::kCuda;
    config.graphs = graphs;
    config.runner = runner;
    std::vector<int64_t> used, reserved;
    for (int cycle = 0; cycle < 10; ++cycle) {
      SearchOnce(config);
      ASSERT_TRUE(backend_->TrimMemory().ok());
      used.push_back(backend_->MemoryUse().value().used_bytes);
      reserved.push_back(backend_->MemoryUse().value().reserved_bytes);
      // The null GPU has no contexts and no modules: all bytes go back, and pinned memory too.
      EXPECT_EQ(null_gpu::CountOf("device_bytes"), 0) << "cycle " << cycle + 1 << ", " << name;
      EXPECT_EQ(null_gpu::CountOf("pinned_bytes"), 0) << "cycle " << cycle + 1 << ", " << name;
      EXPECT_EQ(null_gpu::CountOf("graphs"), 0) << "cycle " << cycle + 1 << ", " << name;
    }
    // Exactly: the driver and others use memory of the device, but not of libtorch's allocator.
    EXPECT_EQ(reserved, std::vector<int64_t>(10, reserved[0])) << name;
    for (size_t cycle = 2; cycle < used.size(); ++cycle) {
      EXPECT_LE(std::abs(used[cycle] - used[1]), int64_t{2} << 20)
          << "cycle " << cycle + 1 << ", " << name;
    }
  }
}

}  // namespace
}  // namespace lzero::cuda_engine_test
