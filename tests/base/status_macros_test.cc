#include "lzero/base/status_macros.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace lzero::status_macros_test {
namespace {

absl::StatusOr<int> ParseDigit(char c) {
  if (c < '0' || c > '9') return absl::InvalidArgumentError("not a digit");
  return c - '0';
}

absl::StatusOr<int> Sum(char a, char b) {
  LZ_ASSIGN_OR_RETURN(const int first, ParseDigit(a));
  LZ_ASSIGN_OR_RETURN(const int second, ParseDigit(b));
  return first + second;
}

absl::Status Pass(const absl::Status& status, bool* reached_end) {
  LZ_RETURN_IF_ERROR(status);
  *reached_end = true;
  return absl::OkStatus();
}

absl::StatusOr<int> MoveOut() {
  LZ_ASSIGN_OR_RETURN(const auto pointer,
                      absl::StatusOr<std::unique_ptr<int>>(std::make_unique<int>(7)));
  return *pointer;
}

TEST(StatusMacrosTest, AssignsOrReturnsTheError) {
  EXPECT_EQ(*Sum('3', '4'), 7);
  EXPECT_EQ(Sum('3', 'x').status(), absl::InvalidArgumentError("not a digit"));
  EXPECT_EQ(Sum('y', '4').status(), absl::InvalidArgumentError("not a digit"));
  EXPECT_EQ(*MoveOut(), 7);
}

TEST(StatusMacrosTest, ReturnsOnlyErrors) {
  bool reached_end = false;
  EXPECT_EQ(Pass(absl::NotFoundError("gone"), &reached_end), absl::NotFoundError("gone"));
  EXPECT_FALSE(reached_end);
  EXPECT_TRUE(Pass(absl::OkStatus(), &reached_end).ok());
  EXPECT_TRUE(reached_end);
}

TEST(StatusMacrosTest, AnnotateKeepsTheCode) {
  EXPECT_EQ(Annotate(absl::NotFoundError("no file"), "run a"),
            absl::NotFoundError("run a: no file"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "run a").ok());
}

}  // namespace
}  // namespace lzero::status_macros_test
