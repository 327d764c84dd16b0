#include "tools/verbs/sweep/sweep_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::sweep_table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrainingState State(std::optional<int64_t> solved, std::optional<double> last,
                    std::optional<double> best) {
  TrainingState state;
  state.solved_env_steps = solved;
  state.last_return = last;
  state.best_return = best;
  state.env_steps = 20000;
  state.wall_seconds = 90.0;
  return state;
}

TEST(SweepTableTest, ShowsEachRunAndNoNumberOfOneThatFailed) {
  const std::vector<SweepResult> results = {{"a=1", 0, State(1234, 195.0, 200.0), ""},
                                            {"a=1", 1, State({}, -7.5, 12.0), ""},
                                            {"a=1", 2, std::nullopt, "failed, see D/seed_2.log"},
                                            {"a=2", 0, std::nullopt, "not finished"}};
  EXPECT_EQ(SweepTable(results, /*has_target=*/true),
            "run         solved at  last return  best return  env steps  minutes\n"
            "a=1/seed_0      1,234       195.00       200.00     20,000      1.5\n"
            "a=1/seed_1      never        -7.50        12.00     20,000      1.5\n"
            "a=1/seed_2  failed, see D/seed_2.log\n"
            "a=2/seed_0  not finished\n"
            "\n"
            "combination  finished  solved  median steps  worst return  median  highest  minutes\n"
            "a=1            2 of 3  1 of 2         never         -7.50   93.75   195.00      3.0\n"
            "a=2          0 of 1\n");
}

TEST(SweepTableTest, WithoutATargetNothingIsSaidAboutSolving) {
  const std::string text = SweepTable({{"runs", 3, State({}, 2.0, 3.0), ""}}, false);
  EXPECT_THAT(text, Not(HasSubstr("solved")));
  EXPECT_THAT(text, Not(HasSubstr("self-play")));
  EXPECT_THAT(text, HasSubstr("finished  worst return  median  highest  minutes"));
  EXPECT_THAT(text, HasSubstr("runs           1 of 1          2.00    2.00     2.00      1.5"));
}

TEST(SweepTableTest, ReturnsOfSelfPlayAreCalledThat) {
  EXPECT_THAT(SweepTable({{"runs", 3, State({}, 0.5, {}), ""}}, false),
              HasSubstr("self-play, which is no measure of strength"));
  EXPECT_THAT(SweepTable({{"runs", 3, State({}, {}, {}), ""}}, false),
              HasSubstr("runs           1 of 1             -       -        -"));
}

}  // namespace
}  // namespace lzero::sweep_table_test
