// Othello (Reversi with the crossed start) on 8 x 8 squares: the rules of the World Othello
// Federation, with the ends and the pass of OpenSpiel. Action = row * 8 + column, row 0 at the top;
// 64 = pass, legal only when nothing else is. The game is over when neither player can place a
// disc; more discs win. Player 0 is black and begins.
// Observation {3, 8, 8}: own discs, the other's, all ones when black is to move. One thread at a
// time.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_board.h"
#include "envs/boards/stone_picture.h"
#include "envs/entries.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kSize = 8;
constexpr int kNumSquares = kSize * kSize;
constexpr int kPass = kNumSquares;
// 60 squares are free at the start; a pass is always followed by a disc.
constexpr int kLongestGame = 120;
constexpr uint64_t kOne = 1;
constexpr uint64_t kCenter = kOne << 27 | kOne << 28 | kOne << 35 | kOne << 36;
constexpr uint64_t kCorners = kOne | kOne << 7 | kOne << 56 | kOne << 63;
constexpr uint64_t kLeftColumn = 0x0101010101010101;
constexpr uint64_t kRightColumn = kLeftColumn << 7;

// All squares of `set` moved one step; what leaves the board is gone. `Step` is the change of
// row * 8 + column: its column part says which column may not be moved.
template <int Step>
constexpr uint64_t Shift(uint64_t set) {
  constexpr int kColumnStep = (Step + 9) % 8 - 1;  // -1, 0 or 1
  if constexpr (kColumnStep > 0) set &= ~kRightColumn;
  if constexpr (kColumnStep < 0) set &= ~kLeftColumn;
  if constexpr (Step > 0) {
    return set << Step;
  } else {
    return set >> -Step;
  }
}

// The discs of `other` that lie in unbroken lines from `start` in one direction: at most six fit
// between two discs of a line of eight.
template <int Step>
constexpr uint64_t LinesFrom(uint64_t start, uint64_t other) {
  uint64_t line = Shift<Step>(start) & other;
  for (int i = 0; i < 5; ++i) line |= Shift<Step>(line) & other;
  return line;
}

// The union of part<Step>() in all eight directions.
template <typename Part>
uint64_t InAllDirections(const Part& part) {
  return [&part]<int... Steps>(std::integer_sequence<int, Steps...>) {
    return (part.template operator()<Steps>() | ...);
  }
  (std::integer_sequence<int, 1, -1, 8, -8, 7, -7, 9, -9>());
}

// The empty squares where a disc of `own` would enclose discs of `other`.
uint64_t MovesOf(uint64_t own, uint64_t other) {
  const auto ends = [=]<int Step>() { return Shift<Step>(LinesFrom<Step>(own, other)); };
  return InAllDirections(ends) & ~(own | other);
}

// The discs of `other` that `disc` of `own` encloses.
uint64_t FlipsOf(uint64_t disc, uint64_t own, uint64_t other) {
  return InAllDirections([=]<int Step>() {
    const uint64_t line = LinesFrom<Step>(disc, other);
    return (Shift<Step>(line) & own) != 0 ? line : 0;
  });
}

int Lead(uint64_t own, uint64_t other) { return std::popcount(own) - std::popcount(other); }

class OthelloBoard final : public StoneBoard<OthelloBoard> {
 public:
  OthelloBoard() : discs_{kOne << 28 | kOne << 35, kOne << 27 | kOne << 36} { FindMoves(); }

  static constexpr int rows() { return kSize; }
  static constexpr int columns() { return kSize; }
  bool has_stone(int player, int row, int column) const {
    return (discs_[player] >> (row * kSize + column) & 1) != 0;
  }
  int num_actions() const override { return kNumSquares + 1; }
  int to_play() const override { return to_play_; }
  bool finished() const override { return finished_; }
  int winner() const override {
    const int lead = Lead(discs_[0], discs_[1]);
    return !finished_ || lead == 0 ? -1 : lead > 0 ? 0 : 1;
  }
  bool legal(int action) const override {
    if (action == kPass) return moves_ == 0 && !finished_;
    return action >= 0 && action < kNumSquares && (moves_ >> action & 1) != 0;
  }
  void Play(int action) override {
    LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
    if (action != kPass) {
      const uint64_t disc = kOne << action;
      const uint64_t flips = FlipsOf(disc, discs_[to_play_], discs_[1 - to_play_]);
      discs_[to_play_] |= disc | flips;
      discs_[1 - to_play_] &= ~flips;
    }
    to_play_ = 1 - to_play_;
    FindMoves();
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (int square = 0; square < kNumSquares; ++square) mask[square] = moves_ >> square & 1;
    mask[kPass] = legal(kPass) ? 1 : 0;
  }
  // Corners, then mobility, then discs once few squares are left.
  double Estimate() const override {
    const uint64_t own = discs_[to_play_], other = discs_[1 - to_play_];
    const int num_empty = kNumSquares - std::popcount(own | other);
    const int mobility = Lead(moves_, MovesOf(other, own));
    const int corners = Lead(own & kCorners, other & kCorners);
    const double discs = Lead(own, other) * std::max(0.0, 1.0 - num_empty / 16.0);
    const double lead = 6.0 * corners + mobility + discs;
    return lead / (20.0 + std::fabs(lead));
  }
  // Eight rows of 'X' (black), 'O' and '.', then "X to move", or the discs when the game is over.
  std::string ToText() const override {
    std::string text = StoneBoard::ToText();
    if (!finished_) return text + (to_play_ == 0 ? "X to move\n" : "O to move\n");
    absl::StrAppend(&text, "over: X ", std::popcount(discs_[0]), ", O ", std::popcount(discs_[1]));
    return text + "\n";
  }
  Image ToImage() const override {
    constexpr StoneGrid kGrid = {kSize, 42.0, 21.0 + 22.0};
    constexpr Color kFrame = {38, 50, 44}, kGreen = {22, 122, 76}, kLine = {12, 78, 48};
    const double half = kGrid.cell / 2.0, length = kSize * kGrid.cell;
    Image image(kGrid.pixels(), kGrid.pixels(), kFrame);
    Canvas canvas(&image);
    // The board, its lines and its four points.
    const Point corner = {kGrid.margin - half, kGrid.margin - half};
    canvas.FillRectangle(corner.x, corner.y, length, length, kGreen);
    for (int i = 0; i <= kSize; ++i) {
      const double step = i * kGrid.cell;
      canvas.Line({corner.x, corner.y + step}, {corner.x + length, corner.y + step}, 2.0, kLine);
      canvas.Line({corner.x + step, corner.y}, {corner.x + step, corner.y + length}, 2.0, kLine);
    }
    for (const double row : {1.5, 5.5}) {
      for (const double column : {1.5, 5.5}) {
        const Point point = {kGrid.margin + column * kGrid.cell, kGrid.margin + row * kGrid.cell};
        canvas.FillCircle(point, 4.0, kLine);
      }
    }
    // Discs and legal moves.
    for (int square = 0; square < kNumSquares; ++square) {
      const Point center = kGrid.At(square / kSize, square % kSize);
      if (moves_ >> square & 1) canvas.FillCircle(center, 3.0, kLine);
      for (int player = 0; player < 2; ++player) {
        if (discs_[player] >> square & 1) DrawStone(canvas, center, 0.84 * half, player);
      }
    }
    DrawCoordinates(canvas, kGrid, Coordinates::kRowOneAtTop, {196, 208, 198});
    return image;
  }
  void Save(StateWriter& writer) const override {
    for (const uint64_t discs : discs_) writer.Write(discs);
    writer.Write(static_cast<uint8_t>(to_play_));
  }
  // Takes positions that no game reaches when nothing in them is against the rules.
  absl::Status Load(StateReader& reader) override {
    OthelloBoard board;
    board.discs_ = {reader.Read<uint64_t>(), reader.Read<uint64_t>()};
    board.to_play_ = reader.Read<uint8_t>();
    const uint64_t occupied = board.discs_[0] | board.discs_[1];
    if ((board.discs_[0] & board.discs_[1]) != 0 || (occupied & kCenter) != kCenter) {
      return reader.Impossible("discs on top of each other, or a square of the start is empty");
    }
    if (board.to_play_ > 1) {
      return reader.Impossible(absl::StrCat("player ", board.to_play_, " is to move"));
    }
    board.FindMoves();
    *this = board;
    return absl::OkStatus();
  }

 private:
  // Finds the moves of the player to move, and whether the game is over.
  void FindMoves() {
    moves_ = MovesOf(discs_[to_play_], discs_[1 - to_play_]);
    finished_ = moves_ == 0 && MovesOf(discs_[1 - to_play_], discs_[to_play_]) == 0;
  }

  std::array<uint64_t, 2> discs_;
  uint64_t moves_ = 0;  // squares where the player to move may place a disc
  int to_play_ = 0;
  bool finished_ = false;
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings&, const EnvOptions& options) {
  EnvSpec spec;
  spec.id = options.id;
  spec.observation.shape = {3, kSize, kSize};
  spec.symmetries = SquareBoardSymmetries(kSize, 3, /*num_other_actions=*/1);
  return MakeBoardEnv(std::move(spec), options, std::make_unique<OthelloBoard>(), kLongestGame);
}

}  // namespace

EnvRegistry::Entry OthelloEntry() {
  return NativeEntry("othello", "Othello, two players, optional random openings", {}, Make);
}

}  // namespace lzero
