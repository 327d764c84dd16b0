#include "lzero/kv_cache/internal/token_pool.h"

#include <numeric>
#include <vector>

#include "c10/core/InferenceMode.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::internal::token_pool_test {
namespace {

using Numbers = std::vector<int64_t>;

const KVCacheShape kShape = {2, 3};

// Both ways to copy must do the same; the index operations are what a GPU runs.
class TokenPoolTest : public ::testing::TestWithParam<CopyMethod> {
 protected:
  std::unique_ptr<TokenPool> MakePool(int64_t num_slots) {
    return *TokenPool::Create(kShape, num_slots, at::kCPU, GetParam());
  }

  // Puts tokens [L, 2, n, E] into the slots from `first` on.
  static void Write(TokenPool* pool, int64_t first, const at::Tensor& tokens) {
    Numbers slots(static_cast<size_t>(tokens.size(2)));
    std::iota(slots.begin(), slots.end(), first);
    pool->Scatter(slots, tokens.permute({2, 0, 1, 3}).contiguous());
  }

  static Numbers Gather(TokenPool& pool, const Numbers& slots) {
    const at::Tensor rows =
        at::full({static_cast<int64_t>(slots.size()), 2, 2, 3}, -7.0, at::kFloat);
    pool.GatherInto(slots, rows);
    return ReadTokens(rows.permute({1, 2, 0, 3}));
  }
};

TEST_P(TokenPoolTest, WritesAndGathersInAnyOrder) {
  auto pool = MakePool(8);
  Write(pool.get(), 2, MakeTokens(kShape, {12, 13, 14}));
  EXPECT_EQ(Gather(*pool, {4, 2, 3, 4}), Numbers({14, 12, 13, 14}));
  EXPECT_EQ(Gather(*pool, {2, 3, 4}), Numbers({12, 13, 14}));
  EXPECT_EQ(Gather(*pool, {}), Numbers());
}

TEST_P(TokenPoolTest, ScattersRowsAndNothingElse) {
  auto pool = MakePool(9);
  pool->Scatter(Numbers({5, 6, 2, 3}), MakeRows(kShape, {{15, 16}, {12, 13}, {99, 99}}));
  EXPECT_EQ(Gather(*pool, {2, 3, 5, 6}), Numbers({12, 13, 15, 16}));
  const at::Tensor rest = at::full({4, 2, 2, 3}, -7.0, at::kFloat);
  pool->GatherInto(Numbers({0, 1, 4, 7}), rest);
  EXPECT_EQ(rest.abs().sum().item<float>(), 0.0f);
  pool->Scatter({}, MakeRows(kShape, {}));
}

TEST_P(TokenPoolTest, CopiesChosenRowsIntoChosenSlots) {
  auto pool = MakePool(9);
  const at::Tensor rows =
      MakeTokens(kShape, {20, 21, 22, 23, 24}).permute({2, 0, 1, 3}).contiguous();
  pool->CopyRows(Numbers({1, 2, 4, 0}), rows, Numbers({5, 6, 7, 2}));
  EXPECT_EQ(Gather(*pool, {2, 5, 6, 7}), Numbers({20, 21, 22, 24}));
  const at::Tensor rest = at::full({5, 2, 2, 3}, -7.0, at::kFloat);
  pool->GatherInto(Numbers({0, 1, 3, 4, 8}), rest);
  EXPECT_EQ(rest.abs().sum().item<float>(), 0.0f);
  pool->CopyRows({}, rows, {});
}

TEST_P(TokenPoolTest, LeavesTheRestOfALargerBufferAlone) {
  auto pool = MakePool(4);
  Write(pool.get(), 1, MakeTokens(kShape, {11, 12}));
  const at::Tensor buffer = at::full({2, 2, 2, 2, 3}, -7.0, at::kFloat);
  pool->GatherInto(Numbers({0, 2}), buffer);
  EXPECT_EQ(ReadTokens(buffer[0].narrow(0, 1, 1).permute({1, 2, 0, 3})), Numbers({12}));
  EXPECT_EQ(buffer[0][0].abs().sum().item<float>(), 0.0f);
  EXPECT_TRUE(buffer[1].eq(-7.0).all().item<bool>());
}

TEST_P(TokenPoolTest, GrowsAndKeepsItsContents) {
  auto pool = MakePool(4);
  Write(pool.get(), 1, MakeTokens(kShape, {11, 12, 13}));
  const void* address = pool->address();
  ASSERT_TRUE(pool->Grow(4).ok());
  EXPECT_EQ(pool->address(), address);
  ASSERT_TRUE(pool->Grow(1000).ok());
  EXPECT_NE(pool->address(), address);
  EXPECT_EQ(pool->num_slots(), 1000);
  EXPECT_EQ(pool->bytes(), 1000 * 2 * 2 * 3 * 4);
  EXPECT_EQ(Gather(*pool, {1, 2, 3}), Numbers({11, 12, 13}));
  EXPECT_TRUE(Says(pool->Grow(int64_t{1} << 45), absl::StatusCode::kResourceExhausted, {"bytes"}));
  EXPECT_EQ(pool->num_slots(), 1000);
}

TEST_P(TokenPoolTest, CopiesNumbers) {
  auto pool = MakePool(2);
  const at::Tensor out = at::full({3}, -7, at::kLong);
  pool->CopyNumbers(Numbers({4, 5}), out);
  EXPECT_TRUE(out.equal(at::tensor(Numbers({4, 5, -7}))));
}

TEST_P(TokenPoolTest, WorksInAndOutOfInferenceModeWithoutGradients) {
  std::unique_ptr<TokenPool> pool;
  {
    const c10::InferenceMode inference(true);
    pool = MakePool(6);
    pool->Scatter(Numbers({1, 2}), MakeRows(kShape, {{11, 12}}));
  }
  pool->Scatter(Numbers({3, 4}), MakeRows(kShape, {{13, 14}}).requires_grad_(true) * 1.0);
  Write(pool.get(), 5, MakeTokens(kShape, {15}).requires_grad_(true) * 1.0);
  EXPECT_EQ(Gather(*pool, {1, 2, 3, 4, 5}), Numbers({11, 12, 13, 14, 15}));
}

INSTANTIATE_TEST_SUITE_P(BothMethods, TokenPoolTest,
                         ::testing::Values(CopyMethod::kDirect, CopyMethod::kIndexOperations));

TEST(TokenPoolDeathTest, DirectCopiesNeedTheCpu) {
  EXPECT_DEATH(TokenPool::Create(kShape, 2, at::kMeta, CopyMethod::kDirect).status().IgnoreError(),
               "direct copies on meta");
}

}  // namespace
}  // namespace lzero::internal::token_pool_test
