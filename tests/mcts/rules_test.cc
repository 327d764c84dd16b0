#include "lzero/mcts/rules.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::rules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string ErrorOf(const SearchConfig& config) {
  return std::string(CheckSearchConfig(config).message());
}

TEST(RulesTest, SequentialHalvingByHand) {
  // Four candidates, 8 simulations: log2(4) = 2 rounds; 8 / (2 * 4) = 1 visit each, then the better
  // two get 8 / (2 * 2) = 2 visits each.
  EXPECT_THAT(ConsideredVisits(4, 8), ElementsAre(0, 0, 0, 0, 1, 1, 2, 2));
  // Three candidates, 7 simulations: ceil(log2 3) = 2 rounds; floor(7 / 6) = 1 each, then two
  // candidates with floor(7 / 4) = 1, again and again, cut at 7.
  EXPECT_THAT(ConsideredVisits(3, 7), ElementsAre(0, 0, 0, 1, 1, 2, 2));
  EXPECT_THAT(ConsideredVisits(16, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(ConsideredVisits(1, 4), ElementsAre(0, 1, 2, 3));
}

TEST(RulesTest, ExplorationFactorIsThePaperFormula) {
  SearchConfig config;
  config.num_simulations = 10;
  const SearchRules rules(config, 3);
  // sqrt(9) * (1.25 + ln(19662 / 19652)) with ln(1 + x) = x - x^2 / 2 and x = 10 / 19652.
  EXPECT_NEAR(rules.view().exploration[9], 3.0 * (1.25 + 5.08854e-4 - 1.2947e-7), 1e-6);
}

TEST(RulesTest, ConsideredTableCoversAllNumbersOfLegalActions) {
  SearchConfig config;
  config.policy = SearchPolicy::kGumbel;
  config.num_simulations = 8;
  config.max_num_considered_actions = 16;
  const SearchRules rules(config, 4);
  EXPECT_EQ(rules.view().max_considered, 4);
  ASSERT_EQ(rules.num_considered_visits(), 5 * 8);
  EXPECT_EQ(rules.view().considered_visits[4 * 8 + 7], 2);
  EXPECT_EQ(rules.view().considered_visits[1 * 8 + 7], 7);
}

TEST(RulesTest, DefaultsAreAllowed) { EXPECT_TRUE(CheckSearchConfig(SearchConfig()).ok()); }

TEST(RulesTest, WrongSettingsAreNamedWithTheRangeOfTheSchema) {
  SearchConfig config;
  config.num_simulations = 0;
  EXPECT_EQ(ErrorOf(config),
            "search.num_simulations: out of range; got '0'; allowed: an integer from 1 to 100000");
  config = {};
  config.max_depth = 0;
  EXPECT_THAT(ErrorOf(config), HasSubstr("search.max_depth: out of range; got '0'; allowed: "));
  config = {};
  config.pb_c_base = 0.0;
  EXPECT_THAT(ErrorOf(config), HasSubstr("search.pb_c_base: out of range; got '0'"));
  config = {};
  config.temperature = -1.0;
  EXPECT_THAT(ErrorOf(config), HasSubstr("search.temperature: out of range; got '-1'"));
  config = {};
  config.gumbel_scale = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(ErrorOf(config), HasSubstr("search.gumbel_scale: "));
  config = {};
  config.max_value = -1.0;
  EXPECT_EQ(ErrorOf(config),
            "search.min_value: must be less than max_value; got min_value -1, max_value -1");
}

}  // namespace
}  // namespace lzero::rules_test
