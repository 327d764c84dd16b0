#include "tools/bench/table/bench_rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace lzero::bench_rounds_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Notes when it runs; takes `ms` more in each round.
class NotingSubject final : public BenchSubject {
 public:
  NotingSubject(const BenchCase& bench, std::string* notes) : BenchSubject(bench), notes_(*notes) {}
  absl::Status Prepare() override {
    notes_ += "w" + bench_.Word("ms") + " ";
    return absl::OkStatus();
  }
  absl::Status RunRound(std::vector<double>* seconds) override {
    notes_ += bench_.Word("ms") + " ";
    if (bench_.Int("ms") == 9) return absl::ResourceExhaustedError("no memory");
    seconds_ += 1e-3 * static_cast<double>(bench_.Int("ms"));
    seconds->push_back(seconds_);
    return absl::OkStatus();
  }
  BenchWork Work() const override {
    if (bench_.Int("threads") == 8) return {};
    return {2000000, 3000000, 1 << 20};
  }
  BenchCase Metrics() const override {
    return {{"depth", 1.0 / 3.0},
            {"used_mib", 81234.567},
            {"name", std::string("x")},
            {"unknown", std::numeric_limits<double>::quiet_NaN()}};
  }

 private:
  std::string& notes_;
  double seconds_ = 0.0;
};

BenchTable NotingTable(std::string* notes) {
  BenchTable table;
  table.verb = "step";
  table.kind = "noting";
  table.unit = "us";
  table.axes = {{"threads", "", "1", 8}, {"ms", "", "1,2", 9}};
  table.make = [=](const BenchCase& bench) {
    return std::make_unique<NotingSubject>(bench, notes);
  };
  return table;
}

TEST(BenchRoundsTest, RoundsAreInterleavedOverAllCases) {
  std::string notes;
  const BenchTable table = NotingTable(&notes);
  const BenchMachine gpu = {"a GPU", [&]() -> absl::StatusOr<BenchPeaks> {
                              notes += "p ";
                              return BenchPeaks{notes.size() < 15 ? 4.0 : 3.0, 6.0};
                            }};
  const auto lines = MeasureCases(table, *SweepCases(table, {}), 3, gpu);
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ(notes, "w1 w2 p 1 2 p 1 2 p 1 2 ");
  ASSERT_EQ(lines->size(), 2u);
  // 2 ms at best: 1 GFLOP/s; the best peak of all rounds.
  const std::string line = std::regex_replace(
      (*lines)[1], std::regex(R"("cpu":".*","commit":".*","load":\[.*\])"), "MACHINE");
  EXPECT_EQ(line,
            R"({"bench":"step","kind":"noting","threads":1,"ms":2,"rounds":3,"us_min":2000.0,)"
            R"("us_median":4000.0,"depth":0.33333,"used_mib":81234.57,"name":"x","unknown":null,)"
            R"("gflops":1.0,"peak_gflops":4.0,"gbs":1.5,"peak_gbs":6.0,MACHINE,"gpu":"a GPU"})");
}

TEST(BenchRoundsTest, TheCpuHasPeaksOfItsOwn) {
  std::string notes;
  const BenchTable table = NotingTable(&notes);
  const auto lines = MeasureCases(table, *SweepCases(table, {{"ms", {"1"}}}), 1, {});
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_THAT((*lines)[0], HasSubstr("\"peak_gbs\":"));
  EXPECT_THAT((*lines)[0], testing::Not(HasSubstr("\"peak_gflops\":0.0")));
  EXPECT_THAT((*lines)[0], testing::Not(HasSubstr("\"gpu\"")));
}

TEST(BenchRoundsTest, CasesWithoutWorkNeedNoPeaks) {
  std::string notes;
  const BenchTable table = NotingTable(&notes);
  const BenchMachine gpu = {
      "", [] { return absl::StatusOr<BenchPeaks>(absl::InternalError("not asked")); }};
  const auto lines = MeasureCases(table, *SweepCases(table, {{"threads", {"8"}}}), 1, gpu);
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_THAT((*lines)[0], testing::Not(HasSubstr("flops")));
}

TEST(BenchRoundsTest, WithoutRoundsEachCaseIsRunOnce) {
  std::string notes;
  BenchTable table = NotingTable(&notes);
  table.rounds = 0;
  table.unit = "ns_per_step";
  const auto lines = MeasureCases(table, *SweepCases(table, {}), 3,
                                  {"", [] {
                                     return absl::StatusOr<BenchPeaks>(BenchPeaks{1.0, 1.0});
                                   }});
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ(notes, "w1 w2 1 2 ");
  EXPECT_THAT((*lines)[0], HasSubstr(R"("ms":1,"ns_per_step_min":1000000.0,)"));
}

TEST(BenchRoundsTest, AnErrorOfASubjectEndsIt) {
  std::string notes;
  const BenchTable table = NotingTable(&notes);
  const BenchMachine gpu = {"", [] { return absl::StatusOr<BenchPeaks>(BenchPeaks()); }};
  const auto lines = MeasureCases(table, *SweepCases(table, {{"ms", {"9"}}}), 5, gpu);
  EXPECT_EQ(lines.status().message(), "no memory");
}

}  // namespace
}  // namespace lzero::bench_rounds_test
