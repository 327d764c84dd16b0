#include "lzero/base/ids.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace lzero::ids_test {
namespace {

TEST(IdsTest, CompareByValue) {
  EXPECT_EQ(EnvId(3), EnvId(3));
  EXPECT_NE(EnvId(3), EnvId(4));
  EXPECT_LT(NodeId(3), NodeId(4));
  EXPECT_EQ(NodeId(), kRootNode);
  EXPECT_EQ(EnvId(7).value, 7);
}

TEST(IdsTest, KindsDoNotMix) {
  EXPECT_FALSE((std::is_convertible_v<EnvId, NodeId>));
  EXPECT_FALSE((std::is_constructible_v<NodeId, EnvId>));
  EXPECT_FALSE((std::is_convertible_v<int, EnvId>));
}

}  // namespace
}  // namespace lzero::ids_test
