#include "lzero/kv_cache/internal/token_tensor.h"

#include "tests/kv_cache/cache_testing.h"

namespace lzero::internal::token_tensor_test {
namespace {

using absl::StatusCode;

TEST(TokenTensor, CountsBytesAndRefusesWhatCannotBeCounted) {
  EXPECT_EQ(*TokenBytes({5, 2, 3}), 120);
  EXPECT_EQ(*TokenBytes({5, 0, 3}), 0);
  EXPECT_TRUE(Says(TokenBytes({int64_t{1} << 40, int64_t{1} << 40}).status(),
                   StatusCode::kInvalidArgument, {"[1099511627776, 1099511627776]", "64 bits"}));
}

TEST(TokenTensor, CreatesZeros) {
  const at::Tensor made = *CreateTokenTensor({2, 3}, at::kCPU);
  EXPECT_EQ(made.scalar_type(), at::kFloat);
  EXPECT_EQ(made.abs().sum().item<float>(), 0.0f);
  EXPECT_FALSE(made.is_inference());
}

TEST(TokenTensor, RefusesDevicesAndSizesThatCannotBe) {
  EXPECT_TRUE(Says(CreateTokenTensor({2}, at::kMeta).status(), StatusCode::kInvalidArgument,
                   {"device is meta", "cpu"}));
  EXPECT_TRUE(Says(CreateTokenTensor({int64_t{1} << 50}, at::kCPU).status(),
                   StatusCode::kResourceExhausted, {"4503599627370496 bytes"}));
}

TEST(TokenTensor, ChecksTypeSizesAndDevice) {
  const at::Tensor tensor = at::zeros({4, 2}, at::kFloat);
  EXPECT_TRUE(CheckTensor("x", tensor, at::kFloat, {4, 2}, at::kCPU).ok());
  EXPECT_TRUE(CheckTensor("x", tensor, at::kFloat, {kAnySize, 2}, at::kCPU).ok());
  EXPECT_TRUE(Says(CheckTensor("x", tensor, at::kLong, {4, 2}, at::kCPU),
                   StatusCode::kInvalidArgument,
                   {"x is Float [4, 2] on cpu, must be Long [4, 2] on cpu"}));
  EXPECT_TRUE(Says(CheckTensor("x", tensor, at::kFloat, {kAnySize, 3}, at::kCPU),
                   StatusCode::kInvalidArgument,
                   {"x is Float [4, 2] on cpu, must be Float [n, 3] on cpu"}));
  EXPECT_TRUE(Says(CheckTensor("x", tensor, at::kFloat, {4}, at::kCPU),
                   StatusCode::kInvalidArgument, {"[4, 2]", "[4] on cpu"}));
  EXPECT_TRUE(Says(CheckTensor("x", tensor.to(at::kMeta), at::kFloat, {4, 2}, at::kCPU),
                   StatusCode::kInvalidArgument, {"on meta", "on cpu"}));
  EXPECT_TRUE(Says(CheckTensor("x", at::Tensor(), at::kFloat, {4, 2}, at::kCPU),
                   StatusCode::kInvalidArgument, {"x is an undefined tensor"}));
}

}  // namespace
}  // namespace lzero::internal::token_tensor_test
