// Imagination measured on models whose faults are known: each answers with the rules of
// Tic-Tac-Toe, and lies in one way.
#include "lzero/worker/imagination.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "envs/entries.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "tests/worker/worker_testing.h"

namespace lzero::imagination_test {
namespace {

constexpr int kNumActions = 9, kNumEnvs = 5, kDepth = 4;

absl::StatusOr<std::unique_ptr<Env>> MakeGame() { return TicTacToeEntry().factory(EnvOptions{}); }

enum class Fault { kNone, kBlind, kAlarmed, kBlindToReplies, kWishesIllegalMoves, kPlaysOn };

// Steps saved games; knows how deep each node is.
class RulesModel : public InferenceModel {
 public:
  explicit RulesModel(Fault fault) : fault_(fault), env_(*MakeGame()) {}
  int num_actions() const override { return kNumActions; }
  bool NeedsState() const override { return true; }

  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> values) override {
    nodes_.assign(roots.size(), std::vector<Node>(1 + ImaginedNodes(kNumActions, kDepth)));
    for (size_t i = 0; i < roots.size(); ++i) nodes_[i][0] = {std::string(roots[i].state), 0};
    std::fill(prior_logits.begin(), prior_logits.end(), 0.0f);
    std::fill(values.begin(), values.end(), 0.0f);
    return absl::OkStatus();
  }

  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    for (size_t i = 0; i < parents.size(); ++i) {
      const Node& parent = nodes_[i][static_cast<size_t>(parents[i].value)];
      Node& child = nodes_[i][static_cast<size_t>(children[i].value)];
      EXPECT_TRUE(child.state.empty()) << "a node is stored once";
      EXPECT_TRUE(env_->Load(parent.state).ok());
      const TimeStep step = env_->Step(Action::Discrete(actions[i])).value();
      child = {env_->Save().value(), parent.depth + 1};
      rewards[i] = RewardOf(step.reward, child.depth);
      discounts[i] = -1.0f;
      values[i] = fault_ == Fault::kPlaysOn ? (child.depth % 2 == 0 ? 0.5f : -0.5f) : 0.0f;
      for (size_t a = 0; a < kNumActions; ++a) {
        const bool is_wished =
            (step.legal_action_mask[a] != 0) == (fault_ != Fault::kWishesIllegalMoves);
        prior_logits[i * kNumActions + a] = is_wished ? 50.0f : 0.0f;
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Node {
    std::string state;
    int depth = 0;
  };

  float RewardOf(float reward, int depth) const {
    switch (fault_) {
      case Fault::kBlind:
        return 0.4f * reward;
      case Fault::kAlarmed:
        return 0.6f;
      case Fault::kBlindToReplies:
        return depth == 2 ? 0.0f : reward;
      default:
        return reward;
    }
  }

  Fault fault_;
  std::unique_ptr<Env> env_;
  std::vector<std::vector<Node>> nodes_;  // by root
};

ImaginationReport Measure(Fault fault) {
  ThreadPool pool(1);
  RulesModel model(fault);
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < kNumEnvs; ++i) envs.push_back(*MakeGame());
  SearchConfig config;
  config.num_simulations = 1;
  Evaluator evaluator(/*max_past_steps=*/2, 1.0, VectorEnv::Create(std::move(envs), &pool).value(),
                      std::make_unique<Agent>(Search::Create(config, kNumActions, kNumEnvs).value(),
                                              AgentOptions{3, true}),
                      &model);
  return MeasureImagination(evaluator, MakeGame, {1, 2, 3, 4, 5, 6}, kDepth).value();
}

TEST(ImaginationTest, TheRulesThemselvesSeeEverything) {
  const ImaginationReport report = Measure(Fault::kNone);
  EXPECT_GE(report.num_positions, 6 * 5);
  EXPECT_LE(report.num_positions, 6 * 9);
  ASSERT_EQ(report.depths.size(), 4u);
  for (const ImaginedMoves& moves : report.depths) {
    EXPECT_GT(moves.num_wins, 5);
    EXPECT_EQ(moves.num_found, moves.num_wins);
    EXPECT_EQ(moves.num_false_alarms, 0);
    EXPECT_LT(moves.illegal_policy, 1e-9);
    EXPECT_EQ(moves.value_behind, 0.0);
  }
  EXPECT_EQ(report.depths[0].num_nodes, 0);
  EXPECT_GT(report.depths[1].num_nodes, report.depths[2].num_nodes);
  // Every game has a position with 9 legal moves, one with 8, and so on.
  EXPECT_GE(report.depths[0].num_moves, 6 * (9 + 8 + 7 + 6 + 5));
}

TEST(ImaginationTest, FaultsAreCounted) {
  for (const ImaginedMoves& moves : Measure(Fault::kBlind).depths) {
    EXPECT_EQ(moves.recall(), 0.0);
    EXPECT_EQ(moves.num_false_alarms, 0);
  }
  for (const ImaginedMoves& moves : Measure(Fault::kAlarmed).depths) {
    EXPECT_EQ(moves.recall(), 1.0);
    EXPECT_EQ(moves.false_alarm_rate(), 1.0);
  }
  const ImaginationReport replies = Measure(Fault::kBlindToReplies);
  EXPECT_EQ(replies.depths[0].recall(), 1.0);
  EXPECT_EQ(replies.depths[1].recall(), 0.0);
  EXPECT_EQ(replies.depths[2].recall(), 1.0);
  for (const ImaginedMoves& moves : Measure(Fault::kPlaysOn).depths) {
    EXPECT_EQ(moves.value_behind, 0.5);
  }
  const ImaginationReport wishes = Measure(Fault::kWishesIllegalMoves);
  for (size_t depth : {1, 2, 3}) EXPECT_GT(wishes.depths[depth].illegal_policy, 0.999);
}

TEST(ImaginationTest, WhatIsNoGameForTwoIsRefused) {
  ThreadPool pool(1);
  ShownModel model({WalkEnv::kNumActions, 1.0f, -1.0f});
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<WalkEnv>(WalkOptions()));
  SearchConfig config;
  config.num_simulations = 1;
  Evaluator evaluator(
      1, 1.0, VectorEnv::Create(std::move(envs), &pool).value(),
      std::make_unique<Agent>(Search::Create(config, WalkEnv::kNumActions, 1).value(),
                              AgentOptions{3, true}),
      &model);
  EXPECT_EQ(MeasureImagination(evaluator, MakeGame, {1}, 2).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace lzero::imagination_test
