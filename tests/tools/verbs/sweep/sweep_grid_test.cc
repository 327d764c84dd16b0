#include "tools/verbs/sweep/sweep_grid.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::sweep_grid_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SweepGridTest, CommasOutsideOfBracketsAndQuotesSeparateValues) {
  const std::vector<std::string> words = {"a.b=1,2",     "c=x",         "plugins=[p,q]",
                                          "d=[p,q],[r]", "e='1,2'",     "f=\"x,y\",z",
                                          "g={a,b},",    "no_equals,1", "h=don't,x"};
  auto grid = ParseSweepGrid(absl::MakeConstSpan(words).subspan(0, 6));
  ASSERT_TRUE(grid.ok()) << grid.status();
  EXPECT_THAT(grid->fixed, ElementsAre("c=x", "plugins=[p,q]", "e=1,2"));
  EXPECT_THAT(grid->axes,
              ElementsAre(SweepAxis{"a.b", {"1", "2"}}, SweepAxis{"d", {"[p,q]", "[r]"}},
                          SweepAxis{"f", {"x,y", "z"}}));
  grid = ParseSweepGrid(absl::MakeConstSpan(words).subspan(7));
  ASSERT_TRUE(grid.ok()) << grid.status();
  EXPECT_THAT(grid->fixed, ElementsAre("no_equals,1"));
  EXPECT_THAT(grid->axes, ElementsAre(SweepAxis{"h", {"don't", "x"}}));
}

TEST(SweepGridTest, RefusesEmptyAndEqualValuesAndSeeds) {
  const auto error = [](const std::string& word) {
    return std::string(ParseSweepGrid({word}).status().message());
  };
  EXPECT_THAT(error("a=1,"), HasSubstr("a: an empty value; got '1,'"));
  EXPECT_THAT(error("a=,1"), HasSubstr("an empty value"));
  EXPECT_THAT(error("a=1,2,1"), HasSubstr("a: the same value twice; got '1,2,1'"));
  EXPECT_THAT(error("seed=1,2"), HasSubstr("--seeds 0..4"));
  EXPECT_THAT(error("seed=1"), HasSubstr("--seeds 0..4"));
}

TEST(SweepGridTest, CellsAreEveryCombinationTheLastAxisFastest) {
  const auto cells = SweepCells({{"a", {"1", "2"}}, {"b.c", {"x", "y", "z"}}});
  ASSERT_EQ(cells.size(), 6);
  EXPECT_EQ(cells[0].name, "a=1,b.c=x");
  EXPECT_EQ(cells[1].name, "a=1,b.c=y");
  EXPECT_EQ(cells[5].name, "a=2,b.c=z");
  EXPECT_THAT(cells[4].overrides, ElementsAre("a=2", "b.c=y"));
  const auto single = SweepCells({});
  ASSERT_EQ(single.size(), 1);
  EXPECT_EQ(single[0].name, "runs");
  EXPECT_THAT(single[0].overrides, IsEmpty());
}

TEST(SweepGridTest, NamesAreSafeAndDiffer) {
  const auto cells = SweepCells({{"p", {"[a/b]", "[a b]", ".."}}});
  EXPECT_EQ(cells[0].name, "p=-a-b-");
  EXPECT_EQ(cells[1].name, "p=-a-b--2");
  EXPECT_EQ(cells[2].name, "p=..");
  const std::string begin(300, 'x');
  const auto cut = SweepCells({{"k", {begin + "1", begin + "2"}}});
  EXPECT_EQ(cut[0].name, "k=" + std::string(198, 'x'));
  EXPECT_EQ(cut[1].name, cut[0].name + "-2");
  EXPECT_EQ(SafeFileName(".."), "-..");
  EXPECT_EQ(SafeFileName(""), "-");
}

}  // namespace
}  // namespace lzero::sweep_grid_test
