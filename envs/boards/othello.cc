#include "envs/boards/othello.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_picture.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kSize = OthelloBoard::kSize;
constexpr int kNumSquares = OthelloBoard::kNumSquares;
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

template <int Step>
constexpr uint64_t EndsBehindLines(uint64_t own, uint64_t other) {
  return Shift<Step>(LinesFrom<Step>(own, other));
}

template <int Step>
constexpr uint64_t FlipsAlong(uint64_t disc, uint64_t own, uint64_t other) {
  const uint64_t line = LinesFrom<Step>(disc, other);
  return (Shift<Step>(line) & own) != 0 ? line : 0;
}

// The empty squares where a disc of `own` would enclose discs of `other`.
uint64_t MovesOf(uint64_t own, uint64_t other) {
  const uint64_t ends = EndsBehindLines<1>(own, other) | EndsBehindLines<-1>(own, other) |
                        EndsBehindLines<8>(own, other) | EndsBehindLines<-8>(own, other) |
                        EndsBehindLines<7>(own, other) | EndsBehindLines<-7>(own, other) |
                        EndsBehindLines<9>(own, other) | EndsBehindLines<-9>(own, other);
  return ends & ~(own | other);
}

// The discs of `other` that `disc` of `own` encloses.
uint64_t FlipsOf(uint64_t disc, uint64_t own, uint64_t other) {
  return FlipsAlong<1>(disc, own, other) | FlipsAlong<-1>(disc, own, other) |
         FlipsAlong<8>(disc, own, other) | FlipsAlong<-8>(disc, own, other) |
         FlipsAlong<7>(disc, own, other) | FlipsAlong<-7>(disc, own, other) |
         FlipsAlong<9>(disc, own, other) | FlipsAlong<-9>(disc, own, other);
}

int Lead(uint64_t own, uint64_t other) { return std::popcount(own) - std::popcount(other); }

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> OthelloBoard::CreateEnv(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "othello";
  spec.observation.shape = {OthelloBoard::kNumPlanes, kSize, kSize};
  spec.symmetries = SquareBoardSymmetries(kSize, OthelloBoard::kNumPlanes, /*num_other_actions=*/1);
  return MakeBoardEnv(std::move(spec), options, std::make_unique<OthelloBoard>(),
                      OthelloBoard::kLongestGame);
}

OthelloBoard::OthelloBoard() : discs_{kOne << 28 | kOne << 35, kOne << 27 | kOne << 36} {
  FindMoves();
}

void OthelloBoard::FindMoves() {
  moves_ = MovesOf(discs_[to_play_], discs_[1 - to_play_]);
  finished_ = moves_ == 0 && MovesOf(discs_[1 - to_play_], discs_[to_play_]) == 0;
}

int OthelloBoard::winner() const {
  const int lead = Lead(discs_[0], discs_[1]);
  return !finished_ || lead == 0 ? -1 : lead > 0 ? 0 : 1;
}

bool OthelloBoard::legal(int action) const {
  if (action == kPass) return moves_ == 0 && !finished_;
  return action >= 0 && action < kNumSquares && (moves_ >> action & 1) != 0;
}

void OthelloBoard::Play(int action) {
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

void OthelloBoard::FillLegalActions(absl::Span<uint8_t> mask) const {
  for (int square = 0; square < kNumSquares; ++square) mask[square] = moves_ >> square & 1;
  mask[kPass] = legal(kPass) ? 1 : 0;
}

void OthelloBoard::FillPlanes(absl::Span<float> planes) const {
  for (int square = 0; square < kNumSquares; ++square) {
    planes[square] = static_cast<float>(discs_[to_play_] >> square & 1);
    planes[kNumSquares + square] = static_cast<float>(discs_[1 - to_play_] >> square & 1);
    planes[2 * kNumSquares + square] = to_play_ == 0 ? 1.0f : 0.0f;
  }
}

double OthelloBoard::Estimate() const {
  const uint64_t own = discs_[to_play_], other = discs_[1 - to_play_];
  const int num_empty = kNumSquares - std::popcount(own | other);
  const int mobility = Lead(moves_, MovesOf(other, own));
  const int corners = Lead(own & kCorners, other & kCorners);
  const double discs = Lead(own, other) * std::max(0.0, 1.0 - num_empty / 16.0);
  const double lead = 6.0 * corners + mobility + discs;
  return lead / (20.0 + std::fabs(lead));
}

std::string OthelloBoard::ToText() const {
  std::string text;
  for (int square = 0; square < kNumSquares; ++square) {
    text += discs_[0] >> square & 1 ? 'X' : discs_[1] >> square & 1 ? 'O' : '.';
    if (square % kSize == kSize - 1) text += '\n';
  }
  if (!finished_) return text + (to_play_ == 0 ? "X to move\n" : "O to move\n");
  absl::StrAppend(&text, "over: X ", std::popcount(discs_[0]), ", O ", std::popcount(discs_[1]));
  return text + "\n";
}

Image OthelloBoard::ToImage() const {
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

void OthelloBoard::Save(StateWriter& writer) const {
  writer.Write(discs_[0]);
  writer.Write(discs_[1]);
  writer.Write(static_cast<uint8_t>(to_play_));
}

absl::Status OthelloBoard::Load(StateReader& reader) {
  OthelloBoard board;
  board.discs_[0] = reader.Read<uint64_t>();
  board.discs_[1] = reader.Read<uint64_t>();
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

}  // namespace lzero
