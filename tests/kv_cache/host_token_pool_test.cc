#include "lzero/kv_cache/internal/host_token_pool.h"

#include "tests/kv_cache/token_pool_cases.h"

namespace lzero::token_pool_cases {
namespace {

const auto kMaker = ::testing::Values(MakeTokenPool(internal::HostTokenPool::Create));

INSTANTIATE_TEST_SUITE_P(Host, TokenPoolTest, kMaker);
INSTANTIATE_TEST_SUITE_P(Host, TokenPoolDeathTest, kMaker);

TEST(HostTokenPool, SizesThatCannotBeCountedAreRefused) {
  const auto refused = internal::HostTokenPool::Create(kShape, int64_t{1} << 60).status();
  EXPECT_TRUE(Says(refused, absl::StatusCode::kInvalidArgument,
                   {"[1152921504606846976, 2, 2, 3]", "64 bits"}));
  auto pool = *internal::HostTokenPool::Create(kShape, 3);
  EXPECT_TRUE(Says(pool->Grow(int64_t{1} << 60), absl::StatusCode::kInvalidArgument, {"64 bits"}));
  EXPECT_EQ(pool->num_slots(), 3);
}

}  // namespace
}  // namespace lzero::token_pool_cases
