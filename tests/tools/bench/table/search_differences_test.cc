#include "tools/bench/table/search_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lzero::search_differences_test {
namespace {

using testing::ElementsAre;

// Two roots, two actions.
SearchResult TwoRoots() {
  SearchResult result;
  result.num_roots = 2;
  result.num_actions = 2;
  result.visit_counts = {6, 4, 1, 9};
  result.root_values = {0.5f, -2.0f};
  result.network_values = {0.25f, 4.0f};
  result.best_actions = {0, 1};
  return result;
}

BenchCase MetricsOf(const SearchResult& got) {
  SearchDifferences differences;
  differences.Add(got, TwoRoots());
  differences.Add(TwoRoots(), TwoRoots());  // what was found stays
  return differences.Metrics();
}

TEST(SearchDifferencesTest, DifferencesAreRelativeToTheLargestValue) {
  SearchResult got = TwoRoots();
  got.network_values[0] = 0.75f;
  got.root_values[1] = -1.0f;
  got.visit_counts = {4, 6, 1, 9};
  got.best_actions[0] = 1;
  using Member = BenchCase::Member;
  EXPECT_THAT(
      MetricsOf(got).members(),
      ElementsAre(Member("value_error_ratio", 0.125), Member("search_value_error_ratio", 0.25),
                  Member("changed_roots_share", 0.25), Member("moved_visits_share", 0.05),
                  Member("changed_actions_share", 0.25)));
}

TEST(SearchDifferencesTest, WhatIsNotFiniteStaysSo) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    SearchResult got = TwoRoots();
    got.network_values[0] = bad;
    EXPECT_FALSE(std::isfinite(std::get<double>(MetricsOf(got).members()[0].second)));
    got = TwoRoots();
    got.root_values[0] = bad;
    EXPECT_EQ(std::get<double>(MetricsOf(got).members()[0].second), 0.0);
    EXPECT_FALSE(std::isfinite(std::get<double>(MetricsOf(got).members()[1].second)));
  }
}

}  // namespace
}  // namespace lzero::search_differences_test
