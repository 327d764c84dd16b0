// Calibration by hand: two predictions whose sums are worked out on paper, and a measured episode
// of dice whose chances are known.
#include "lzero/worker/chance_calibration.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "tests/worker/worker_testing.h"

namespace lzero::chance_calibration_test {
namespace {

using testing::HasSubstr;

// truth {0.5, 0.5, 0, 0}: predicted {0.25, 0.25, 0.5, 0}, then the truth itself.
TEST(ChanceCalibrationTest, MeansByHand) {
  ChanceCalibration calibration(4);
  const std::vector<ChanceOutcome> truth = {{0, 0.5}, {1, 0.5}};
  calibration.Add({0.25f, 0.25f, 0.5f, 0.0f}, truth);
  calibration.Add({0.5f, 0.5f, 0.0f, 0.0f}, truth);
  const ChanceReport report = calibration.Report();
  EXPECT_EQ(report.num_outcomes, 4);
  EXPECT_EQ(report.num_positions, 2);
  EXPECT_NEAR(report.entropy, std::log(2.0), 1e-9);
  EXPECT_NEAR(report.cross_entropy, (std::log(4.0) + std::log(2.0)) / 2, 1e-9);
  EXPECT_NEAR(report.divergence(), std::log(2.0) / 2, 1e-9);
  EXPECT_NEAR(report.uniform_loss, std::log(4.0), 1e-9);
  EXPECT_NEAR(report.impossible, 0.25, 1e-9);
  // Masses, predicted and true: near 0, 0 and 0; 0.2 .. 0.4, 0.5 and 1; 0.4 .. 0.6, 1.5 and 1.
  EXPECT_NEAR(report.calibration_error, (0.5 + 0.5) / (2 * 2), 1e-9);
  int64_t num_pairs = 0;
  for (const CalibrationBin& bin : report.bins) {
    num_pairs += bin.count;
    if (bin.lower == 0.2) {
      EXPECT_EQ(bin.count, 2);
      EXPECT_NEAR(bin.mean_predicted, 0.25, 1e-9);
      EXPECT_NEAR(bin.mean_true, 0.5, 1e-9);
    }
    if (bin.lower == 0.4) {
      EXPECT_EQ(bin.count, 3);
      EXPECT_NEAR(bin.mean_predicted, 0.5, 1e-9);
      EXPECT_NEAR(bin.mean_true, 1.0 / 3.0, 1e-9);
    }
  }
  EXPECT_EQ(num_pairs, 8);
}

TEST(ChanceCalibrationTest, CertaintiesAreInTheLastBinAndNeverInfinite) {
  ChanceCalibration calibration(2);
  calibration.Add({1.0f, 0.0f}, {{0, 1.0}});
  calibration.Add({1.0f, 0.0f}, {{1, 1.0}});
  const ChanceReport report = calibration.Report();
  EXPECT_EQ(report.bins.back().upper, 1.0);
  EXPECT_EQ(report.bins.back().count, 2);
  EXPECT_NEAR(report.bins.back().mean_true, 0.5, 1e-9);
  EXPECT_NEAR(report.cross_entropy, -std::log(1e-12) / 2, 1e-6);
  EXPECT_NEAR(report.calibration_error, 0.5, 1e-9);
}

// Three throws. Action 0: outcomes 0 and 1 alike; action 1: outcome 2 for certain.
class DiceEnv : public Env {
 public:
  DiceEnv() {
    spec_.id = "dice";
    spec_.observation = {{1}, {0.0f}, {3.0f}};
    spec_.action.num_actions = 2;
    spec_.num_chance_outcomes = 3;
  }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t /*seed*/) override {
    throws_ = 0;
    return Show();
  }
  absl::StatusOr<TimeStep> Step(const Action& /*action*/) override {
    ++throws_;
    return Show();
  }
  absl::StatusOr<std::vector<ChanceOutcome>> ChanceOutcomes(const Action& action) const override {
    if (action.index == 1) return std::vector<ChanceOutcome>{{2, 1.0}};
    return std::vector<ChanceOutcome>{{0, 0.5}, {1, 0.5}};
  }

 private:
  TimeStep Show() const {
    TimeStep step;
    step.observation = {static_cast<float>(throws_)};
    step.terminated = throws_ == 3;
    step.legal_action_mask.assign(2, step.terminated ? 0 : 1);
    return step;
  }

  EnvSpec spec_;
  int throws_ = 0;
};

// Prefers action 1 at the second throw, else action 0; foretells {0.25, 0.75, 0} after action 0 and
// {0, 0, 1} after action 1, whatever came before.
class DiceModel final : public InferenceModel {
 public:
  int num_actions() const override { return 2; }
  int num_chance_outcomes() const override { return 3; }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    for (size_t b = 0; b < roots.size(); ++b) {
      value[b] = 0.0f;
      Decide(roots[b].observations.back() == 1.0f, &prior_logits[b * 3]);
    }
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    afterstate_.resize(16, std::vector<bool>(parents.size()));
    for (size_t b = 0; b < parents.size(); ++b) {
      rewards[b] = values[b] = 0.0f;
      discounts[b] = 1.0f;
      const bool to_chance = parents[b] == kRootNode || !afterstate_[parents[b].value][b];
      afterstate_[children[b].value][b] = to_chance;
      float* row = &prior_logits[b * 3];
      if (!to_chance) {
        Decide(false, row);
      } else if (actions[b] == 0) {
        row[0] = 5.0f;
        row[1] = 5.0f + std::log(3.0f);
        row[2] = kNever;
      } else {
        row[0] = row[1] = kNever;
        row[2] = -7.0f;
      }
    }
    return absl::OkStatus();
  }

 private:
  static void Decide(bool second, float* row) {
    row[0] = second ? -9.0f : 9.0f;
    row[1] = -row[0];
    row[2] = -std::numeric_limits<float>::infinity();
  }

  std::vector<std::vector<bool>> afterstate_;  // [node][root]
};

TEST(ChanceCalibrationTest, EpisodesAreComparedStepByStep) {
  ThreadPool pool(1);
  DiceModel model;
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < 2; ++i) envs.push_back(std::make_unique<DiceEnv>());
  SearchConfig config;
  config.num_simulations = 8;
  Evaluator evaluator(
      0, 1.0, VectorEnv::Create(std::move(envs), &pool).value(),
      std::make_unique<Agent>(Search::Create(config, 2, 2, 3).value(), AgentOptions{3, true}),
      &model);
  const auto make_env = [] { return absl::StatusOr<std::unique_ptr<Env>>(new DiceEnv()); };
  // Five episodes in batches of two: 15 positions, a third of them certain and rightly so.
  const auto report = MeasureChance(evaluator, make_env, {1, 2, 3, 4, 5});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->num_positions, 15);
  EXPECT_NEAR(report->entropy, std::log(2.0) * 2 / 3, 1e-6);
  EXPECT_NEAR(report->cross_entropy, -0.5 * (std::log(0.25) + std::log(0.75)) * 2 / 3, 1e-6);
  EXPECT_NEAR(report->impossible, 0.0, 1e-9);
  EXPECT_NEAR(report->calibration_error, 0.25 * 2 / 3, 1e-6);
  const auto stopped = MeasureChance(evaluator, make_env, {1}, [] { return true; });
  EXPECT_EQ(stopped.status().code(), absl::StatusCode::kCancelled);
}

TEST(ChanceCalibrationTest, WithoutChanceThereIsNothingToMeasure) {
  ThreadPool pool(1);
  ShownModel model;
  SearchConfig config;
  config.num_simulations = 2;
  Evaluator evaluator(
      0, 1.0, MakeWalks(1, &pool),
      std::make_unique<Agent>(Search::Create(config, WalkEnv::kNumActions, 1).value(),
                              AgentOptions{3, true}),
      &model);
  const auto walk = [] { return absl::StatusOr<std::unique_ptr<Env>>(new WalkEnv(WalkOptions())); };
  const auto no_chance = MeasureChance(evaluator, walk, {1});
  EXPECT_EQ(no_chance.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(no_chance.status().message()), HasSubstr("'walk' tells of no chance"));
  WalkEnv env({});
  const auto no_nodes = evaluator.PredictChance({env.Reset(1)}, {0});
  EXPECT_EQ(no_nodes.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(no_nodes.status().message()), HasSubstr("stochastic_muzero"));
}

}  // namespace
}  // namespace lzero::chance_calibration_test
