// Freed memory of tensors comes back at the next tensor of its size, and can be given up.
#include "lzero/tensor/host_memory.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "c10/core/Allocator.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero::host_memory_test {
namespace {

class HostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    KeepTensorMemory();
    KeepTensorMemory();
    ReleaseTensorMemory();
  }
};

TEST_F(HostMemoryTest, AFreedTensorLeavesItsMemoryToTheNextOfItsSize) {
  const void* first = nullptr;
  {
    const at::Tensor tensor = at::ones({300, 1000});
    first = tensor.const_data_ptr();
  }
  EXPECT_GE(KeptTensorBytes(), 300 * 1000 * 4);
  const at::Tensor next = at::zeros({1000, 300});
  EXPECT_EQ(next.const_data_ptr(), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_LT(KeptTensorBytes(), 10000);
  EXPECT_EQ(next.sum().item<float>(), 0.0f);
}

TEST_F(HostMemoryTest, TensorsThatLiveShareNothing) {
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < 20; ++i) tensors.push_back(at::full({8192 + 100 * i}, i));
  for (int i = 0; i < 20; i += 2) tensors[i] = at::full({8192 + 100 * i}, 100 + i);
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(tensors[i].eq(i % 2 == 0 ? 100 + i : i).all().item<bool>());
  }
}

TEST_F(HostMemoryTest, EmptyTensorsNeedNone) {
  { const at::Tensor none = at::ones({0}); }
  EXPECT_EQ(KeptTensorBytes(), 0);
}

TEST_F(HostMemoryTest, WhatIsKeptCanBeGivenBack) {
  { const at::Tensor tensor = at::ones({1 << 20}); }
  EXPECT_GE(KeptTensorBytes(), 4 << 20);
  ReleaseTensorMemory();
  EXPECT_EQ(KeptTensorBytes(), 0);
}

TEST_F(HostMemoryTest, OneThreadAllocatesAndAnotherFrees) {
  for (int i = 0; i < 50; ++i) {
    at::Tensor tensor = at::full({20000}, i);
    std::thread([&] { tensor = at::Tensor(); }).join();
  }
  EXPECT_LE(KeptTensorBytes(), 3 * 20000 * 4);
}

TEST_F(HostMemoryTest, LibrariesMayAskForRawMemory) {
  void* memory = at::GetAllocator(at::kCPU)->raw_allocate(100000);
  ASSERT_NE(memory, nullptr);
  at::GetAllocator(at::kCPU)->raw_deallocate(memory);
  EXPECT_GE(KeptTensorBytes(), 100000);
}

TEST_F(HostMemoryTest, WantOfMemoryIsStillTheKnownError) {
  const auto result = CatchTorch([] { return at::empty({int64_t{1} << 50}); });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted) << result.status();
}

}  // namespace
}  // namespace lzero::host_memory_test
