#include "lzero/tensor/torch_status.h"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::torch_status_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(TorchStatusTest, PassesResultsOn) {
  int calls = 0;
  const absl::Status nothing = CatchTorch([&] { ++calls; });
  EXPECT_TRUE(nothing.ok());
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(absl::IsAborted(CatchTorch([] { return absl::AbortedError("mine"); })));
  const absl::StatusOr<int> value = CatchTorch([] { return 3; });
  EXPECT_EQ(*value, 3);
  const auto nested = CatchTorch([]() -> absl::StatusOr<int> { return 4; });
  static_assert(std::is_same_v<decltype(nested), const absl::StatusOr<int>>);
  EXPECT_EQ(*nested, 4);
}

TEST(TorchStatusTest, KeepsTheMessageWithoutTheBacktrace) {
  const absl::Status status = CatchTorch([] {
                                return at::matmul(at::zeros({2, 3}), at::zeros({4, 5}));
                              }).status();
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  const std::string message(status.message());
  EXPECT_THAT(message,
              HasSubstr("libtorch: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"));
  EXPECT_THAT(message, Not(HasSubstr("Exception raised from")));
  EXPECT_THAT(message, Not(HasSubstr("frame #")));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

TEST(TorchStatusTest, LeavesOutAdviceForThoseWhoRunPython) {
  for (const char* advice :
       {"\nSearch for `cudaErrorX' in https://docs.nvidia.com",
        "\nCUDA kernel errors might be asynchronously reported",
        " Of the allocated memory 0 bytes is allocated by PyTorch, and 2.00 MiB is reserved"}) {
    EXPECT_EQ(CatchTorch([&] { TORCH_CHECK_VALUE(false, "no.", advice); }),
              absl::InvalidArgumentError("libtorch: no."));
  }
}

TEST(TorchStatusTest, ChoosesTheCode) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      CatchTorch([] { return at::zeros({2}).select(0, 7); }).status()));  // IndexError
  const absl::Status memory = CatchTorch([] { return at::empty({int64_t{1} << 50}); }).status();
  EXPECT_TRUE(absl::IsResourceExhausted(memory)) << memory;
  EXPECT_TRUE(absl::IsUnimplemented(
      CatchTorch([] { TORCH_CHECK_NOT_IMPLEMENTED(false, "no such kernel"); })));
  EXPECT_TRUE(absl::IsInvalidArgument(CatchTorch([] { TORCH_CHECK_VALUE(false, "bad"); })));
}

TEST(TorchStatusTest, ExceptionsOfTheStandardLibraryEndHereToo) {
  const std::vector<int> none;
  const absl::Status other = CatchTorch([&] { return none.at(1); }).status();
  EXPECT_TRUE(absl::IsInternal(other));
  EXPECT_THAT(std::string(other.message()), HasSubstr("libtorch: vector::_M_range_check"));
  volatile size_t too_much = size_t{1} << 60;
  const auto memory = CatchTorch([&] { return std::make_unique<char[]>(too_much); });
  EXPECT_EQ(memory.status(), absl::ResourceExhaustedError("out of memory"));
}

}  // namespace
}  // namespace lzero::torch_status_test
