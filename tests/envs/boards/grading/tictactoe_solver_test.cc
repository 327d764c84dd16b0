#include "envs/boards/grading/tictactoe_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "envs/entries.h"

namespace lzero::tictactoe_solver_test {
namespace {

TicTacToeBoard After(const std::vector<int>& actions) {
  TicTacToeBoard board;
  for (const int action : actions) board = board.After(action);
  return board;
}

// A second solver, on characters and without any table.
bool HasLine(const std::string& cells, char stone) {
  for (const char* line : {"012", "345", "678", "036", "147", "258", "048", "246"}) {
    if (cells[line[0] - '0'] == stone && cells[line[1] - '0'] == stone &&
        cells[line[2] - '0'] == stone) {
      return true;
    }
  }
  return false;
}

int SlowValue(std::string& cells, char mover, std::map<std::string, int>& seen) {
  const char other = mover == 'X' ? 'O' : 'X';
  const auto known = seen.find(cells);
  if (known != seen.end()) return known->second;
  int best = -2;
  if (HasLine(cells, other)) {
    best = -1;
  } else if (cells.find('.') == std::string::npos) {
    best = 0;
  } else {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] != '.') continue;
      cells[i] = mover;
      best = std::max(best, -SlowValue(cells, other, seen));
      cells[i] = '.';
    }
  }
  return seen[cells] = best;
}

std::string Cells(const TicTacToeBoard& board) {
  std::string text = board.ToText();
  text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
  return text;
}

TEST(TicTacToeSolverTest, EveryValueAgreesWithASecondSolver) {
  const TicTacToeSolver solver;
  EXPECT_EQ(solver.num_reachable(), 5478);
  EXPECT_EQ(solver.unfinished().size(), 4520u);
  std::map<std::string, int> seen;
  std::string empty(9, '.');
  EXPECT_EQ(SlowValue(empty, 'X', seen), 0);
  EXPECT_EQ(seen.size(), 5478u);
  for (const TicTacToeBoard& board : solver.unfinished()) {
    ASSERT_EQ(solver.Value(board), seen.at(Cells(board))) << board.ToText();
    const std::vector<int32_t> optimal = solver.OptimalActions(board);
    ASSERT_FALSE(optimal.empty());
    for (int action = 0; action < 9; ++action) {
      if (!board.legal(action)) continue;
      const int value = -seen.at(Cells(board.After(action)));
      EXPECT_EQ(solver.ActionValue(board, action), value);
      const bool listed = std::find(optimal.begin(), optimal.end(), action) != optimal.end();
      EXPECT_EQ(listed, value == seen.at(Cells(board)));
    }
  }
}

TEST(TicTacToeSolverTest, KnownPositions) {
  const TicTacToeSolver solver;
  EXPECT_EQ(solver.unfinished()[0], TicTacToeBoard());
  EXPECT_EQ(solver.OptimalActions({}).size(), 9u);  // every first move draws
  // After a corner only the middle draws; after the middle the corners do.
  EXPECT_EQ(solver.OptimalActions(After({0})), std::vector<int32_t>{4});
  EXPECT_EQ(solver.OptimalActions(After({4})), (std::vector<int32_t>{0, 2, 6, 8}));
  EXPECT_EQ(solver.Value(After({0, 1})), 1);  // an edge beside the corner loses
  EXPECT_EQ(solver.Value(After({0, 3, 1, 4})), 1);
  EXPECT_EQ(solver.OptimalActions(After({0, 3, 1, 4})), std::vector<int32_t>{2});
  EXPECT_EQ(solver.Value(After({0, 3, 1, 4, 2})), -1);
  EXPECT_TRUE(solver.OptimalActions(After({0, 3, 1, 4, 2})).empty());
}

// Plays the optimal action with the lowest number.
std::vector<int32_t> PerfectActions(absl::Span<const TimeStep> positions) {
  const TicTacToeSolver solver;
  std::vector<int32_t> actions;
  for (size_t i = 0; i < positions.size(); ++i) {
    actions.push_back(solver.OptimalActions(solver.unfinished()[i])[0]);
  }
  return actions;
}

std::vector<int32_t> FirstLegalActions(absl::Span<const TimeStep> positions) {
  std::vector<int32_t> actions;
  for (const TimeStep& position : positions) {
    const auto& mask = position.legal_action_mask;
    actions.push_back(static_cast<int32_t>(std::find(mask.begin(), mask.end(), 1) - mask.begin()));
  }
  return actions;
}

TEST(TicTacToeSolverTest, PerfectPlayGetsAPerfectGrade) {
  const auto report = TicTacToeGrader().Grade(PerfectActions);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->num_positions, 4520);
  EXPECT_EQ(report->num_optimal, 4520);
  EXPECT_EQ(report->optimal_fraction(), 1.0);
  EXPECT_EQ(report->num_nontrivial, report->num_nontrivial_optimal);
  EXPECT_EQ(report->lost_lines_as_first, 0);
  EXPECT_EQ(report->lost_lines_as_second, 0);
  EXPECT_GT(report->num_lines_as_first, 0);
  EXPECT_GT(report->num_lines_as_second, 0);
  EXPECT_TRUE(report->blunders.empty());
}

// Lines of "always the first empty square" counted by playing strings, without boards or tables.
void CountLinesByHand(std::string& cells, bool agent_to_move, char agent, int& lines, int& lost) {
  const char other = agent == 'X' ? 'O' : 'X';
  if (HasLine(cells, agent) || HasLine(cells, other) || cells.find('.') == std::string::npos) {
    ++lines;
    if (HasLine(cells, other)) ++lost;
    return;
  }
  for (size_t i = cells.find('.'); i != std::string::npos; i = cells.find('.', i + 1)) {
    cells[i] = agent_to_move ? agent : other;
    CountLinesByHand(cells, !agent_to_move, agent, lines, lost);
    cells[i] = '.';
    if (agent_to_move) break;
  }
}

TEST(TicTacToeSolverTest, LostLinesOfAPoorPlayerAreCounted) {
  const auto report = TicTacToeGrader().Grade(FirstLegalActions);
  ASSERT_TRUE(report.ok());
  std::string cells(9, '.');
  int lines = 0;
  int lost = 0;
  CountLinesByHand(cells, true, 'X', lines, lost);
  EXPECT_GT(lost, 0);
  EXPECT_EQ(report->num_lines_as_first, lines);
  EXPECT_EQ(report->lost_lines_as_first, lost);
  lines = lost = 0;
  CountLinesByHand(cells, false, 'O', lines, lost);
  EXPECT_GT(lost, 0);
  EXPECT_EQ(report->num_lines_as_second, lines);
  EXPECT_EQ(report->lost_lines_as_second, lost);
  EXPECT_LT(report->num_optimal, 4520);
  EXPECT_EQ(static_cast<int64_t>(report->blunders.size()), 4520 - report->num_optimal);
}

// One move away from perfect: after X in a corner, O answers beside it instead of in the middle.
TEST(TicTacToeSolverTest, ASingleBlunderIsNamed) {
  const TicTacToeSolver solver;
  const auto policy = [&](absl::Span<const TimeStep> positions) {
    std::vector<int32_t> actions = PerfectActions(positions);
    for (size_t i = 0; i < actions.size(); ++i) {
      if (solver.unfinished()[i] == After({0})) actions[i] = 1;
    }
    return actions;
  };
  const auto report = TicTacToeGrader().Grade(policy);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->num_optimal, 4519);
  EXPECT_EQ(report->num_nontrivial - report->num_nontrivial_optimal, 1);
  ASSERT_EQ(report->blunders.size(), 1u);
  EXPECT_EQ(report->blunders[0].position, "X..\n...\n...\n");
  EXPECT_EQ(report->blunders[0].action, 1);
  EXPECT_EQ(report->blunders[0].optimal_actions, std::vector<int32_t>{4});
  EXPECT_EQ(report->blunders[0].value_lost, 1.0);
  EXPECT_EQ(report->lost_lines_as_first, 0);
  EXPECT_GT(report->lost_lines_as_second, 0);
}

TEST(TicTacToeSolverTest, PositionsComeAsTimeSteps) {
  const auto env = TicTacToeEntry().factory({}).value();
  const auto policy = [&](absl::Span<const TimeStep> positions) {
    EXPECT_EQ(positions.size(), 4520u);
    for (const TimeStep& position : positions) {
      EXPECT_TRUE(env->Load(position.state).ok());
      const auto& mask = position.legal_action_mask;
      const auto legal = std::find(mask.begin(), mask.end(), 1) - mask.begin();
      const auto next = env->Step(Action::Discrete(static_cast<int32_t>(legal)));
      // The mover's stones are the other's planes now, with one more.
      EXPECT_EQ(next.ok() ? next->observation[9 + legal] : 0.0f, 1.0f);
      for (size_t square = 0; square < 9 && next.ok(); ++square) {
        EXPECT_GE(next->observation[9 + square], position.observation[square]);
      }
      EXPECT_EQ(position.observation.size(), 27u);
      EXPECT_EQ(position.observation[26], position.to_play == 0 ? 1.0f : 0.0f);
      EXPECT_FALSE(position.ended());
    }
    return FirstLegalActions(positions);
  };
  EXPECT_TRUE(TicTacToeGrader().Grade(policy).ok());
}

TEST(TicTacToeSolverTest, UnusablePoliciesAreRefused) {
  const auto constant = [](absl::Span<const TimeStep> positions) {
    return std::vector<int32_t>(positions.size(), 0);
  };
  EXPECT_EQ(TicTacToeGrader().Grade(constant).status().message(),
            "the policy plays the illegal action 0 in position 1:\nX..\n...\n...\n");
  const auto nothing = [](absl::Span<const TimeStep>) { return std::vector<int32_t>(); };
  EXPECT_EQ(TicTacToeGrader().Grade(nothing).status().message(),
            "the policy gave 0 actions for 4520 positions");
  const auto fails = [](absl::Span<const TimeStep>) -> absl::StatusOr<std::vector<int32_t>> {
    return absl::UnavailableError("no engine");
  };
  EXPECT_EQ(TicTacToeGrader().Grade(fails).status().message(), "no engine");
}

TEST(TicTacToeSolverDeathTest, AnUnreachableBoardIsOurBug) {
  const TicTacToeSolver solver;
  TicTacToeBoard board;
  board.stones = {3, 0};
  EXPECT_DEATH(solver.Value(board), "unreachable board");
}

}  // namespace
}  // namespace lzero::tictactoe_solver_test
