#include "tools/bench/table/bench_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/bench/table/bench_report.h"

namespace lzero::bench_table_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two sizes, a runner with its numbers, and a list.
BenchTable SmallTable() {
  BenchTable table;
  table.verb = "step";
  table.axes = {{"device", "", "cpu"},    {"embed", "", "64", 100},
                {"batch", "", "8", 1000}, {"sims", "", "25,50", 1000, 5},
                {"runner", "", "eager"},  {"dtype", "", "fp32", 0, 1, "fp32,bf16"}};
  table.presets = {{"cpu", "embed batch", {"16 1", "32 2"}},
                   {"cuda", "embed batch", {"99 9"}},
                   {"", "runner dtype", {"eager fp32", "packed bf16"}},
                   {"", "runner", {"eager", "packed"}}};
  return table;
}

// "16 1 25 eager fp32" for each case.
std::vector<std::string> Swept(const BenchTable& table, const BenchGiven& given) {
  const auto cases = SweepCases(table, given);
  if (!cases.ok()) return {std::string(cases.status().message())};
  std::vector<std::string> texts;
  for (const BenchCase& bench : *cases) {
    std::vector<std::string> words;
    for (const auto& [name, value] : bench.members()) {
      if (name != "device") words.push_back(bench.Word(name));
    }
    texts.push_back(absl::StrJoin(words, " "));
  }
  return texts;
}

TEST(BenchTableTest, NothingGivenSweepsThePresetsAndTheDefaults) {
  EXPECT_THAT(Swept(SmallTable(), {}),
              ElementsAre("16 1 25 eager fp32", "16 1 25 packed bf16", "16 1 50 eager fp32",
                          "16 1 50 packed bf16", "32 2 25 eager fp32", "32 2 25 packed bf16",
                          "32 2 50 eager fp32", "32 2 50 packed bf16"));
}

TEST(BenchTableTest, ListsAreSweptTheLastAxisFastest) {
  EXPECT_THAT(Swept(SmallTable(), {{"embed", {"4", "6"}},
                                   {"sims", {"9"}},
                                   {"runner", {"packed"}},
                                   {"dtype", {"bf16", "fp32"}}}),
              ElementsAre("4 8 9 packed bf16", "4 8 9 packed fp32", "6 8 9 packed bf16",
                          "6 8 9 packed fp32"));
}

TEST(BenchTableTest, PresetsEndWithTheirFirstAxisThatIsGiven) {
  // Another preset of the same axis comes next; the device chooses, too.
  EXPECT_THAT(Swept(SmallTable(), {{"device", {"cuda"}}, {"dtype", {"fp32"}}, {"sims", {"5"}}}),
              ElementsAre("99 9 5 eager fp32", "99 9 5 packed fp32"));
}

TEST(BenchTableTest, WhatIsLeftOutStaysWhereNothingElseIsLeft) {
  BenchTable table = SmallTable();
  table.is_left_out = [](const BenchCase& bench) { return bench.Word("dtype") == "bf16"; };
  const BenchGiven both = {{"embed", {"4"}}, {"sims", {"9"}}, {"dtype", {"bf16", "fp32"}}};
  EXPECT_THAT(Swept(table, both), ElementsAre("4 8 9 eager fp32", "4 8 9 packed fp32"));
  const BenchGiven one = {{"embed", {"4"}}, {"sims", {"9"}}, {"dtype", {"bf16"}}};
  EXPECT_THAT(Swept(table, one), ElementsAre("4 8 9 eager bf16", "4 8 9 packed bf16"));
}

TEST(BenchTableTest, ACountIsEveryNumberUpToIt) {
  BenchTable table;
  table.verb = "unload";
  table.axes = {{"batch", "", "8", 1000}, {"cycle", "", "2", 100}};
  table.axes[1].counts_up = true;
  EXPECT_THAT(Swept(table, {}), ElementsAre("8 1", "8 2"));
  const BenchGiven given = {{"cycles", {"3"}}};
  EXPECT_THAT(Swept(table, given), ElementsAre("8 1", "8 2", "8 3"));
  const auto cases = SweepCases(table, given);
  EXPECT_THAT(ArgumentsOf(table, given, cases->back()),
              ElementsAre("bench", "unload", "--cycles", "3"));
}

TEST(BenchTableTest, RefusesValuesThatCannotBe) {
  for (const char* bad : {"-1", "0", "1001", "many", "8.0", ""}) {
    EXPECT_THAT(
        Swept(SmallTable(), {{"batch", {"8", bad}}}),
        ElementsAre(absl::StrCat("bench step: --batch: got ", *bad == 0 ? "''" : "'", bad,
                                 *bad == 0 ? "" : "'", ", allowed: an integer from 1 to 1000")));
  }
  EXPECT_THAT(Swept(SmallTable(), {{"sims", {"4"}}}),
              ElementsAre("bench step: --sims: got '4', allowed: an integer from 5 to 1000"));
  EXPECT_THAT(Swept(SmallTable(), {{"dtype", {"bf61"}}}),
              ElementsAre("bench step: --dtype: got 'bf61', allowed: fp32, bf16; did you mean "
                          "'bf16'?"));
  BenchTable table = SmallTable();
  table.check = [](const BenchCase& bench) {
    return bench.Int("batch") == 2 ? absl::InvalidArgumentError("two") : absl::OkStatus();
  };
  EXPECT_THAT(Swept(table, {}), ElementsAre("two"));
}

TEST(BenchTableTest, ArgumentsAskForOneCaseOfAnyBuild) {
  const BenchGiven given = {{"dtype", {"fp32", "bf16"}}};
  const auto cases = SweepCases(SmallTable(), given);
  ASSERT_TRUE(cases.ok()) << cases.status();
  // Neither the device, which has one default and is not given.
  EXPECT_THAT(ArgumentsOf(SmallTable(), given, cases->back()),
              ElementsAre("bench", "step", "--embed", "32", "--batch", "2", "--sims", "50",
                          "--runner", "packed", "--dtype", "bf16"));
  BenchTable plain;
  plain.verb = "train";
  plain.axes = {{"embed", "", "64", 100}};
  const BenchCase bench = SweepCases(plain, {})->front();
  EXPECT_THAT(ArgumentsOf(plain, {}, bench), ElementsAre("bench", "train"));
  EXPECT_THAT(bench.members(), ElementsAre(BenchCase::Member("embed", int64_t{64})));
  EXPECT_THAT(BenchCase().members(), IsEmpty());
}

// Notes when it runs; takes `ms` more in each round.
BenchTable NotingTable(std::string* notes) {
  BenchTable table;
  table.verb = "step";
  table.kind = "noting";
  table.unit = "us";
  table.axes = {{"threads", "", "1", 8}, {"ms", "", "1,2", 9}};
  table.prepare = [=](const BenchCase& bench) {
    const int64_t ms = bench.Int("ms");
    absl::StrAppend(notes, "w", ms, " ");
    BenchSubject subject;
    if (bench.Int("threads") != 8) subject.work = {2000000, 3000000, 1 << 20};
    subject.run_round = [=, seconds = 0.0](std::vector<double>* all) mutable {
      absl::StrAppend(notes, ms, " ");
      if (ms == 9) return absl::ResourceExhaustedError("no memory");
      all->push_back(seconds += 1e-3 * static_cast<double>(ms));
      return absl::OkStatus();
    };
    subject.metrics = []() -> BenchCase {
      return {{"depth", 1.0 / 3.0},
              {"used_mib", 81234.567},
              {"name", "x"},
              {"unknown", std::numeric_limits<double>::quiet_NaN()}};
    };
    return subject;
  };
  return table;
}

// The line of each case, or the error.
std::vector<std::string> Measured(const BenchTable& table, const BenchGiven& given, int64_t rounds,
                                  const BenchMachine& machine) {
  const auto measured = MeasureCases(table, *SweepCases(table, given), rounds, machine);
  if (!measured.ok()) return {std::string(measured.status().message())};
  std::vector<std::string> lines;
  for (const BenchCase& each : *measured) lines.push_back(BenchLine(each));
  return lines;
}

TEST(BenchTableTest, RoundsAreInterleavedOverAllCases) {
  std::string notes;
  const BenchMachine gpu = {"a GPU", [&]() -> absl::StatusOr<BenchPeaks> {
                              notes += "p ";
                              return BenchPeaks{notes.size() < 15 ? 4.0 : 3.0, 6.0};
                            }};
  const auto lines = Measured(NotingTable(&notes), {}, 3, gpu);
  EXPECT_EQ(notes, "w1 w2 p 1 2 p 1 2 p 1 2 ");
  ASSERT_EQ(lines.size(), 2u);
  // 2 ms at best: 1 GFLOP/s; the best peak of all rounds.
  const std::string line = std::regex_replace(
      lines[1], std::regex(R"("cpu":".*","commit":".*","load":\[.*\])"), "MACHINE");
  EXPECT_EQ(line,
            R"({"bench":"step","kind":"noting","threads":1,"ms":2,"rounds":3,"us_min":2000.0,)"
            R"("us_median":4000.0,"depth":0.33333,"used_mib":81234.57,"name":"x","unknown":null,)"
            R"("gflops":1.0,"peak_gflops":4.0,"gbs":1.5,"peak_gbs":6.0,MACHINE,"gpu":"a GPU"})");
}

TEST(BenchTableTest, TheCpuHasPeaksOfItsOwn) {
  std::string notes;
  const auto lines = Measured(NotingTable(&notes), {{"ms", {"1"}}}, 1, {});
  EXPECT_THAT(lines,
              ElementsAre(AllOf(HasSubstr("\"peak_gbs\":"), Not(HasSubstr("\"peak_gflops\":0.0")),
                                Not(HasSubstr("\"gpu\"")))));
}

TEST(BenchTableTest, CasesWithoutWorkNeedNoPeaks) {
  std::string notes;
  const BenchMachine gpu = {
      "", [] { return absl::StatusOr<BenchPeaks>(absl::InternalError("not asked")); }};
  EXPECT_THAT(Measured(NotingTable(&notes), {{"threads", {"8"}}}, 1, gpu)[0],
              AllOf(HasSubstr("us_min"), Not(HasSubstr("flops"))));
}

TEST(BenchTableTest, WithoutRoundsEachCaseIsRunOnce) {
  std::string notes;
  BenchTable table = NotingTable(&notes);
  table.rounds = 0;
  table.unit = "ns_per_step";
  const auto lines = Measured(table, {{"threads", {"8"}}}, 3, {});
  EXPECT_EQ(notes, "w1 w2 1 2 ");
  EXPECT_THAT(lines[0], HasSubstr(R"("ms":1,"ns_per_step_min":1000000.0,)"));
}

TEST(BenchTableTest, AnErrorOfASubjectEndsIt) {
  std::string notes;
  EXPECT_THAT(Measured(NotingTable(&notes), {{"threads", {"8"}}, {"ms", {"9"}}}, 5, {}),
              ElementsAre("no memory"));
}

}  // namespace
}  // namespace lzero::bench_table_test
