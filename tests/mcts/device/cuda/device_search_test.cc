// The search in the memory of a CUDA device against the search of the host: every decision and
// every number of every tree, launched step by step and replayed from a captured graph. Skipped
// without a device. What needs none is in tests/mcts/device/device_search_equality_test.cc.
#include "lzero/mcts/device/device_search.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/mcts/device/device_driver.h"
#include "tests/mcts/random_setting.h"
#include "tests/mcts/same_trees.h"
#include "tests/mcts/search_testing.h"

namespace lzero::device_search_test {
namespace {

void ExpectCuda(cudaError_t error) { ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error); }

struct CudaCopies {
  static void* Allocate(size_t num_bytes) {
    void* memory = nullptr;
    ExpectCuda(cudaMalloc(&memory, num_bytes));
    ExpectCuda(cudaMemset(memory, 0xff, num_bytes));  // no numbers
    ExpectCuda(cudaDeviceSynchronize());              // other streams do not wait for it
    return memory;
  }
  static void Free(void* memory) { ExpectCuda(cudaFree(memory)); }
  static void CopyIn(void* device, const void* host, size_t num_bytes, DeviceStream stream) {
    ExpectCuda(cudaMemcpyAsync(device, host, num_bytes, cudaMemcpyHostToDevice, stream));
    ExpectCuda(cudaStreamSynchronize(stream));
  }
  static void CopyOut(void* host, const void* device, size_t num_bytes, DeviceStream stream) {
    ExpectCuda(cudaMemcpyAsync(host, device, num_bytes, cudaMemcpyDeviceToHost, stream));
    ExpectCuda(cudaStreamSynchronize(stream));
  }
};

// Answers by the number of the simulation alone: row `step` of a table, moved by one row a root.
// The same numbers lie in the memory of the device.
class TableModel final : public InferenceModel {
 public:
  TableModel(int num_actions, size_t num_roots, size_t num_steps)
      : num_actions_(num_actions),
        logits_((num_roots + num_steps) * Width()),
        numbers_(num_roots + num_steps) {
    RandomStream stream(/*seed=*/5, "table model");
    for (float& logit : logits_.host()) logit = static_cast<float>(stream.Normal());
    for (float& number : numbers_.host()) number = static_cast<float>(0.5 * stream.Normal());
    logits_.CopyIn(nullptr);
    numbers_.CopyIn(nullptr);
  }

  int num_actions() const override { return num_actions_; }
  absl::Status InitialInference(absl::Span<const Root>, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    step_ = 0;
    std::copy_n(logits_.host().begin(), prior_logits.size(), prior_logits.begin());
    std::copy_n(numbers_.host().begin(), value.size(), value.begin());
    return absl::OkStatus();
  }
  // Reward, discount and value of a row are one number.
  absl::Status RecurrentInference(absl::Span<const NodeId>, absl::Span<const int32_t>,
                                  absl::Span<const NodeId>, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    ++step_;
    const auto logits = logits_.host().begin() + static_cast<ptrdiff_t>(step_ * Width());
    const auto numbers = numbers_.host().begin() + static_cast<ptrdiff_t>(step_);
    std::copy_n(logits, prior_logits.size(), prior_logits.begin());
    for (const auto& out : {rewards, discounts, values}) {
      std::copy_n(numbers, out.size(), out.begin());
    }
    return absl::OkStatus();
  }
  DeviceStepOutputs OnDevice(size_t step) const {
    const float* numbers = numbers_.device() + step;
    return {numbers, numbers, numbers, logits_.device() + step * Width()};
  }

 private:
  size_t Width() const { return static_cast<size_t>(num_actions_); }

  int num_actions_;
  Mirror<float, CudaCopies> logits_;
  Mirror<float, CudaCopies> numbers_;
  size_t step_ = 0;
};

class CudaDeviceSearchTest : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
    }
    void* library = dlopen("liblzero_cuda.so", RTLD_NOW | RTLD_LOCAL);  // by the program's RPATH
    ASSERT_NE(library, nullptr) << dlerror();
    const auto look_up = reinterpret_cast<const DeviceFunctions* (*)(size_t)>(
        dlsym(library, "lz_cuda_search_functions"));
    ASSERT_NE(look_up, nullptr) << dlerror();
    EXPECT_EQ(look_up(kDeviceFunctionsVersion + 1), nullptr);
    functions_ = look_up(kDeviceFunctionsVersion);
    ASSERT_NE(functions_, nullptr);
    ExpectCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  void TearDown() override {
    if (stream_ != nullptr) ExpectCuda(cudaStreamDestroy(stream_));
  }

  std::unique_ptr<DeviceSearch> MakeDeviceSearch(const SearchConfig& config, int num_actions,
                                                 int max_roots) {
    auto search = DeviceSearch::Create(config, num_actions, max_roots, *functions_);
    EXPECT_TRUE(search.ok()) << search.status();
    return std::move(search).value();
  }

  void ExpectTreesOf(const Search& expected, const DeviceSearch& got, int num_roots) {
    const TreeView& device = got.device_arrays().tree;
    const int num_nodes = static_cast<int>(expected.config().num_simulations) + 1;
    const TreeLayout layout = TreeLayout::Of(got.max_roots(), num_nodes, device.num_actions);
    std::vector<double> memory(static_cast<size_t>(layout.num_bytes) / sizeof(double));
    ExpectCuda(cudaMemcpy(memory.data(), device.first_nodes, static_cast<size_t>(layout.num_bytes),
                          cudaMemcpyDeviceToHost));
    const TreeView copy =
        TreeView::Over(reinterpret_cast<std::byte*>(memory.data()), layout, device.num_actions);
    ExpectSameTrees(expected.tree().view(), copy, num_roots, num_nodes);
  }

  void ExpectSameSearch(const Setting& setting, const SearchRequest& request) {
    constexpr int kRoots = 3;
    const int num_actions = setting.model.num_actions;
    const int num_simulations = static_cast<int>(setting.config.num_simulations);
    HashModel model(setting.model);
    RootBatch batch(kRoots, num_actions);
    batch.mask(1) = setting.legal;
    batch.roots()[1].legal_action_mask = batch.mask(1);
    const auto search = MakeSearch(setting.config, num_actions, kRoots);
    const auto device = MakeDeviceSearch(setting.config, num_actions, kRoots + 2);
    DeviceDriver<CudaCopies> driver(device.get(), num_actions, stream_);
    SearchResult expected, got;
    for (const bool fused : {false, true}) {
      ASSERT_TRUE(search->Run(model, batch.roots(), request, &expected).ok());
      const absl::Status status =
          driver.Run(model, batch.roots(), request, num_simulations, fused, &got);
      ASSERT_TRUE(status.ok()) << status;
      ExpectSameResults(expected, got, /*exact_weights=*/false);
      ExpectTreesOf(*search, *device, kRoots);
    }
  }

  // One launch that runs a whole search with the table model.
  cudaGraphExec_t Capture(DeviceSearch* search, const TableModel& model, int num_simulations,
                          const DeviceQueries& queries) {
    const int rows = search->max_roots();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t launch = nullptr;
    ExpectCuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    const DeviceStepOutputs roots = model.OnDevice(0);
    EXPECT_TRUE(search->Upload(stream_).ok());
    EXPECT_TRUE(search->Begin(rows, {roots.prior_logits, roots.values}, stream_).ok());
    EXPECT_TRUE(search->Select(rows, queries, stream_).ok());
    for (int step = 1; step <= num_simulations; ++step) {
      const DeviceStepOutputs outputs = model.OnDevice(static_cast<size_t>(step));
      EXPECT_TRUE((step < num_simulations ? search->ExpandAndSelect(rows, outputs, queries, stream_)
                                          : search->Expand(rows, outputs, stream_))
                      .ok());
    }
    EXPECT_TRUE(search->Finish(rows, stream_).ok());
    EXPECT_TRUE(search->Download(stream_).ok());
    ExpectCuda(cudaStreamEndCapture(stream_, &graph));
    ExpectCuda(cudaGraphInstantiate(&launch, graph, 0));
    ExpectCuda(cudaGraphDestroy(graph));
    return launch;
  }

  const DeviceFunctions* functions_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CudaDeviceSearchTest, RandomSettingsGiveTheTreesOfTheHost) {
  RandomStream stream(/*seed=*/20240503, "cuda settings");
  for (int i = 0; i < 150; ++i) {
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
                 << setting.model.num_actions);
    ExpectSameSearch(setting, request);
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(CudaDeviceSearchTest, ManyActionsAndManySimulationsGiveTheTreesOfTheHost) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const int num_actions : {2, 362}) {
      Setting setting;
      setting.config.policy = policy;
      setting.config.num_simulations = num_actions == 2 ? 1000 : 60;
      setting.model.num_actions = num_actions;
      setting.legal.assign(static_cast<size_t>(num_actions), 1);
      SearchRequest request;
      request.add_noise = true;
      request.deterministic_ties = false;
      ExpectSameSearch(setting, request);
    }
  }
}

// One graph, captured once, for searches with other seeds, other roots and fewer of them.
TEST_F(CudaDeviceSearchTest, AReplayedGraphFollowsItsInputs) {
  constexpr int kRoots = 40;
  constexpr int kActions = 6;
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    SearchConfig config;
    config.policy = policy;
    config.num_simulations = 50;
    TableModel model(kActions, kRoots, 51);
    Mirror<int32_t, CudaCopies> parents(kRoots), actions(kRoots), children(kRoots);
    const auto search = MakeSearch(config, kActions, kRoots);
    const auto device = MakeDeviceSearch(config, kActions, kRoots);
    const cudaGraphExec_t launch =
        Capture(device.get(), model, 50, {parents.device(), actions.device(), children.device()});
    for (const int num_roots : {kRoots, 7, kRoots}) {
      RootBatch batch(num_roots, kActions);
      SearchRequest request;
      request.add_noise = true;
      request.deterministic_ties = num_roots == 7;
      request.search_index = static_cast<uint64_t>(num_roots);
      SearchResult expected, got;
      ASSERT_TRUE(search->Run(model, batch.roots(), request, &expected).ok());
      ASSERT_TRUE(device->Prepare(batch.roots(), request).ok());
      ExpectCuda(cudaGraphLaunch(launch, stream_));
      ExpectCuda(cudaStreamSynchronize(stream_));
      const absl::Status status = device->Read(batch.roots(), &got);
      ASSERT_TRUE(status.ok()) << status;
      ExpectSameResults(expected, got, /*exact_weights=*/false);
      ExpectTreesOf(*search, *device, num_roots);
    }
    ExpectCuda(cudaGraphExecDestroy(launch));
  }
}

// Nothing fails by being slow: prints what the tree costs inside a graph.
TEST_F(CudaDeviceSearchTest, PrintsTheTimeOfASimulation) {
  constexpr int kSimulations = 50;
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const int num_actions : {2, 6, 18}) {
      for (const int num_roots : {8, 256}) {
        SearchConfig config;
        config.policy = policy;
        config.num_simulations = kSimulations;
        const size_t rows = static_cast<size_t>(num_roots);
        TableModel model(num_actions, rows, kSimulations + 1);
        Mirror<int32_t, CudaCopies> parents(rows), actions(rows), children(rows);
        const auto device = MakeDeviceSearch(config, num_actions, num_roots);
        const cudaGraphExec_t launch =
            Capture(device.get(), model, kSimulations,
                    {parents.device(), actions.device(), children.device()});
        RootBatch batch(num_roots, num_actions);
        ASSERT_TRUE(device->Prepare(batch.roots(), {}).ok());
        cudaEvent_t start, end;
        ExpectCuda(cudaEventCreate(&start));
        ExpectCuda(cudaEventCreate(&end));
        float fastest_ms = 1e9f;
        for (int i = 0; i < 20; ++i) {
          float elapsed_ms = 0.0f;
          ExpectCuda(cudaEventRecord(start, stream_));
          ExpectCuda(cudaGraphLaunch(launch, stream_));
          ExpectCuda(cudaEventRecord(end, stream_));
          ExpectCuda(cudaEventSynchronize(end));
          ExpectCuda(cudaEventElapsedTime(&elapsed_ms, start, end));
          fastest_ms = std::min(fastest_ms, elapsed_ms);
        }
        std::printf("%-6s actions %2d roots %3d: %.2f us a simulation\n",
                    policy == SearchPolicy::kPuct ? "puct" : "gumbel", num_actions, num_roots,
                    1e3f * fastest_ms / kSimulations);
        ExpectCuda(cudaEventDestroy(start));
        ExpectCuda(cudaEventDestroy(end));
        ExpectCuda(cudaGraphExecDestroy(launch));
      }
    }
  }
}

}  // namespace
}  // namespace lzero::device_search_test
