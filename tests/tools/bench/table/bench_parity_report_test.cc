#include "tools/bench/table/bench_parity_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace lzero::bench_parity_report_test {
namespace {

using testing::HasSubstr;

constexpr char kEngine[] = R"("device":"cuda","runner":"cuda_graph")";

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

std::string JsonOf(const SearchResult& got) {
  ParityDifferences sums;
  AddDifferences(got, TwoRoots(), &sums);
  AddDifferences(TwoRoots(), TwoRoots(), &sums);  // what was found stays
  return ParityJson(kEngine, 2, sums, {"abc1234", 0.25, 1.5, "a CPU", "a GPU"});
}

TEST(BenchParityReportTest, DifferencesAreRelativeToTheLargestValue) {
  SearchResult got = TwoRoots();
  got.network_values[0] = 0.75f;
  got.root_values[1] = -1.0f;
  got.visit_counts = {4, 6, 1, 9};
  got.best_actions[0] = 1;
  EXPECT_EQ(JsonOf(got),
            R"({"bench":"parity","device":"cuda","runner":"cuda_graph","searches":2,)"
            R"("value_error_ratio":0.125,"search_value_error_ratio":0.25,)"
            R"("changed_roots_share":0.25,"moved_visits_share":0.05,"changed_actions_share":0.25,)"
            R"("cpu":"a CPU","commit":"abc1234","load":[0.25,1.5],"gpu":"a GPU"})");
}

TEST(BenchParityReportTest, WhatIsNotFiniteIsNull) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    SearchResult got = TwoRoots();
    got.network_values[0] = bad;
    EXPECT_THAT(JsonOf(got),
                HasSubstr(R"("value_error_ratio":null,"search_value_error_ratio":0,)"));
    got = TwoRoots();
    got.root_values[0] = bad;
    EXPECT_THAT(JsonOf(got),
                HasSubstr(R"("value_error_ratio":0,"search_value_error_ratio":null,)"));
  }
}

TEST(BenchParityReportTest, TheLineShowsNan) {
  SearchResult got = TwoRoots();
  got.network_values[0] = std::numeric_limits<float>::quiet_NaN();
  ParityDifferences sums;
  AddDifferences(got, TwoRoots(), &sums);
  EXPECT_THAT(ParityLine("cuda_graph", "fp32", sums),
              HasSubstr("cuda_graph fp32: values of roots nan apart, those of searches 0 "));
}

}  // namespace
}  // namespace lzero::bench_parity_report_test
