// Lists in the order in which a person writes them.
#include "lzero/base/text/natural_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::natural_order_test {
namespace {

TEST(NaturalOrderTest, NumbersCountAsNumbers) {
  const std::vector<std::vector<std::string>> lists = {
      {"", "a", "a4", "a04b", "a4b", "a16", "b"},
      {"rate=1e-05/seed_2", "rate=0.0003/seed_0", "rate=0.003/seed_2", "rate=0.003/seed_10",
       "rate=0.01/seed_1", "rate=1", "rate=1e3"},
      {"1.", "1e", "1.2", "1.2.3", "1.2.10", "1e999", "x"}};
  for (const auto& list : lists) {
    std::vector<std::string> sorted(list.rbegin(), list.rend());
    std::sort(sorted.begin(), sorted.end(), NaturalLess);
    EXPECT_EQ(sorted, list);
  }
}

}  // namespace
}  // namespace lzero::natural_order_test
