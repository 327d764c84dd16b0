// A search of AlphaZero with a network that knows nothing equals one over a tictactoe written by
// hand here, visit by visit; it finds wins in one move and blocks.
#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_inference.h"
#include "lzero/mcts/search.h"
#include "tests/family/alphazero/env_scene.h"

namespace lzero::alphazero_search_test {
namespace {

// TicTacToe once more, on nine numbers: 1 and -1 for the players, whose sum says who is to move.
using Squares = std::array<int, 9>;

int MoverOf(const Squares& squares) {
  int sum = 0;
  for (const int stone : squares) sum += stone;
  return sum == 0 ? 1 : -1;
}

bool HasLine(const Squares& squares, int player) {
  static constexpr int kLines[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                       {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
  for (const auto& line : kLines) {
    if (squares[line[0]] == player && squares[line[1]] == player && squares[line[2]] == player) {
      return true;
    }
  }
  return false;
}

bool IsFull(const Squares& squares) {
  return std::find(squares.begin(), squares.end(), 0) == squares.end();
}

std::vector<int> WinsInOne(Squares squares, int player) {
  std::vector<int> wins;
  for (int square = 0; square < 9; ++square) {
    if (squares[square] != 0) continue;
    squares[square] = player;
    if (HasLine(squares, player)) wins.push_back(square);
    squares[square] = 0;
  }
  return wins;
}

// What a model that knows the rules and nothing else tells a search.
class HandModel : public InferenceModel {
 public:
  explicit HandModel(std::vector<Squares> roots) : nodes_({std::move(roots)}) {}
  int num_actions() const override { return 9; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    for (size_t b = 0; b < roots.size(); ++b) {
      value[b] = 0.0f;
      FillLogits(nodes_[0][b], false, &prior_logits[9 * b]);
    }
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    nodes_.resize(static_cast<size_t>(children[0].value) + 1);
    nodes_.back().resize(parents.size());
    for (size_t b = 0; b < parents.size(); ++b) {
      Squares squares = nodes_[static_cast<size_t>(parents[b].value)][b];
      const int mover = MoverOf(squares);
      const bool was_over = HasLine(squares, 1) || HasLine(squares, -1) || IsFull(squares);
      if (!was_over) squares[static_cast<size_t>(actions[b])] = mover;
      const bool wins = !was_over && HasLine(squares, mover);
      const bool is_over = was_over || wins || IsFull(squares);
      rewards[b] = wins ? 1.0f : 0.0f;
      discounts[b] = is_over ? 0.0f : -0.9f;
      values[b] = 0.0f;
      FillLogits(squares, is_over, &prior_logits[9 * b]);
      nodes_.back()[b] = squares;
    }
    return absl::OkStatus();
  }

 private:
  static void FillLogits(const Squares& squares, bool is_over, float* logits) {
    for (int square = 0; square < 9; ++square) {
      logits[square] =
          is_over || squares[square] == 0 ? 0.0f : -std::numeric_limits<float>::infinity();
    }
  }
  std::vector<std::vector<Squares>> nodes_;  // [node][root]
};

// Random unfinished positions with something to win or to block, by playing.
struct Tactics {
  Positions positions;
  std::vector<Squares> squares;
};

Tactics FindTactics(size_t count) {
  Tactics tactics;
  const auto env = NativeFactory("tictactoe")().value();
  std::mt19937 random(5);
  while (tactics.squares.size() < count) {
    TimeStep step = env->Reset(0);
    Squares squares = {};
    const int length = 3 + static_cast<int>(random() % 5);
    for (int ply = 0; ply < length && !step.ended(); ++ply) {
      int square = static_cast<int>(random() % 9);
      while (squares[square] != 0) square = (square + 1) % 9;
      squares[square] = MoverOf(squares);
      step = env->Step(Action::Discrete(square)).value();
    }
    if (step.ended()) continue;
    const int mover = MoverOf(squares);
    if (WinsInOne(squares, mover).empty() && WinsInOne(squares, -mover).size() != 1) continue;
    tactics.positions.Add(*env, step);
    tactics.squares.push_back(squares);
  }
  return tactics;
}

TEST(AlphaZeroSearch, AFreshNetworkSearchesLikeARuleBookAndFindsWinsAndBlocks) {
  const Tactics tactics = FindTactics(64);
  const auto spec = NativeFactory("tictactoe")().value()->spec();
  const EngineOptions options = SmallOptions(spec, 64, 200);
  const auto engine = MakeAlphaZeroEngine(options, NativeFactory("tictactoe")).value();
  HandModel by_hand(tactics.squares);
  const std::vector<Root> roots = tactics.positions.Roots();
  SearchResult result, expected;
  ASSERT_TRUE(Search::Create(options.search, 9, 64).value()->Run(*engine, roots, {}, &result).ok());
  ASSERT_TRUE(
      Search::Create(options.search, 9, 64).value()->Run(by_hand, roots, {}, &expected).ok());
  EXPECT_EQ(result.visit_counts, expected.visit_counts);
  EXPECT_EQ(result.best_actions, expected.best_actions);
  int num_wins = 0, num_blocks = 0;
  for (size_t i = 0; i < 64; ++i) {
    const int mover = MoverOf(tactics.squares[i]);
    const std::vector<int> wins = WinsInOne(tactics.squares[i], mover);
    const std::vector<int> threats = WinsInOne(tactics.squares[i], -mover);
    EXPECT_NEAR(result.root_values[i], expected.root_values[i], 1e-6f);
    EXPECT_THAT(wins.empty() ? threats : wins, testing::Contains(result.best_actions[i])) << i;
    ++(wins.empty() ? num_blocks : num_wins);
  }
  EXPECT_GT(num_wins, 10);
  EXPECT_GT(num_blocks, 10);
}

}  // namespace
}  // namespace lzero::alphazero_search_test
