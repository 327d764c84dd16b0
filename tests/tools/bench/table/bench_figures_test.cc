#include "tools/bench/table/bench_figures.h"

#include <gtest/gtest.h>

namespace lzero::bench_figures_test {
namespace {

TEST(BenchFiguresTest, ConditionsNameTheGpuOnlyWhereOneIsMeasured) {
  EXPECT_EQ(ConditionsJson({"abc1234", 0.25, 1.5, "a CPU"}),
            R"("cpu":"a CPU","commit":"abc1234","load":[0.25,1.5])");
  EXPECT_EQ(ConditionsJson({"abc1234", 0.25, 1.5, "a CPU", "a GPU"}),
            R"("cpu":"a CPU","commit":"abc1234","load":[0.25,1.5],"gpu":"a GPU")");
}

TEST(BenchFiguresTest, ConditionsBeginWithThisMachine) {
  const BenchConditions conditions = BeginConditions("a GPU");
  EXPECT_FALSE(conditions.cpu.empty());
  EXPECT_FALSE(conditions.commit.empty());
  EXPECT_EQ(conditions.gpu, "a GPU");
}

}  // namespace
}  // namespace lzero::bench_figures_test
