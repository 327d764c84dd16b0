// Recording and replaying on a real device; skipped where there is none.
#include "gtest/gtest.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/tensor/staging.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero::cuda_graph_backend_test {
namespace {

class CudaGraphBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeCudaGraphBackend(0);
    if (!made.ok()) GTEST_SKIP() << made.status().message();
    backend_ = *std::move(made);
  }
  at::Tensor OnDevice(const at::Tensor& tensor) const { return tensor.to(backend_->device()); }

  std::unique_ptr<GraphBackend> backend_;
};

TEST_F(CudaGraphBackendTest, AReplayReadsInputsWhereTheyAre) {
  const at::Tensor x = OnDevice(at::ones({4})), y = OnDevice(at::zeros({4}));
  const auto body = [&] { y.copy_(x * 2 + 1); };
  ASSERT_TRUE(backend_->WarmUp(3, body).ok());
  auto graph = backend_->Capture(body);
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const double value : {5.0, -2.0, 0.5}) {
    x.fill_(value);
    y.fill_(std::nan(""));
    ASSERT_TRUE(backend_->Synchronize().ok());
    ASSERT_TRUE((*graph)->Replay().ok());
    ASSERT_TRUE(backend_->Synchronize().ok());
    EXPECT_TRUE(at::equal(y.cpu(), at::full({4}, 2 * value + 1)));
  }
}

// Backward runs in a thread of libtorch, which must put its work on the stream that captures.
TEST_F(CudaGraphBackendTest, ACapturedBackwardGivesTheGradientsOfTheCpu) {
  const auto gradient_of = [](const at::Tensor& x, const at::Tensor& weight) {
    weight.mutable_grad() = at::zeros_like(weight);
    at::relu(at::mm(x, weight)).pow(2).sum().backward();
    return weight.grad();
  };
  const at::Tensor on_cpu = at::randn({8, 4}), drawn = at::randn({4, 3});
  const at::Tensor x = OnDevice(on_cpu), weight = OnDevice(drawn).requires_grad_();
  at::Tensor gradient = OnDevice(at::zeros({4, 3}));
  const auto body = [&] { gradient.copy_(gradient_of(x, weight)); };
  ASSERT_TRUE(backend_->WarmUp(3, body).ok());
  std::vector<std::unique_ptr<CapturedGraph>> graphs;
  auto graph = backend_->Capture(body);
  ASSERT_TRUE(graph.ok()) << graph.status();
  graphs.push_back(*std::move(graph));
  const at::Tensor weight_on_cpu = drawn.clone().requires_grad_();
  for (const double factor : {1.0, -2.0, 0.5}) {
    x.copy_(on_cpu * factor);
    gradient.fill_(std::nan(""));
    ASSERT_TRUE(backend_->Synchronize().ok());
    ASSERT_TRUE(graphs[0]->Replay().ok());
    ASSERT_TRUE(backend_->Synchronize().ok());
    const at::Tensor expected = gradient_of(on_cpu * factor, weight_on_cpu);
    EXPECT_TRUE(at::allclose(gradient.cpu(), expected, 1e-4, 1e-4));
  }
  weight.mutable_grad().reset();
  EXPECT_TRUE(backend_->Unload(std::move(graphs)).ok());
}

TEST_F(CudaGraphBackendTest, CopiesThatWaitForNothingArriveInOrder) {
  Staging staging = Staging::Wrap("numbers", OnDevice(at::zeros({4})));
  at::Tensor sum = OnDevice(at::zeros({4}));
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(staging.CopyInAsync<float>({1, 2, 3, static_cast<float>(round)}).ok());
    sum.add_(staging.tensor());
    ASSERT_TRUE(backend_->Synchronize().ok());
  }
  EXPECT_TRUE(at::equal(sum.cpu(), at::tensor({3.0f, 6.0f, 9.0f, 6.0f})));
}

TEST_F(CudaGraphBackendTest, ABodyThatWaitsForTheDeviceIsRefusedWithItsCause) {
  const at::Tensor x = OnDevice(at::ones({1}));
  const auto graph = backend_->Capture([&] { x.item<float>(); });
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(graph.status().message().find("capture failed: "), absl::string_view::npos);
  // The stream records no more: it can be used again.
  EXPECT_TRUE(backend_->WarmUp(1, [&] { x.add_(1); }).ok());
  // Nor do the allocators: they give memory back, and another capture works.
  EXPECT_TRUE(backend_->TrimMemory().ok());
  auto other = backend_->Capture([&] { x.add_(1); });
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE((*other)->Replay().ok());
  ASSERT_TRUE(backend_->Synchronize().ok());
  EXPECT_EQ(x.cpu().item<float>(), 3.0f);
  std::vector<std::unique_ptr<CapturedGraph>> graphs;
  graphs.push_back(*std::move(other));
  EXPECT_TRUE(backend_->Unload(std::move(graphs)).ok());
}

// As an update with dropout that goes on without its graph.
TEST_F(CudaGraphBackendTest, ARefusedCaptureLeavesRandomNumbersToOthers) {
  const at::Tensor x = OnDevice(at::ones({1}));
  EXPECT_FALSE(backend_->Capture([&] { x.item<float>(); }).ok());
  const absl::StatusOr<at::Tensor> drawn = CatchTorch([&] { return at::rand({4}, x.options()); });
  EXPECT_TRUE(drawn.ok()) << drawn.status();
}

// Units that come and go beside a live one leave nothing behind either.
TEST_F(CudaGraphBackendTest, UnitsBesideALiveOneGiveTheirMemoryBack) {
  const at::Tensor x = OnDevice(at::randn({64, 768})), weight = OnDevice(at::randn({768, 3072}));
  at::Tensor out = OnDevice(at::zeros({64, 3072}));
  const auto body = [&] { at::mm_out(out, x, weight); };
  ASSERT_TRUE(backend_->WarmUp(3, body).ok());
  auto live = backend_->Capture(body);
  ASSERT_TRUE(live.ok()) << live.status();
  std::vector<int64_t> used, reserved;
  for (int cycle = 0; cycle < 6; ++cycle) {
    const auto unit = MakeCudaGraphBackend(0).value();
    ASSERT_TRUE(unit->WarmUp(3, body).ok());
    std::vector<std::unique_ptr<CapturedGraph>> graphs;
    graphs.push_back(unit->Capture(body).value());
    ASSERT_TRUE(unit->Unload(std::move(graphs)).ok());
    used.push_back(unit->MemoryUse().value().used_bytes);
    reserved.push_back(unit->MemoryUse().value().reserved_bytes);
  }
  EXPECT_EQ(reserved, std::vector<int64_t>(6, reserved[0]));
  for (size_t cycle = 2; cycle < used.size(); ++cycle) {
    EXPECT_LE(std::abs(used[cycle] - used[1]), int64_t{2} << 20) << "cycle " << cycle + 1;
  }
  std::vector<std::unique_ptr<CapturedGraph>> graphs;
  graphs.push_back(*std::move(live));
  ASSERT_TRUE(backend_->Unload(std::move(graphs)).ok());
}

TEST_F(CudaGraphBackendTest, WhatWasNeverCapturedCanBeUnloaded) {
  std::vector<std::unique_ptr<CapturedGraph>> graphs(3);
  EXPECT_TRUE(backend_->Unload(std::move(graphs)).ok());
}

TEST_F(CudaGraphBackendTest, UnloadingGivesTheMemoryBack) {
  constexpr int64_t kSize = int64_t{1} << 22;  // 16 MiB of floats
  std::vector<int64_t> used, reserved;
  for (int cycle = 0; cycle < 10; ++cycle) {
    {
      const at::Tensor y = OnDevice(at::zeros({kSize}));
      const auto body = [&] { y.copy_((y + 1) * 2); };
      ASSERT_TRUE(backend_->WarmUp(3, body).ok());
      std::vector<std::unique_ptr<CapturedGraph>> graphs;
      for (int i = 0; i < 3; ++i) {
        auto graph = backend_->Capture(body);
        ASSERT_TRUE(graph.ok()) << graph.status();
        ASSERT_TRUE((*graph)->Replay().ok());
        graphs.push_back(*std::move(graph));
      }
      ASSERT_TRUE(backend_->Unload(std::move(graphs)).ok());
    }
    ASSERT_TRUE(backend_->TrimMemory().ok());
    used.push_back(backend_->MemoryUse().value().used_bytes);
    reserved.push_back(backend_->MemoryUse().value().reserved_bytes);
  }
  EXPECT_EQ(reserved, std::vector<int64_t>(10, reserved[0]));
  for (size_t cycle = 2; cycle < used.size(); ++cycle) {
    EXPECT_LE(std::abs(used[cycle] - used[1]), int64_t{2} << 20) << "cycle " << cycle + 1;
  }
}

// The graphs of both write to workspaces of cuBLAS, which are in one map for the whole process.
TEST_F(CudaGraphBackendTest, UnloadingOneUnitLeavesTheGraphsOfAnotherAlone) {
  auto other = MakeCudaGraphBackend(0).value();
  const at::Tensor x = OnDevice(at::randn({64, 768})), weight = OnDevice(at::randn({768, 3072}));
  const at::Tensor y = OnDevice(at::zeros({64, 3072}));
  at::Tensor out = y;
  const auto body = [&] { at::mm_out(out, x, weight); };
  std::vector<std::unique_ptr<CapturedGraph>> graphs, others;
  for (const auto& [backend, kept] :
       {std::pair(backend_.get(), &graphs), std::pair(other.get(), &others)}) {
    ASSERT_TRUE(backend->WarmUp(3, body).ok());
    auto graph = backend->Capture(body);
    ASSERT_TRUE(graph.ok()) << graph.status();
    kept->push_back(*std::move(graph));
  }
  const at::Tensor expected = y.cpu();
  ASSERT_TRUE(backend_->Unload(std::move(graphs)).ok());
  // What was given back is somebody else's now.
  const at::Tensor written = OnDevice(at::full({int64_t{1} << 24}, 7.0));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(others[0]->Replay().ok());
  ASSERT_TRUE(other->Synchronize().ok());
  EXPECT_TRUE(at::allclose(y.cpu(), expected, 1e-4, 1e-3));
  EXPECT_TRUE(at::equal(written.cpu(), at::full({int64_t{1} << 24}, 7.0)));
  ASSERT_TRUE(other->Unload(std::move(others)).ok());
}

}  // namespace
}  // namespace lzero::cuda_graph_backend_test
