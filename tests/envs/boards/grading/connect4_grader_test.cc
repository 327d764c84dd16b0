#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "envs/boards/grading/connect4_solver.h"
#include "envs/entries.h"

namespace lzero::connect4_grader_test {
namespace {

std::string MirrorImage(const std::string& text) {
  std::string image = text;
  for (size_t row = 0; row < 6; ++row) {
    std::reverse(image.begin() + 8 * row, image.begin() + 8 * row + 7);
  }
  return image;
}

TEST(Connect4GraderTest, TheSampleIsWhatItPromises) {
  const std::vector<Connect4Board> sample = Connect4Sample(1000, 12);
  ASSERT_EQ(sample.size(), 1000u);
  std::set<std::string> seen;
  for (size_t i = 0; i < sample.size(); ++i) {
    ASSERT_EQ(sample[i].num_stones(), 12 + static_cast<int>(i % 23));
    ASSERT_FALSE(sample[i].finished());
    const std::string text = sample[i].ToText();
    ASSERT_TRUE(seen.insert(text).second) << text;
    if (MirrorImage(text) != text) {
      ASSERT_TRUE(seen.insert(MirrorImage(text)).second) << text;
    }
  }
}

// Grades of different versions of the program can be compared: these two positions may not change.
TEST(Connect4GraderTest, TheSampleStaysTheSame) {
  const std::vector<Connect4Board> sample = Connect4Sample(1000, 12);
  EXPECT_EQ(sample[0].ToText(), ".......\n.......\n......X\n..O...X\n..XO.OO\n..OXOXX\n");
  EXPECT_EQ(sample[999].ToText(), "O......\nOO.....\nXOX..X.\nXXO..O.\nOOO.XX.\nXXX.XOO\n");
  // A shorter one is its beginning.
  EXPECT_EQ(Connect4Sample(3, 12)[2].ToText(), sample[2].ToText());
}

std::vector<int32_t> FirstLegalActions(absl::Span<const TimeStep> positions) {
  std::vector<int32_t> actions;
  for (const TimeStep& position : positions) {
    const auto& mask = position.legal_action_mask;
    actions.push_back(static_cast<int32_t>(std::find(mask.begin(), mask.end(), 1) - mask.begin()));
  }
  return actions;
}

TEST(Connect4GraderTest, PerfectPlayGetsAPerfectGrade) {
  const std::vector<Connect4Board> sample = Connect4Sample(60, 26);
  Connect4Solver solver(16);
  const auto grader = MakeConnect4Grader(60, 26);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto env = Connect4Entry().factory({}).value();
    const auto report = grader->Grade([&](absl::Span<const TimeStep> positions) {
      std::vector<int32_t> actions;
      for (size_t i = 0; i < positions.size(); ++i) {
        EXPECT_TRUE(env->Load(positions[i].state).ok());
        EXPECT_EQ(*env->RenderText(), sample[i].ToText());
        EXPECT_EQ(positions[i].observation.size(), 126u);
        EXPECT_EQ(positions[i].to_play, sample[i].to_play());
        EXPECT_FALSE(positions[i].ended());
        actions.push_back(solver.BestActions(sample[i]).back());
      }
      return actions;
    });
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->num_positions, 60);
    EXPECT_EQ(report->num_optimal, 60);
    EXPECT_EQ(report->num_nontrivial_optimal, report->num_nontrivial);
    EXPECT_GT(report->num_nontrivial, 15);
    EXPECT_TRUE(report->blunders.empty());
    EXPECT_FALSE(report->has_lines());
  }
}

// Win, draw or loss by looking at every line, without a table.
int PlainOutcome(const Connect4Board& board) {
  if (board.finished()) return board.winner() < 0 ? 0 : -1;
  int best = -1;
  for (int action = 0; action < 7 && best < 1; ++action) {
    if (!board.legal(action)) continue;
    Connect4Board next = board;
    next.Play(action);
    best = std::max(best, -PlainOutcome(next));
  }
  return best;
}

TEST(Connect4GraderTest, APoorPlayerIsJudgedAsByPlainMinimax) {
  constexpr int kFewestStones = 33;
  const std::vector<Connect4Board> sample = Connect4Sample(40, kFewestStones);
  const auto report = MakeConnect4Grader(40, kFewestStones)->Grade(FirstLegalActions);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->num_positions, 40);
  size_t num_blunders = 0;
  int64_t num_nontrivial = 0;
  for (const Connect4Board& board : sample) {
    const int value = PlainOutcome(board);
    int num_bad = 0;
    int first_value = 2;
    std::vector<int32_t> optimal;
    for (int action = 0; action < 7; ++action) {
      if (!board.legal(action)) continue;
      Connect4Board next = board;
      next.Play(action);
      const int action_value = -PlainOutcome(next);
      if (first_value == 2) first_value = action_value;
      if (action_value == value) {
        optimal.push_back(action);
      } else {
        ++num_bad;
      }
    }
    if (num_bad > 0) ++num_nontrivial;
    if (first_value == value) continue;
    ASSERT_LT(num_blunders, report->blunders.size());
    const Blunder& blunder = report->blunders[num_blunders++];
    EXPECT_EQ(blunder.position, board.ToText());
    EXPECT_EQ(blunder.optimal_actions, optimal);
    EXPECT_EQ(blunder.value_lost, value - first_value);
  }
  EXPECT_EQ(report->blunders.size(), num_blunders);
  EXPECT_EQ(report->num_optimal, 40 - static_cast<int64_t>(num_blunders));
  EXPECT_EQ(report->num_nontrivial, num_nontrivial);
  EXPECT_GT(num_blunders, 2u);
}

// 46 positions with 26 .. 34 stones in turn: five turns of nine, and one more with 26.
TEST(Connect4GraderTest, GradesAreDividedByTheNumberOfStones) {
  constexpr int kFewestStones = 26;
  const std::vector<Connect4Board> sample = Connect4Sample(46, kFewestStones);
  const auto report = MakeConnect4Grader(46, kFewestStones)->Grade(FirstLegalActions);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->groups.size(), 3u);
  EXPECT_EQ(report->groups[0].name, "26 .. 29 stones");
  EXPECT_EQ(report->groups[1].name, "30 .. 33 stones");
  EXPECT_EQ(report->groups[2].name, "34 .. 34 stones");
  EXPECT_EQ(report->groups[0].num_positions, 21);
  EXPECT_EQ(report->groups[1].num_positions, 20);
  EXPECT_EQ(report->groups[2].num_positions, 5);
  std::vector<int64_t> num_optimal(3), num_nontrivial(3), num_nontrivial_optimal(3);
  Connect4Solver solver(16);
  for (const Connect4Board& board : sample) {
    int first = 0, num_legal = 0;
    for (int action = 6; action >= 0; --action) {
      if (!board.legal(action)) continue;
      first = action;
      ++num_legal;
    }
    const std::vector<int32_t> best = solver.OptimalActions(board);
    const bool is_optimal = std::find(best.begin(), best.end(), first) != best.end();
    const bool is_nontrivial = static_cast<int>(best.size()) < num_legal;
    const int group = board.num_stones() == 34 ? 2 : board.num_stones() >= 30 ? 1 : 0;
    num_optimal[group] += is_optimal ? 1 : 0;
    num_nontrivial[group] += is_nontrivial ? 1 : 0;
    num_nontrivial_optimal[group] += is_optimal && is_nontrivial ? 1 : 0;
  }
  for (int group = 0; group < 3; ++group) {
    EXPECT_EQ(report->groups[group].num_optimal, num_optimal[group]) << group;
    EXPECT_EQ(report->groups[group].num_nontrivial, num_nontrivial[group]) << group;
    EXPECT_EQ(report->groups[group].num_nontrivial_optimal, num_nontrivial_optimal[group]) << group;
  }
}

TEST(Connect4GraderTest, UnusablePoliciesAreRefused) {
  const auto grader = MakeConnect4Grader(5, 34);
  const auto constant = [](absl::Span<const TimeStep> positions) {
    return std::vector<int32_t>(positions.size(), 7);
  };
  EXPECT_EQ(
      grader->Grade(constant).status().message(),
      "the policy plays the illegal action 7 in position 0:\n" + Connect4Sample(1, 34)[0].ToText());
  const auto nothing = [](absl::Span<const TimeStep>) { return std::vector<int32_t>(); };
  EXPECT_EQ(grader->Grade(nothing).status().message(), "the policy gave 0 actions for 5 positions");
}

TEST(Connect4GraderDeathTest, ASampleOfFullerBoardsIsOurBug) {
  EXPECT_DEATH(Connect4Sample(1, 35), "35 stones");
}

}  // namespace
}  // namespace lzero::connect4_grader_test
