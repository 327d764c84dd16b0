#include "lzero/kv_cache/tensor/tensor_token_pool.h"

#include <c10/core/CPUAllocator.h>

#include <memory>
#include <utility>
#include <vector>

#include "ATen/ATen.h"
#include "c10/core/InferenceMode.h"
#include "lzero/base/rng.h"
#include "tests/kv_cache/token_pool_cases.h"

namespace lzero::token_pool_cases {
namespace {

const auto kMaker = ::testing::Values(TensorTokenPools(at::kCPU));

// The index operations of a device, on the CPU.
INSTANTIATE_TEST_SUITE_P(Tensor, TokenPoolTest, kMaker);
INSTANTIATE_TEST_SUITE_P(Tensor, TokenPoolDeathTest, kMaker);

// Counts libtorch's CPU allocations while it lives.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : wrapped_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 200); }
  ~CountingAllocator() override { c10::SetCPUAllocator(wrapped_, 200); }
  at::DataPtr allocate(size_t size) override {
    ++num_allocations;
    return wrapped_->allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return wrapped_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t count) const override {
    wrapped_->copy_data(to, from, count);
  }

  int64_t num_allocations = 0;

 private:
  c10::Allocator* wrapped_;
};

TEST(TensorTokenPool, GatherAndScatterAllocateNothingAfterTheFirstCallOfTheirSize) {
  auto pool = *TensorTokenPools(at::kCPU)(kShape, 9);
  const std::vector<float> rows = MakeTokens(kShape, {11, 12, 13});
  std::vector<float> out(rows.size());
  CountingAllocator allocator;
  pool->Scatter(Numbers({4, 5, 2}), rows.data());
  const int64_t first = allocator.num_allocations;
  EXPECT_GT(first, 0);
  for (const Numbers& slots : {Numbers{1, 7, 3}, Numbers{8, 2}, Numbers{6}}) {
    pool->Scatter(slots, rows.data());
    pool->GatherInto(slots, out.data());
  }
  EXPECT_EQ(allocator.num_allocations, first);
  EXPECT_EQ(ReadTokens(kShape, absl::MakeConstSpan(out).first(12)), Numbers({11}));
}

TEST(TensorTokenPool, WorksInAndOutOfInferenceMode) {
  for (const bool made_inside : {false, true}) {
    for (const bool used_inside : {false, true}) {
      std::unique_ptr<TokenPool> pool;
      const std::vector<float> rows = MakeTokens(kShape, {11, 12});
      std::vector<float> out(5 * 12);
      {
        const c10::InferenceMode inference(made_inside);
        pool = *TensorTokenPools(at::kCPU)(kShape, 4);
        pool->Scatter(Numbers({1, 2}), rows.data());
      }
      {
        const c10::InferenceMode inference(used_inside);
        ASSERT_TRUE(pool->Grow(9).ok());
        pool->Write(Numbers({3, 4}), rows.data());
        pool->CopyRows(Numbers({1}), rows.data(), 2, Numbers({8}));
      }
      pool->Scatter(Numbers({6, 5}), rows.data());
      pool->GatherInto(Numbers({2, 3, 8, 5, 6}), out.data());
      EXPECT_EQ(ReadTokens(kShape, out), Numbers({12, 11, 12, 12, 11}));
      pool->Read(Numbers({1, 4, 0, 0, 0}), out.data());
      EXPECT_EQ(ReadTokens(kShape, absl::MakeConstSpan(out).first(24)), Numbers({11, 12}));
    }
  }
}

TEST(TensorTokenPool, ADeviceThatIsNotThereIsAnErrorInWords) {
  if (at::hasCUDA()) GTEST_SKIP() << "libtorch has CUDA here";
  const auto refused = TensorTokenPools(at::kCUDA)(kShape, 4).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(absl::StrContains(std::string(refused.message()), "CUDA")) << refused;
}

// The same calls on a manager with each pool: every context is the same.
TEST(TensorTokenPool, AManagerWorksAsWithAPoolOfTheHost) {
  RandomStream random(5, "tensor_token_pool");
  for (int round = 0; round < 20; ++round) {
    KVCacheManagerConfig config = SmallConfig();
    config.context_length = 1 + random.UniformInt(9);
    config.nodes_per_env = 30;
    config.storage = round % 2 == 0 ? CacheStorage::kStatic : CacheStorage::kGrowing;
    const auto host = MakeManager(config);
    config.make_pool = TensorTokenPools(at::kCPU);
    const auto tensor = MakeManager(config);
    const HostRows roots = MakeTokenRows(config.shape, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const int64_t count = random.UniformInt(config.context_length);
    for (KVCacheManager* manager : {host.get(), tensor.get()}) {
      ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {51, 52, 53})).ok());
      ASSERT_TRUE(manager->StoreInits({InitTokens{EnvId(1), 0, 1, count, 0}}, roots).ok());
    }
    HostBatch expected(config, 3), got(config, 3);
    for (int64_t child = 1; child < 30; ++child) {
      const int64_t parent = random.UniformInt(child);
      const HostRows rows = MakeRows(config.shape, {{100, 100 + child}, {200, 200 + child}});
      for (KVCacheManager* manager : {host.get(), tensor.get()}) {
        const auto stored =
            manager->StoreRecurrent({Child(1, parent, child), Child(0, parent, child)}, rows);
        ASSERT_TRUE(stored.ok()) << stored;
      }
      ASSERT_TRUE(host->CloneInto({Key(0, child), Key(1, child)}, expected.views()).ok());
      ASSERT_TRUE(tensor->CloneInto({Key(0, child), Key(1, child)}, got.views()).ok());
      ASSERT_EQ(got.tokens(), expected.tokens());
      ASSERT_EQ(got.lengths(), expected.lengths());
      ASSERT_EQ(ReadTokens(*tensor->Clone(EnvId(1), NodeId(child))), ReadRow(expected, 1));
    }
    EXPECT_EQ(PoolBytes(*tensor), PoolBytes(*host));
    EXPECT_EQ(tensor->stats().bytes, host->stats().bytes);
    EXPECT_EQ(tensor->stats().peak_bytes, host->stats().peak_bytes);
  }
}

TEST(TensorTokenPool, TensorsAreRows) {
  const at::Tensor tokens = at::zeros({4, 2, 3, 2, 5}, at::kFloat);
  const Rows<float> rows = FloatRows(tokens);
  EXPECT_EQ(rows.numbers, tokens.data_ptr<float>());
  EXPECT_EQ(rows.count, 4);
  EXPECT_EQ(rows.row_size, 60);
  EXPECT_EQ(rows.device, Device::kCpu);
  EXPECT_EQ(FloatRows(at::zeros({7}, at::kFloat)).row_size, 1);
  EXPECT_EQ(FloatRows(at::zeros({0, 3}, at::kFloat)).row_size, 3);
  // Part of a tensor begins where the part does.
  const Rows<float> later = FloatRows(tokens.narrow(0, 1, 2));
  EXPECT_EQ(later.numbers, rows.numbers + 60);
  EXPECT_EQ(later.count, 2);

  const at::Tensor lengths = at::zeros({4}, at::kLong);
  const ContextBatch batch = ContextsIn(tokens, lengths);
  EXPECT_EQ(batch.tokens.numbers, rows.numbers);
  EXPECT_EQ(batch.tokens.row_size, 60);
  EXPECT_EQ(batch.lengths.numbers, lengths.data_ptr<int64_t>());
  EXPECT_EQ(batch.lengths.count, 4);
  EXPECT_EQ(batch.lengths.row_size, 1);
  EXPECT_EQ(batch.lengths.device, Device::kCpu);
}

TEST(TensorTokenPoolDeathTest, OtherTensorsAreACallersBug) {
  const at::Tensor tokens = at::zeros({4, 2, 3}, at::kFloat);
  EXPECT_DEATH(FloatRows(tokens.to(at::kDouble)), "CPUDoubleType");
  EXPECT_DEATH(FloatRows(tokens.transpose(1, 2)), "contiguous: 0");
  EXPECT_DEATH(ContextsIn(tokens, at::zeros({4}, at::kInt)), "CPUIntType");
  EXPECT_DEATH(ContextsIn(tokens, at::zeros({4, 2}, at::kLong).select(1, 0)), "CPULongType");
}

}  // namespace
}  // namespace lzero::token_pool_cases
