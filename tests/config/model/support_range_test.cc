#include "lzero/config/model/support_range.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::support_range_test {
namespace {

using Entries = std::map<std::string, std::string>;

TEST(SupportRangeTest, ThreeNumbersOrNone) {
  EXPECT_FALSE(ParseSupportRange({})->has_value());
  const auto range = **ParseSupportRange({{"min", "-1.5"}, {"max", "2"}, {"bins", "21"}});
  EXPECT_EQ(range.min, -1.5);
  EXPECT_EQ(range.max, 2.0);
  EXPECT_EQ(range.bins, 21);
}

TEST(SupportRangeTest, AnythingElseIsRefused) {
  const Entries good = {{"min", "-1"}, {"max", "1"}, {"bins", "3"}};
  const auto refused = [&](const char* name, const char* value) {
    Entries entries = good;
    entries[name] = value;
    return std::string(ParseSupportRange(entries).status().message());
  };
  const auto clause = testing::HasSubstr("{min: A, max: B, bins: N}, numbers A < B and N from 2");
  EXPECT_THAT(refused("min", "x"), clause);
  EXPECT_THAT(refused("min", "nan"), clause);
  EXPECT_THAT(refused("max", "-1"), clause);
  EXPECT_THAT(refused("max", "inf"), clause);
  EXPECT_THAT(refused("bins", "1"), clause);
  EXPECT_THAT(refused("bins", "2.5"), clause);
  EXPECT_THAT(refused("bins", "100002"), clause);
  EXPECT_THAT(refused("atoms", "3"), clause);
  EXPECT_FALSE(ParseSupportRange({{"min", "-1"}, {"max", "1"}}).ok());
}

}  // namespace
}  // namespace lzero::support_range_test
