// The words of a report: what is said of runs that were solved, never were, or cannot be used.
#include "lzero/report/page_tables.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::page_tables_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A group whose runs end at `returns`, with a target of 10.
RunGroup GroupOf(const std::vector<double>& returns) {
  RunGroup group{"g<1>", {}};
  for (const double value : returns) {
    RunRecord run;
    run.path = "runs/" + std::to_string(group.runs.size());
    run.state = "finished";
    run.command_line = {"/far/lzero", "train", "a b.yaml", "x='1'"};
    run.config.seed = static_cast<int64_t>(group.runs.size());
    run.config.stop.target_return = 10.0;
    run.config.stop.patience = 1;
    run.evaluations = {{1500, 8, value, ""}};
    run.solved_wall_seconds = 4.0;
    group.runs.push_back(run);
  }
  return group;
}

ReportInput InputOf(std::vector<RunGroup> groups) {
  ReportInput input;
  input.runs.groups = std::move(groups);
  input.comparison = CompareGroups(input.runs.groups, std::nullopt);
  input.program = "lzero";
  return input;
}

TEST(PageTablesTest, Verdicts) {
  EXPECT_THAT(
      Verdicts(InputOf({GroupOf({12.0})})),
      HasSubstr("Solved</b> after 1,500 env steps and 4.0 s: mean return of at least 10 in 1 "
                "evaluation in a row."));
  EXPECT_THAT(Verdicts(InputOf({GroupOf({12.0, 11.0})})),
              HasSubstr("Solved by all 2 runs</b>, after a median of 1,500 env steps and 4.0 s"));
  const std::string some = Verdicts(InputOf({GroupOf({12.0, 11.0, 1.0})}));
  EXPECT_THAT(some, HasSubstr("Solved by 2 of 3 runs</b>, after a median of 1,500 env steps:"));
  EXPECT_THAT(Verdicts(InputOf({GroupOf({12.0, 2.0, 1.0})})),
              HasSubstr("Solved by 1 of 3 runs</b>; the median run never was"));
  EXPECT_THAT(Verdicts(InputOf({GroupOf({2.0, 1.0})})), HasSubstr("Not solved</b> by any run"));
  RunGroup open = GroupOf({2.0, 3.0});
  for (RunRecord& run : open.runs) run.config.stop.target_return.reset();
  EXPECT_THAT(Verdicts(InputOf({open})), HasSubstr("No target set.</b> Final return mean 2.50"));
  open.runs[0].evaluations.clear(), open.runs[1].evaluations.clear();
  EXPECT_THAT(Verdicts(InputOf({open})), HasSubstr("Not evaluated yet"));
}

TEST(PageTablesTest, FewRunsAreShownAsPoints) {
  const std::string few = ReturnTable(InputOf({GroupOf({12.0, 11.0, 1.0})}));
  EXPECT_THAT(
      few, HasSubstr("final returns: 12.00, 11.00, 1.00.</p>\n<p class=\"note\">No interval for"));
  EXPECT_THAT(few, Not(HasSubstr("class=\"interval\"")));
  const std::string five = ReturnTable(InputOf({GroupOf({12.0, 11.0, 1.0, 2.0, 3.0})}));
  EXPECT_THAT(five, HasSubstr("class=\"interval\""));
  EXPECT_THAT(five, HasSubstr(">never</td>"));
}

TEST(PageTablesTest, NamesWhatIsUnfinishedOrLeftOut) {
  ReportInput input = InputOf({GroupOf({1.0, 2.0})});
  EXPECT_EQ(Warnings(input), "");
  input.runs.groups[0].runs[1].state = "interrupted";
  input.runs.groups[0].runs[1].env_steps = 4000;
  input.runs.groups[0].runs[0].state = "failed";
  input.runs.groups[0].runs[0].message = "it raised:\n  File <x>";
  EXPECT_THAT(Warnings(input), HasSubstr("<pre>it raised:\n  File &lt;x&gt;</pre></li>"));
  input.runs.skipped = {{"runs/<b>", "is & was broken"}};
  EXPECT_THAT(Warnings(input), HasSubstr("runs/1 is <b>interrupted</b> at 4,000 env steps"));
  EXPECT_THAT(Warnings(input), HasSubstr("runs/&lt;b&gt; is <b>left out</b>: is &amp; was broken"));
}

TEST(PageTablesTest, PairsAndTheirSettings) {
  RunGroup other = GroupOf({1.0, 11.0});
  for (RunRecord& run : other.runs) run.config.train.batch_size = 17;
  const std::string text = PairTables(InputOf({GroupOf({12.0, 13.0}), other}));
  EXPECT_THAT(text, HasSubstr(">1.00</td>"));  // A is always better
  EXPECT_THAT(text, HasSubstr("<code>train.batch_size</code></td><td>64</td><td>17</td>"));
  other.runs[0].config.env.id = "catch";
  EXPECT_THAT(PairTables(InputOf({GroupOf({12.0}), other})),
              HasSubstr("Not compared: groups on different environments"));
}

TEST(PageTablesTest, CommandsCanBeTyped) {
  EXPECT_THAT(
      Commands(InputOf({GroupOf({1.0})})),
      HasSubstr("lzero train &#39;a b.yaml&#39; &#39;x=&#39;\\&#39;&#39;1&#39;\\&#39;&#39;&#39;"));
}

TEST(PageTablesTest, PicturesAreInThePage) {
  ReportInput input = InputOf({GroupOf({1.0})});
  EXPECT_EQ(Pictures(input), "");
  input.pictures = {{"seed 0 plays", "", {{"worst: <1>", "GIF"}}}};
  EXPECT_THAT(Pictures(input),
              HasSubstr("alt=\"worst: &lt;1&gt;\" src=\"data:image/gif;base64,R0lG\""));
  input.pictures = {{"", "no pictures: why", {}}};
  EXPECT_THAT(Pictures(input), HasSubstr("no pictures: why"));
}

TEST(PageTablesTest, RunsAndSettings) {
  RunGroup group = GroupOf({12.0, 1.0});
  group.runs[0].config.train.batch_size = 17;
  EXPECT_THAT(Settings(InputOf({group})), HasSubstr("<code>train.batch_size</code> 17 "));
  EXPECT_THAT(RunTable(InputOf({group})), HasSubstr("<td>finished</td>"));
}

}  // namespace
}  // namespace lzero::page_tables_test
