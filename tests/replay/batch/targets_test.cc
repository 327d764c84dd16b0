#include "lzero/replay/batch/targets.h"

#include <vector>

#include "gtest/gtest.h"

namespace lzero::targets_test {
namespace {

constexpr ValueBootstrap kNetwork = ValueBootstrap::kTargetNetwork;
constexpr ValueBootstrap kSearched = ValueBootstrap::kSearch;

struct Episode {
  std::vector<float> rewards;
  std::vector<float> root_values;
  std::vector<uint8_t> to_play;
  SegmentEnd end;

  StepWindow window() const { return {rewards, root_values, to_play, end}; }
};

void ExpectTarget(const ValueTarget& target, float partial, float scale, int step) {
  EXPECT_FLOAT_EQ(target.partial_return, partial);
  EXPECT_FLOAT_EQ(target.bootstrap_scale, scale);
  if (scale != 0.0f) {
    EXPECT_EQ(target.bootstrap_step, step);
  }
}

// Rewards 1, 2, 4 with discount 1/2, by hand.
const Episode kOnePlayer = {{1, 2, 4}, {10, 20, 40}, {0, 0, 0, 0}, SegmentEnd::kTerminated};

TEST(ValueTarget, NStepsThenTheNetwork) {
  const ValueTargetRule rule(2, 0.5, kNetwork);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 0, {2}), 1 + 1, 0.25f, 2);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 1, {2}), 2 + 2, 0, 0);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 2, {2}), 4, 0, 0);
}

TEST(ValueTarget, NStepsThenTheStoredRootValue) {
  const ValueTargetRule rule(2, 0.5, kSearched);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 0, {2}), 1 + 1 + 0.25f * 40, 0, 0);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 1, {2}), 2 + 2, 0, 0);
}

TEST(ValueTarget, AShareIsTheRootValueOfTheStepItself) {
  const ValueTargetRule rule(2, 0.5, kNetwork);
  const TargetTerms terms = {2, 0.25};
  ExpectTarget(rule.Compute(kOnePlayer.window(), 0, terms), 0.75f * 2 + 0.25f * 10, 0.75f * 0.25f,
               2);
  ExpectTarget(rule.Compute(kOnePlayer.window(), 2, terms), 0.75f * 4 + 0.25f * 40, 0, 0);
}

TEST(ValueTarget, TruncationBootstrapsFromTheLastObservation) {
  Episode episode = kOnePlayer;
  episode.end = SegmentEnd::kTruncated;
  const ValueTargetRule rule(2, 0.5, kNetwork);
  ExpectTarget(rule.Compute(episode.window(), 0, {2}), 2, 0.25f, 2);
  ExpectTarget(rule.Compute(episode.window(), 1, {2}), 4, 0.25f, 3);
  ExpectTarget(rule.Compute(episode.window(), 2, {2}), 4, 0.5f, 3);
  const ValueTargetRule whole(9, 0.5, kNetwork);
  ExpectTarget(whole.Compute(episode.window(), 0, {9}), 1 + 1 + 1, 0.125f, 3);
}

// The observation after a truncation was never searched: the last searched one is used.
TEST(ValueTarget, TruncationWithRootValuesStopsAtTheLastSearch) {
  Episode episode = kOnePlayer;
  episode.end = SegmentEnd::kTruncated;
  const ValueTargetRule rule(2, 0.5, kSearched);
  ExpectTarget(rule.Compute(episode.window(), 0, {2}), 1 + 1 + 0.25f * 40, 0, 0);
  ExpectTarget(rule.Compute(episode.window(), 1, {2}), 2 + 0.5f * 40, 0, 0);
  ExpectTarget(rule.Compute(episode.window(), 2, {2}), 40, 0, 0);
  const ValueTargetRule whole(9, 0.5, kSearched);
  ExpectTarget(whole.Compute(episode.window(), 0, {9}), 1 + 1 + 0.25f * 40, 0, 0);
}

TEST(ValueTarget, WindowThatRunsOnBootstrapsAtItsEdge) {
  Episode episode = kOnePlayer;
  episode.end = SegmentEnd::kRunsOn;
  ExpectTarget(ValueTargetRule(3, 0.5, kNetwork).Compute(episode.window(), 0, {3}), 3, 0.125f, 3);
}

// Rewards 0,0,0,0,+1 for players 1,2,1,2,1: signs follow the player to move, from every root.
TEST(ValueTarget, TwoPlayerSigns) {
  const Episode episode = {
      {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1}, SegmentEnd::kTerminated};
  const ValueTargetRule rule(5, 1.0, kNetwork);
  for (int t = 0; t < 5; ++t) {
    ExpectTarget(rule.Compute(episode.window(), t, {5}), t % 2 == 0 ? 1.0f : -1.0f, 0, 0);
  }
}

// Movers 0, 0, 1, 0: the sign follows the player, not the parity of the step.
TEST(ValueTarget, SignsFollowThePlayerToMove) {
  const Episode episode = {{1, 2, 4}, {10, 20, 40}, {0, 0, 1, 0}, SegmentEnd::kTruncated};
  const ValueTargetRule rule(2, 0.5, kNetwork);
  ExpectTarget(rule.Compute(episode.window(), 0, {2}), 1 + 1, -0.25f, 2);
  ExpectTarget(rule.Compute(episode.window(), 1, {2}), 2 - 2, 0.25f, 3);
  ExpectTarget(rule.Compute(episode.window(), 2, {2}), 4, -0.5f, 3);
  const ValueTargetRule searched(2, 0.5, kSearched);
  ExpectTarget(searched.Compute(episode.window(), 0, {2}), 2 - 0.25f * 40, 0, 0);
  ExpectTarget(searched.Compute(episode.window(), 1, {2}), 2 - 0.5f * 40, 0, 0);
}

TEST(TargetTerms, ShrinkWithUpdatesAndWithAge) {
  ReplayConfig config;
  config.td_steps = 10;
  EXPECT_EQ(TargetTermsOf(config, 1000, 1000).td_steps, 10);
  config.td_decay_updates = 100;
  config.td_steps_final = 3;
  EXPECT_EQ(TargetTermsOf(config, 0, 0).td_steps, 10);
  EXPECT_EQ(TargetTermsOf(config, 50, 0).td_steps, 5);  // 10 (3 / 10)^0.5 = 5.48
  EXPECT_EQ(TargetTermsOf(config, 100, 0).td_steps, 3);
  EXPECT_EQ(TargetTermsOf(config, 1000, 0).td_steps, 3);
  config.td_age = 40;
  EXPECT_EQ(TargetTermsOf(config, 0, 39).td_steps, 10);
  EXPECT_EQ(TargetTermsOf(config, 0, 80).td_steps, 8);
  EXPECT_EQ(TargetTermsOf(config, 0, 4000).td_steps, 1);
}

TEST(TargetTerms, OldSamplesTakeTheRootValue) {
  ReplayConfig config;
  config.root_value_share = 1.0;
  EXPECT_EQ(TargetTermsOf(config, 0, 0).root_value_share, 1.0);
  config.root_value_min_age = 20;
  EXPECT_EQ(TargetTermsOf(config, 0, 19).root_value_share, 0.0);
  EXPECT_EQ(TargetTermsOf(config, 0, 20).root_value_share, 1.0);
}

}  // namespace
}  // namespace lzero::targets_test
