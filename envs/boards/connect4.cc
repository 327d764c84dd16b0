#include "envs/boards/connect4.h"

#include <bit>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/grading/connect4_solver.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

using connect4::kColumns;
using connect4::kRows;
using connect4::kSquares;
using connect4::kStride;

constexpr int kNumLines = 69;  // 24 level, 21 upright, 12 and 12 along the diagonals

constexpr std::array<uint64_t, kNumLines> AllLines() {
  std::array<uint64_t, kNumLines> lines = {};
  int count = 0;
  for (const auto& [across, up] : {std::pair{1, 0}, {0, 1}, {1, 1}, {1, -1}}) {
    for (int column = 0; column + 3 * across < kColumns; ++column) {
      for (int row = 0; row < kRows; ++row) {
        const int last_row = row + 3 * up;
        if (last_row < 0 || last_row >= kRows) continue;
        for (int i = 0; i < 4; ++i) {
          lines[count] |= connect4::Square(column + i * across, row + i * up);
        }
        ++count;
      }
    }
  }
  return lines;
}

constexpr std::array<uint64_t, kNumLines> kLines = AllLines();
// What a line with so many stones of one player and none of the other is worth, and how many such
// points make a half-won game.
constexpr std::array<int, 5> kLineValues = {0, 1, 4, 16, 0};
constexpr double kHalfWon = 40.0;

constexpr int kCell = 44;  // pixels
constexpr int kMargin = 6;
constexpr Color kFrame = {41, 82, 148};
constexpr Color kHole = {236, 240, 246};
constexpr std::array<Color, 2> kStoneColors = {Color{214, 66, 58}, Color{240, 198, 62}};

// What is wrong with stones that were read from outside; "" when a game can have led to them.
std::string StonesProblem(const std::array<uint64_t, 2>& stones) {
  const uint64_t occupied = stones[0] | stones[1];
  if ((stones[0] & stones[1]) != 0 || (occupied & ~connect4::kBoard) != 0) {
    return "stones on one square or off the board";
  }
  for (int column = 0; column < kColumns; ++column) {
    const uint64_t pile = (occupied & connect4::Column(column)) >> (column * kStride);
    if ((pile & (pile + 1)) != 0) return "a stone hangs in the air";
  }
  const int lead = std::popcount(stones[0]) - std::popcount(stones[1]);
  if (lead < 0 || lead > 1) return "the players did not take turns";
  const int last_mover = lead == 1 ? 0 : 1;
  if (connect4::HasFour(stones[1 - last_mover])) return "play went on after four in a row";
  if (!connect4::HasFour(stones[last_mover])) return "";
  // One of the top stones was the last and completed every four.
  const uint64_t above = occupied + connect4::kBottomRow;  // one bit over each pile
  for (int column = 0; column < kColumns; ++column) {
    const uint64_t top = (above >> 1) & connect4::Column(column);
    if ((top & stones[last_mover]) != 0 && !connect4::HasFour(stones[last_mover] & ~top)) return "";
  }
  return "no last move completes these fours";
}

}  // namespace

void Connect4Board::Play(int action) {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  const int mover = to_play();
  stones_[mover] |= connect4::DropSquares(occupied()) & connect4::Column(action);
  ++num_stones_;
  if (connect4::HasFour(stones_[mover])) winner_ = mover;
}

double Connect4Board::Estimate() const {
  const uint64_t own = stones_[to_play()];
  const uint64_t other = stones_[1 - to_play()];
  int points = 0;
  for (const uint64_t line : kLines) {
    const uint64_t mine = line & own;
    const uint64_t theirs = line & other;
    if (theirs == 0) points += kLineValues[std::popcount(mine)];
    if (mine == 0) points -= kLineValues[std::popcount(theirs)];
  }
  return points / (std::abs(points) + kHalfWon);
}

Image Connect4Board::ToImage() const {
  Image image(kColumns * kCell + 2 * kMargin, kRows * kCell + 2 * kMargin, kFrame);
  Canvas canvas(&image);
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const Color color = has_stone(0, row, column)   ? kStoneColors[0]
                          : has_stone(1, row, column) ? kStoneColors[1]
                                                      : kHole;
      const Point center = {kMargin + kCell * (column + 0.5), kMargin + kCell * (row + 0.5)};
      canvas.FillCircle(center, kCell * 0.41, color);
    }
  }
  return image;
}

absl::Status Connect4Board::Load(StateReader& reader) {
  Connect4Board board;
  board.stones_ = {reader.Read<uint64_t>(), reader.Read<uint64_t>()};
  LZ_RETURN_IF_ERROR(reader.Finish());
  const std::string problem = StonesProblem(board.stones_);
  if (!problem.empty()) return reader.Impossible(problem);
  board.num_stones_ = std::popcount(board.occupied());
  const int last_mover = 1 - board.to_play();
  if (connect4::HasFour(board.stones_[last_mover])) board.winner_ = last_mover;
  *this = board;
  return absl::OkStatus();
}

EnvRegistry::Entry Connect4Entry() {
  const auto make = [](const EnvSettings&, const EnvOptions& options) {
    EnvSpec spec;
    spec.id = options.id;
    spec.observation.shape = {3, kRows, kColumns};
    spec.symmetries = ColumnBoardSymmetries(kRows, kColumns, 3);
    return MakeBoardEnv(std::move(spec), options, std::make_unique<Connect4Board>(), kSquares);
  };
  EnvRegistry::Entry entry =
      NativeEntry("connect4", "Connect Four, two players, optional random openings", {}, make);
  entry.grader = [] { return MakeConnect4Grader(); };
  return entry;
}

}  // namespace lzero
