#include "lzero/tensor/shape_check.h"

#include <string>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::shape_check_test {
namespace {

TEST(ShapeCheckTest, AcceptsTheShapeAndAnyLength) {
  const at::Tensor tensor = at::zeros({2, 3});
  EXPECT_TRUE(CheckShape(tensor, {2, 3}, "x").ok());
  EXPECT_TRUE(CheckShape(tensor, {kAnyLength, 3}, "x").ok());
  EXPECT_TRUE(CheckShape(at::zeros({}), {}, "x").ok());
}

TEST(ShapeCheckTest, NamesBothShapes) {
  const at::Tensor tensor = at::zeros({2, 3});
  const absl::Status length = CheckShape(tensor, {kAnyLength, 4}, "observations");
  EXPECT_TRUE(absl::IsInvalidArgument(length));
  EXPECT_EQ(std::string(length.message()), "observations has shape [2, 3], expected [any, 4]");
  EXPECT_EQ(std::string(CheckShape(tensor, {2}, "observations").message()),
            "observations has shape [2, 3], expected [2]");
  EXPECT_EQ(std::string(CheckShape(at::Tensor(), {2}, "observations").message()),
            "observations is an undefined tensor");
}

absl::Status Receive(const at::Tensor& tensor, at::Device device) {
  LZ_CHECK_DEVICE(tensor, device, "latents");
  return absl::AbortedError("passed");
}

TEST(ShapeCheckTest, NamesBothDevices) {
  const at::Tensor tensor = at::zeros({2});
  EXPECT_TRUE(absl::IsAborted(Receive(tensor, at::kCPU)));
  const absl::Status status = Receive(tensor, at::Device(at::kCUDA, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(std::string(status.message()), "latents lies on device cpu, expected cuda:1");
  // A tensor without memory stands for one on another device.
  const at::Tensor elsewhere = at::empty({2}, at::TensorOptions().device(at::kMeta));
  EXPECT_EQ(std::string(Receive(elsewhere, at::kCPU).message()),
            "latents lies on device meta, expected cpu");
  EXPECT_EQ(std::string(Receive(at::Tensor(), at::kCPU).message()),
            "latents is an undefined tensor");
}

}  // namespace
}  // namespace lzero::shape_check_test
