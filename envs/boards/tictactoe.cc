#include "envs/boards/tictactoe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/grading/tictactoe_solver.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumSquares = TicTacToeBoard::kNumSquares;
constexpr std::array<uint16_t, 8> kLines = {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124};

bool HasLine(uint16_t stones) {
  return std::any_of(kLines.begin(), kLines.end(),
                     [stones](uint16_t line) { return (stones & line) == line; });
}

constexpr int kCell = 64;  // pixels
constexpr int kMargin = 8;
constexpr Color kPaper = {250, 248, 243};
constexpr Color kGrid = {70, 70, 78};
constexpr Color kCross = {38, 84, 150};
constexpr Color kNought = {190, 70, 50};

Point CellCenter(int square) {
  return {kMargin + kCell * (square % 3 + 0.5), kMargin + kCell * (square / 3 + 0.5)};
}

}  // namespace

int TicTacToeBoard::winner() const { return HasLine(stones[0]) ? 0 : HasLine(stones[1]) ? 1 : -1; }

void TicTacToeBoard::Play(int action) {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  stones[to_play()] |= static_cast<uint16_t>(1 << action);
}

Image TicTacToeBoard::ToImage() const {
  constexpr double kSide = 3 * kCell + 2 * kMargin;
  Image image(static_cast<int>(kSide), static_cast<int>(kSide), kPaper);
  Canvas canvas(&image);
  for (int i = 1; i < 3; ++i) {
    const double offset = kMargin + i * kCell;
    canvas.Line({offset, kMargin}, {offset, kSide - kMargin}, 3, kGrid);
    canvas.Line({kMargin, offset}, {kSide - kMargin, offset}, 3, kGrid);
  }
  constexpr double kReach = kCell * 0.3;
  for (int square = 0; square < kNumSquares; ++square) {
    const auto [x, y] = CellCenter(square);
    if (stones[0] >> square & 1) {
      canvas.Line({x - kReach, y - kReach}, {x + kReach, y + kReach}, 7, kCross);
      canvas.Line({x - kReach, y + kReach}, {x + kReach, y - kReach}, 7, kCross);
    } else if (stones[1] >> square & 1) {
      canvas.FillCircle({x, y}, kReach + 4, kNought);
      canvas.FillCircle({x, y}, kReach - 3, kPaper);
    }
  }
  return image;
}

absl::Status TicTacToeBoard::Load(StateReader& reader) {
  TicTacToeBoard board;
  board.stones = {reader.Read<uint16_t>(), reader.Read<uint16_t>()};
  LZ_RETURN_IF_ERROR(reader.Finish());
  const int lead = std::popcount(board.stones[0]) - std::popcount(board.stones[1]);
  const bool overlap = (board.stones[0] & board.stones[1]) != 0;
  // A line ends the game: it is that of the one who moved last.
  const bool played_on =
      (HasLine(board.stones[0]) && lead != 1) || (HasLine(board.stones[1]) && lead != 0);
  if (board.occupied() > 0x1ff || overlap || lead < 0 || lead > 1 || played_on) {
    return reader.Impossible(absl::StrCat("stones ", board.stones[0], " and ", board.stones[1]));
  }
  *this = board;
  return absl::OkStatus();
}

EnvRegistry::Entry TicTacToeEntry() {
  const auto make = [](const EnvSettings&, const EnvOptions& options) {
    EnvSpec spec;
    spec.id = options.id;
    spec.observation.shape = {3, 3, 3};
    spec.symmetries = SquareBoardSymmetries(3, 3);
    return MakeBoardEnv(std::move(spec), options, std::make_unique<TicTacToeBoard>(), kNumSquares);
  };
  EnvRegistry::Entry entry =
      NativeEntry("tictactoe", "TicTacToe, two players, optional random openings", {}, make);
  entry.grader = [] { return std::make_unique<TicTacToeGrader>(); };
  return entry;
}

}  // namespace lzero
