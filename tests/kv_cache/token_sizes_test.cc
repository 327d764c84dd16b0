#include "lzero/kv_cache/internal/token_sizes.h"

#include <vector>

#include "tests/kv_cache/cache_testing.h"

namespace lzero::internal::token_sizes_test {
namespace {

using absl::StatusCode;

TEST(TokenSizes, NumbersMustBePositive) {
  EXPECT_TRUE(CheckPositive("x", 1).ok());
  EXPECT_TRUE(Says(CheckPositive("x", 0), StatusCode::kInvalidArgument,
                   {"KV cache: x is 0, must be at least 1"}));
  EXPECT_TRUE(Says(CheckPositive("x", -4), StatusCode::kInvalidArgument, {"x is -4"}));
}

TEST(TokenSizes, CountsBytesAndRefusesWhatCannotBeCounted) {
  EXPECT_EQ(*TokenBytes({5, 2, 3}), 120);
  EXPECT_EQ(*TokenBytes({5, 0, 3}), 0);
  EXPECT_TRUE(Says(TokenBytes({int64_t{1} << 40, int64_t{1} << 40}).status(),
                   StatusCode::kInvalidArgument, {"[1099511627776, 1099511627776]", "64 bits"}));
}

TEST(TokenSizes, RefusesSizesThatDoNotFitTheMachine) {
  EXPECT_TRUE(CheckFitsMemory({2, 3}).ok());
  EXPECT_TRUE(CheckFitsMemory({0, 3}).ok());
  EXPECT_TRUE(Says(CheckFitsMemory({int64_t{1} << 50}), StatusCode::kResourceExhausted,
                   {"[1125899906842624]", "4503599627370496 bytes", "this machine has"}));
  EXPECT_TRUE(Says(CheckFitsMemory({int64_t{1} << 40, int64_t{1} << 40}),
                   StatusCode::kInvalidArgument, {"64 bits"}));
}

TEST(TokenSizes, ChecksTheSizeOfRowsAndTheirDevice) {
  std::vector<float> numbers(8);
  const Rows<float> rows = {numbers.data(), 4, 2};
  EXPECT_TRUE(CheckRows("x", rows, 2, Device::kCpu).ok());
  EXPECT_TRUE(CheckRows("x", Rows<float>{}, 0, Device::kCpu).ok());
  EXPECT_TRUE(Says(CheckRows("x", rows, 3, Device::kCpu), StatusCode::kInvalidArgument,
                   {"x are rows of 2 numbers on cpu, must be rows of 3 numbers on cpu"}));
  EXPECT_TRUE(Says(CheckRows("x", rows, 2, Device::kCuda), StatusCode::kInvalidArgument,
                   {"x are rows of 2 numbers on cpu, must be rows of 2 numbers on cuda"}));
  const Rows<const int64_t> second = {nullptr, 0, 1, {Device::Kind::kCuda, 1}};
  EXPECT_TRUE(Says(CheckRows("x", second, 1, Device::kCuda), StatusCode::kInvalidArgument,
                   {"x are rows of 1 numbers on cuda:1, must be rows of 1 numbers on cuda"}));
  EXPECT_TRUE(Says(CheckRows("x", Rows<float>{}, 2, Device::kCpu), StatusCode::kInvalidArgument,
                   {"x are rows of 0 numbers on cpu"}));
}

}  // namespace
}  // namespace lzero::internal::token_sizes_test
