#include "lzero/env/json_depth.h"

#include <gtest/gtest.h>

#include <string>

namespace lzero::json_depth_test {
namespace {

TEST(JsonDepthTest, CountsWhatIsOpenAtOnce) {
  EXPECT_FALSE(IsDeeperThan("", 0));
  EXPECT_FALSE(IsDeeperThan("3", 0));
  EXPECT_TRUE(IsDeeperThan("[]", 0));
  EXPECT_FALSE(IsDeeperThan("[]", 1));
  EXPECT_FALSE(IsDeeperThan("[[],[],[]]", 2));
  EXPECT_TRUE(IsDeeperThan("[[],[],[[]]]", 2));
  EXPECT_TRUE(IsDeeperThan(R"({"a":[{"b":1}]})", 2));
  EXPECT_FALSE(IsDeeperThan(R"({"a":[{"b":1}]})", 3));
  EXPECT_TRUE(IsDeeperThan(std::string(1 << 20, '['), kMaxJsonDepth));
  EXPECT_TRUE(IsDeeperThan("[[[", 2)) << "open ones count in a text that breaks off";
}

TEST(JsonDepthTest, LeavesTextsOut) {
  EXPECT_FALSE(IsDeeperThan(R"(["[[[["])", 1));
  EXPECT_FALSE(IsDeeperThan(R"(["\"[[[", "\\"])", 1));
  EXPECT_TRUE(IsDeeperThan(R"(["\\",[]])", 1)) << "the quote after an escaped backslash ends it";
  EXPECT_TRUE(IsDeeperThan(R"(["]",[]])", 1));
  EXPECT_FALSE(IsDeeperThan("\"\\", 0));
  EXPECT_FALSE(IsDeeperThan("\"", 0));
}

}  // namespace
}  // namespace lzero::json_depth_test
