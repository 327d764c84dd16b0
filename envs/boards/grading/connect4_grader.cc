#include "envs/boards/grading/connect4_grader.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/grading/connect4_solver.h"
#include "envs/boards/grading/grading.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

using connect4::kColumns;
using connect4::kStride;

constexpr int kMostStones = 34;

uint64_t MirrorImage(uint64_t stones) {
  uint64_t image = 0;
  for (int column = 0; column < kColumns; ++column) {
    const uint64_t pile = (stones & connect4::Column(column)) >> (column * kStride);
    image |= pile << ((kColumns - 1 - column) * kStride);
  }
  return image;
}

// The same for a position and its mirror image, different for all others.
std::pair<uint64_t, uint64_t> SharedKey(const Connect4Board& board) {
  const std::pair<uint64_t, uint64_t> key = {board.stones(0), board.stones(1)};
  return std::min(key, {MirrorImage(key.first), MirrorImage(key.second)});
}

// Plays random moves until `num_stones` lie there, from the start again where a game ends before.
Connect4Board RandomBoard(int num_stones, RandomStream& random) {
  Connect4Board board;
  while (board.num_stones() < num_stones || board.finished()) {
    if (board.finished()) board = Connect4Board();
    const int column = static_cast<int>(random.UniformInt(kColumns));
    if (board.legal(column)) board.Play(column);
  }
  return board;
}

// Positions of so many numbers of stones are told together.
constexpr int kGroupWidth = 4;

std::vector<GradeGroup> EmptyGroups(int fewest_stones) {
  std::vector<GradeGroup> groups;
  for (int first = fewest_stones; first <= kMostStones; first += kGroupWidth) {
    const int last = std::min(first + kGroupWidth - 1, kMostStones);
    groups.push_back({{}, absl::StrCat(first, " .. ", last, " stones")});
  }
  return groups;
}

}  // namespace

std::vector<Connect4Board> Connect4Sample(int num_positions, int fewest_stones) {
  LZ_CHECK(fewest_stones >= 0 && fewest_stones <= kMostStones, fewest_stones, " stones");
  RandomStream random(0, "connect4 grader");
  std::vector<Connect4Board> sample;
  std::set<std::pair<uint64_t, uint64_t>> seen;
  while (static_cast<int>(sample.size()) < num_positions) {
    const int turn = static_cast<int>(sample.size()) % (kMostStones + 1 - fewest_stones);
    const Connect4Board board = RandomBoard(fewest_stones + turn, random);
    if (seen.insert(SharedKey(board)).second) sample.push_back(board);
  }
  return sample;
}

const std::vector<Connect4Grader::SolvedPosition>& Connect4Grader::positions() const {
  if (!positions_.empty()) return positions_;
  Connect4Solver solver;
  for (const Connect4Board& board : Connect4Sample(num_positions_, fewest_stones_)) {
    positions_.push_back({board, solver.OptimalActions(board)});
  }
  return positions_;
}

absl::StatusOr<GradeReport> Connect4Grader::Grade(const BatchPolicy& policy) const {
  const std::vector<SolvedPosition>& solved = positions();
  std::vector<TimeStep> steps;
  for (const SolvedPosition& position : solved) {
    steps.push_back(TimeStepOf(position.board, Connect4Board::kObservationSize));
    steps.back().state = StateOf(position.board, "connect4");
  }
  LZ_ASSIGN_OR_RETURN(
      const std::vector<int32_t> actions,
      ChooseLegalActions(policy, steps, [&](size_t i) { return solved[i].board.ToText(); }));
  GradeReport report;
  report.groups = EmptyGroups(fewest_stones_);
  Connect4Solver solver;
  for (size_t i = 0; i < solved.size(); ++i) {
    const auto& [board, optimal] = solved[i];
    GradeGroup& group = report.groups[(board.num_stones() - fewest_stones_) / kGroupWidth];
    Blunder* blunder = CountMove(steps[i], optimal, actions[i], &report, &group);
    if (blunder == nullptr) continue;
    blunder->position = board.ToText();
    blunder->value_lost =
        solver.ActionOutcome(board, optimal[0]) - solver.ActionOutcome(board, actions[i]);
  }
  return report;
}

}  // namespace lzero
