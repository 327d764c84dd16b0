// The progress line, by hand.
#include "lzero/run/progress.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::progress_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProgressTest, FormatsSeconds) {
  EXPECT_EQ(FormatSeconds(0.0), "0:00");
  EXPECT_EQ(FormatSeconds(0.4), "0:00");
  EXPECT_EQ(FormatSeconds(59.6), "1:00");
  EXPECT_EQ(FormatSeconds(65.0), "1:05");
  EXPECT_EQ(FormatSeconds(3599.0), "59:59");
  EXPECT_EQ(FormatSeconds(3600.0), "1:00:00");
  EXPECT_EQ(FormatSeconds(7213.0), "2:00:13");
  EXPECT_EQ(FormatSeconds(360000.0), "100:00:00");
}

TEST(ProgressTest, FormatsCounts) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(12345), "12,345");
  EXPECT_EQ(FormatCount(999999), "999,999");
  EXPECT_EQ(FormatCount(1000000), "1,000,000");
  EXPECT_EQ(FormatCount(-1), "-1");
  EXPECT_EQ(FormatCount(-123), "-123");
  EXPECT_EQ(FormatCount(-1234), "-1,234");
}

// The first line after two seconds, then one every ten.
TEST(ProgressTest, TheFirstLineIsEarly) {
  Progress progress(10.0);
  progress.Start({}, 100.0);
  EXPECT_FALSE(progress.IsDue(101.9));
  EXPECT_TRUE(progress.IsDue(102.0));
  progress.Mark({1, 0, 0}, 102.0);
  EXPECT_FALSE(progress.IsDue(111.9));
  EXPECT_TRUE(progress.IsDue(112.0));
  Progress always(0.0);
  always.Start({}, 100.0);
  EXPECT_TRUE(always.IsDue(100.0));
}

TEST(ProgressTest, SharesSumToOneInTheirOrder) {
  ProgressTimes times;
  times.env = 1.0;
  times.tree = 2.0;
  times.network = 3.0;
  times.copy = 4.0;
  times.learn = 7.0;
  times.reanalyze = 1.0;
  times.evaluate = 2.0;
  const auto shares = times.Shares();
  const std::vector<std::pair<std::string, double>> expected = {
      {"env", 0.05},   {"tree", 0.1},       {"network", 0.15}, {"copy", 0.2},
      {"learn", 0.35}, {"reanalyze", 0.05}, {"evaluate", 0.1}};
  ASSERT_EQ(shares.size(), expected.size());
  for (size_t i = 0; i < shares.size(); ++i) {
    EXPECT_EQ(shares[i].first, expected[i].first);
    EXPECT_DOUBLE_EQ(shares[i].second, expected[i].second);
  }
}

TEST(ProgressTest, SharesAreZeroBeforeAnyWork) {
  for (const auto& [name, share] : ProgressTimes().Shares()) EXPECT_EQ(share, 0.0) << name;
}

TEST(ProgressTest, ALineIsDueAfterItsInterval) {
  Progress progress(2.0);
  progress.Start({}, 100.0);
  EXPECT_FALSE(progress.IsDue(101.9));
  EXPECT_TRUE(progress.IsDue(102.0));
  progress.Mark({}, 103.0);
  EXPECT_FALSE(progress.IsDue(104.9));
  EXPECT_TRUE(progress.IsDue(105.0));
}

TEST(ProgressTest, ASessionHasItsMeansAndNoneWhenNothingWasDone) {
  Progress progress(2.0);
  progress.Start({1000, 100, 5000}, 10.0);
  EXPECT_FALSE(progress.SessionRates({1000, 100, 5000}, 20.0).has_value());
  progress.Mark({1200, 150, 6000}, 14.0);
  const auto rates = progress.SessionRates({1300, 200, 7000}, 20.0);
  ASSERT_TRUE(rates.has_value());
  EXPECT_DOUBLE_EQ(rates->env_steps_per_s, 30.0);
  EXPECT_DOUBLE_EQ(rates->updates_per_s, 10.0);
  EXPECT_DOUBLE_EQ(rates->sims_per_s, 200.0);
}

TEST(ProgressTest, CountsMoveWhenAnyOfThemDoes) {
  Progress progress(2.0);
  progress.Start({1000, 100, 5000}, 10.0);
  EXPECT_FALSE(progress.HasMoved({1000, 100, 5000}));
  EXPECT_TRUE(progress.HasMoved({1000, 101, 5000}));
  progress.Mark({1000, 101, 5000}, 11.0);
  EXPECT_FALSE(progress.HasMoved({1000, 101, 5000}));
}

TEST(ProgressTest, RatesAreThoseSinceTheLastMark) {
  Progress progress(2.0);
  progress.Start({1000, 100, 5000}, 10.0);  // a resumed run begins with counts
  Progress::Rates rates = progress.Mark({1200, 150, 6000}, 14.0);
  EXPECT_DOUBLE_EQ(rates.env_steps_per_s, 50.0);
  EXPECT_DOUBLE_EQ(rates.updates_per_s, 12.5);
  EXPECT_DOUBLE_EQ(rates.sims_per_s, 250.0);
  rates = progress.Mark({1201, 150, 6000}, 14.5);
  EXPECT_DOUBLE_EQ(rates.env_steps_per_s, 2.0);
  EXPECT_EQ(rates.updates_per_s, 0.0);
  EXPECT_EQ(rates.sims_per_s, 0.0);
}

TEST(ProgressTest, TheTimeToTheEndIsAtThePaceOfThisSession) {
  Progress progress(2.0);
  progress.Start({}, 100.0);
  EXPECT_EQ(progress.EtaSeconds(std::nullopt, 110.0), std::nullopt);
  EXPECT_EQ(progress.EtaSeconds(0.0, 110.0), std::nullopt);
  EXPECT_DOUBLE_EQ(*progress.EtaSeconds(0.25, 110.0), 30.0);  // 10 s a quarter, three to go
  EXPECT_DOUBLE_EQ(*progress.EtaSeconds(1.0, 140.0), 0.0);

  // Resumed at 60 %: 10 s for the next tenth, three tenths to go.
  progress.SetStartFraction(0.6);
  EXPECT_EQ(progress.EtaSeconds(0.6, 110.0), std::nullopt);
  EXPECT_NEAR(*progress.EtaSeconds(0.7, 110.0), 30.0, 1e-9);
}

TEST(ProgressTest, TheLineTellsReturnRatesTimeLeftAndWhereTimeGoes) {
  Progress progress(2.0);
  progress.Start({}, 0.0);
  ProgressTimes times;
  times.env = 0.2;
  times.network = 5.0;
  times.learn = 94.8;
  times.evaluate = 0.0;
  EXPECT_EQ(progress.Line({2400, 600, 60000}, {412.4, 103.0, 10310.6}, 20000, 0.12, 143.25,
                          "eval 195.0", times, 12.0),
            "env steps 2,400/20,000 | return 143.2 | eval 195.0 | 412 env steps/s, 10,311 sims/s, "
            "103 updates/s | ETA 1:28 | network 5% learn 95%");
}

TEST(ProgressTest, SmallReturnsAreToldByHundredths) {
  Progress progress(2.0);
  progress.Start({}, 0.0);
  const auto line = [&](double collected, double evaluated) {
    return progress.Line({8, 0, 0}, {}, std::nullopt, std::nullopt, collected,
                         absl::StrCat("eval ", FormatReturn(evaluated)), {}, 2.0);
  };
  EXPECT_EQ(line(0.047, 0.956).substr(0, 37), "env steps 8 | return 0.05 | eval 0.96");
  EXPECT_EQ(line(-0.004, -9.5).substr(0, 38), "env steps 8 | return 0.00 | eval -9.50");
  EXPECT_EQ(line(10.0, -176.54).substr(0, 41), "env steps 8 | return 10.0 | eval -176.5 |");
}

TEST(ProgressTest, TheLineLeavesOutWhatIsNotKnown) {
  Progress progress(2.0);
  progress.Start({}, 0.0);
  const std::string line = progress.Line({8, 0, 200}, {4.0, 0.0, 100.0}, std::nullopt, std::nullopt,
                                         std::nullopt, "", {}, 2.0);
  EXPECT_EQ(line, "env steps 8 | 4 env steps/s, 100 sims/s, 0 updates/s");
  EXPECT_THAT(progress.Line({8, 0, 200}, {}, std::nullopt, 0.0, -1.0, "", {}, 2.0),
              testing::AllOf(HasSubstr("| return -1.00 |"), Not(HasSubstr("ETA"))));
}

}  // namespace
}  // namespace lzero::progress_test
