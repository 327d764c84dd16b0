#include "lzero/replay/saved/replay_arrays.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::replay_arrays_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<NamedArray> Arrays() {
  return {MakeNamedArray<float>("a", {1, 2, 3, 4, 5, 6}, {3, 2})};
}

TEST(ReplayArrays, ReadsWhatHasTheShape) {
  std::vector<float> values;
  EXPECT_TRUE(ReadReplayArray(Arrays(), "a", {3, 2}, &values).ok());
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_TRUE(ReadReplayArray(Arrays(), "a", {-1, 2}, &values).ok());
}

TEST(ReplayArrays, SaysWhatIsWrong) {
  std::vector<float> values;
  const auto message = [&](const char* name, std::vector<int64_t> dims) {
    const absl::Status status = ReadReplayArray(Arrays(), name, dims, &values);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message("a", {-1, 3}),
            "replay state: array 'a' has shape [3, 2], expected [-1, 3] (-1: any)");
  EXPECT_THAT(message("a", {6}), HasSubstr("expected [6]"));
  EXPECT_THAT(message("b", {6}), HasSubstr("replay state: no array 'b'"));
  std::vector<int32_t> numbers;
  EXPECT_THAT(std::string(ReadReplayArray(Arrays(), "a", {3, 2}, &numbers).message()),
              HasSubstr("replay state: array 'a' holds F"));
  std::vector<NamedArray> damaged = Arrays();
  damaged[0].bytes.resize(5);
  EXPECT_THAT(std::string(ReadReplayArray(damaged, "a", {3, 2}, &values).message()),
              HasSubstr("replay state: array 'a' holds 5 bytes"));
}

TEST(ReplayArrays, ActionsHaveARange) {
  EXPECT_TRUE(CheckReplayRange<int32_t>("a", {0, 2, 1}, 0, 2).ok());
  EXPECT_EQ(CheckReplayRange<int32_t>("a", {0, 3}, 0, 2).message(),
            "replay state: array 'a' holds 3, allowed are 0 to 2");
  EXPECT_FALSE(CheckReplayRange<int32_t>("a", {-1}, 0, 2).ok());
}

}  // namespace
}  // namespace lzero::replay_arrays_test
