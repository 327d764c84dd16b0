#include "tools/verbs/support/seed_list.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::seed_list_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(SeedListTest, TakesRangesSingleSeedsAndLists) {
  EXPECT_THAT(*ParseSeedList("0..3"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*ParseSeedList("7"), ElementsAre(7));
  EXPECT_THAT(*ParseSeedList("9,3,0..1"), ElementsAre(9, 3, 0, 1));
  EXPECT_THAT(*ParseSeedList("18446744073709551615..18446744073709551615"),
              ElementsAre(18446744073709551615u));
  EXPECT_THAT(*ParseSeedList("0..99999"), SizeIs(100000));
}

TEST(SeedListTest, RefusesAllElse) {
  for (const char* text : {"", "x", "0..x", "5..2", "1,", "1..", "..3", "1...3", "-1", "01", "1.5",
                           "2,2", "0..3,2", "0..100000", "0..99999,100000"}) {
    const auto seeds = ParseSeedList(text);
    EXPECT_THAT(seeds.status().message(), HasSubstr("--seeds: got '")) << text;
    EXPECT_THAT(seeds.status().message(), HasSubstr("allowed: A..B with A <= B")) << text;
  }
}

}  // namespace
}  // namespace lzero::seed_list_test
