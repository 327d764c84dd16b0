#include "lzero/agent/action_selection.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::action_selection_test {
namespace {

TEST(TemperatureTest, FallsLinearlyAndStays) {
  SearchConfig config;
  config.temperature = 1.0;
  config.temperature_final = 0.25;
  config.temperature_decay_env_steps = 1000;
  EXPECT_EQ(TemperatureAt(config, 0), 1.0);
  EXPECT_EQ(TemperatureAt(config, 500), 0.625);
  EXPECT_EQ(TemperatureAt(config, 1000), 0.25);
  EXPECT_EQ(TemperatureAt(config, 1'000'000), 0.25);
}

TEST(TemperatureTest, FallsByHalves) {
  SearchConfig config;
  config.temperature = 2.0;
  config.temperature_decay_env_steps = 1000;
  config.temperature_schedule = TemperatureSchedule::kHalves;
  EXPECT_EQ(TemperatureAt(config, 499), 2.0);
  EXPECT_EQ(TemperatureAt(config, 500), 1.0);
  EXPECT_EQ(TemperatureAt(config, 749), 1.0);
  EXPECT_EQ(TemperatureAt(config, 750), 0.5);
  EXPECT_EQ(TemperatureAt(config, 1'000'000), 0.5);
}

TEST(TemperatureTest, IsConstantWithoutADecay) {
  SearchConfig config;
  config.temperature = 0.25;
  EXPECT_EQ(TemperatureAt(config, 0), 0.25);
  EXPECT_EQ(TemperatureAt(config, 1'000'000), 0.25);
}

// How often each action is drawn.
std::vector<double> Shares(const std::vector<int32_t>& visits, double temperature) {
  RandomStream stream(/*seed=*/3, "draws");
  std::vector<double> weights(visits.size());
  std::vector<double> shares(visits.size(), 0.0);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    shares[static_cast<size_t>(
        DrawAction(visits, temperature, &stream, absl::MakeSpan(weights)))] += 1.0 / kDraws;
  }
  return shares;
}

TEST(DrawActionTest, DrawsByVisitsToThePowerOfOneOverTemperature) {
  // Standard deviation of a share: at most sqrt(0.25 / 20000) = 0.0035; four of them.
  const auto proportional = Shares({6, 0, 3, 1}, 1.0);
  EXPECT_NEAR(proportional[0], 0.6, 0.015);
  EXPECT_EQ(proportional[1], 0.0);
  EXPECT_NEAR(proportional[2], 0.3, 0.015);
  EXPECT_NEAR(proportional[3], 0.1, 0.015);
  const auto squared = Shares({2, 1}, 0.5);
  EXPECT_NEAR(squared[0], 0.8, 0.015);
  const auto root = Shares({4, 1}, 2.0);
  EXPECT_NEAR(root[0], 2.0 / 3.0, 0.015);
}

TEST(DrawActionTest, TinyTemperaturesTakeTheMostVisited) {
  EXPECT_NEAR(Shares({999, 1000, 0}, 1e-6)[1], 1.0, 1e-9);
  EXPECT_NEAR(Shares({1}, 1e-300)[0], 1.0, 1e-9);
}

TEST(DrawActionDeathTest, WrongArgumentsAreABug) {
  RandomStream stream(1);
  std::vector<double> weights(2);
  const std::vector<int32_t> visits = {1, 1};
  const std::vector<int32_t> none = {0, 0};
  EXPECT_DEATH(DrawAction(visits, 0.0, &stream, absl::MakeSpan(weights)), "temperature 0");
  EXPECT_DEATH(DrawAction(none, 1.0, &stream, absl::MakeSpan(weights)), "no action was visited");
}

}  // namespace
}  // namespace lzero::action_selection_test
