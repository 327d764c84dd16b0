#include "envs/boards/tictactoe.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kNumSquares = TicTacToeBoard::kNumSquares;
constexpr int64_t kObservationSize = 3 * kNumSquares;
constexpr uint16_t kFull = 0x1ff;
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

absl::StatusOr<std::unique_ptr<Env>> TicTacToeBoard::CreateEnv(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "tictactoe";
  spec.observation.shape = {3, 3, 3};
  spec.symmetries = SquareBoardSymmetries(3, 3);
  return MakeBoardEnv(std::move(spec), options, std::make_unique<TicTacToeBoard>(), kNumSquares);
}

TicTacToeBoard TicTacToeBoard::After(int action) const {
  TicTacToeBoard next = *this;
  next.Play(action);
  return next;
}

TimeStep TicTacToeBoard::ToTimeStep() const { return TimeStepOf(*this, kObservationSize); }

void TicTacToeBoard::CopyFrom(const Board& other) {
  *this = static_cast<const TicTacToeBoard&>(other);
}

int TicTacToeBoard::to_play() const {
  return (std::popcount(stones[0]) + std::popcount(stones[1])) % 2;
}

int TicTacToeBoard::winner() const { return HasLine(stones[0]) ? 0 : HasLine(stones[1]) ? 1 : -1; }

bool TicTacToeBoard::finished() const { return occupied() == kFull || winner() >= 0; }

bool TicTacToeBoard::legal(int action) const {
  return action >= 0 && action < kNumSquares && !(occupied() >> action & 1) && !finished();
}

void TicTacToeBoard::Play(int action) {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  stones[to_play()] |= static_cast<uint16_t>(1 << action);
}

void TicTacToeBoard::FillLegalActions(absl::Span<uint8_t> mask) const {
  const int empty = finished() ? 0 : ~occupied();
  for (int square = 0; square < kNumSquares; ++square) mask[square] = empty >> square & 1;
}

void TicTacToeBoard::FillPlanes(absl::Span<float> planes) const {
  const int mover = to_play();
  for (int square = 0; square < kNumSquares; ++square) {
    planes[square] = static_cast<float>(stones[mover] >> square & 1);
    planes[kNumSquares + square] = static_cast<float>(stones[1 - mover] >> square & 1);
    planes[2 * kNumSquares + square] = mover == 0 ? 1.0f : 0.0f;
  }
}

std::string TicTacToeBoard::ToText() const {
  std::string text;
  for (int square = 0; square < kNumSquares; ++square) {
    text += stones[0] >> square & 1 ? 'X' : stones[1] >> square & 1 ? 'O' : '.';
    if (square % 3 == 2) text += '\n';
  }
  return text;
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

void TicTacToeBoard::Save(StateWriter& writer) const {
  writer.Write(stones[0]);
  writer.Write(stones[1]);
}

absl::Status TicTacToeBoard::Load(StateReader& reader) {
  TicTacToeBoard board;
  board.stones[0] = reader.Read<uint16_t>();
  board.stones[1] = reader.Read<uint16_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  const int lead = std::popcount(board.stones[0]) - std::popcount(board.stones[1]);
  const bool overlap = (board.stones[0] & board.stones[1]) != 0;
  // A line ends the game: it is that of the one who moved last.
  const bool played_on =
      (HasLine(board.stones[0]) && lead != 1) || (HasLine(board.stones[1]) && lead != 0);
  if (board.occupied() > kFull || overlap || lead < 0 || lead > 1 || played_on) {
    return reader.Impossible(absl::StrCat("stones ", board.stones[0], " and ", board.stones[1]));
  }
  *this = board;
  return absl::OkStatus();
}

}  // namespace lzero
