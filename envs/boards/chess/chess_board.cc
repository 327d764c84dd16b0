// Chess by the laws of FIDE, the claimed draws among the automatic ones: the 100th half move
// without a capture or a move of a pawn, the third time in a position, and too little material for
// any mate. Player 0 is white; `fen` is where games begin. Actions: actions.h, from the mover's
// view. Observation {19, 8, 8} from the mover's view, his first rank first: pawn, knight, bishop,
// rook, queen and king of his own, those of the other, castling rights (own short, own long, the
// other's short and long), the en passant square, whether the position was there before, and half
// moves / 100 of the first draw. One thread at a time.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/chess/actions.h"
#include "envs/boards/chess/evaluation.h"
#include "envs/boards/chess/fen.h"
#include "envs/boards/chess/picture.h"
#include "envs/boards/chess/position.h"
#include "envs/entries.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero::chess {
namespace {

constexpr int kNumPlanes = 19;
constexpr int kMaxClock = 100;
// A game has at most 16 * 6 moves of pawns and 30 captures, and 100 half moves to the next.
constexpr int64_t kLongestGame = (16 * 6 + 30 + 1) * kMaxClock;
constexpr double kHalfWon = 300.0;  // hundredths of a pawn

enum class Ending : uint8_t { kNone, kCheckmate, kStalemate, kMaterial, kClock, kRepetition };

class ChessBoard final : public Board {
 public:
  explicit ChessBoard(const Position& position) : position_(position) { Refresh(); }

  std::unique_ptr<Board> Clone() const override { return std::make_unique<ChessBoard>(*this); }
  void CopyFrom(const Board& other) override { *this = static_cast<const ChessBoard&>(other); }
  int num_actions() const override { return kNumActions; }
  int to_play() const override { return position_.to_play; }
  bool finished() const override { return ending_ != Ending::kNone; }
  int winner() const override { return ending_ == Ending::kCheckmate ? 1 - to_play() : -1; }
  bool legal(int action) const override { return Find(action) != nullptr; }
  void Play(int action) override {
    const Move* const move = Find(action);
    LZ_CHECK(move != nullptr, "action ", action, " on\n", ToText());
    last_move_ = *move;
    history_.push_back(hash_);
    position_.Play(last_move_);
    if (position_.clock == 0) history_.clear();
    Refresh();
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    std::fill(mask.begin(), mask.end(), uint8_t{0});
    for (const Move move : moves_) mask[ActionOf(move, to_play())] = 1;
  }
  void FillPlanes(absl::Span<float> planes) const override;
  double Estimate() const override {
    const double lead = QuietValue(position_);
    return lead / (kHalfWon + std::fabs(lead));
  }
  int Urgency(int action) const override {
    const Move* const move = Find(action);
    return move == nullptr ? 0 : CaptureValue(position_, *move);
  }
  std::string ToText() const override;
  Image ToImage() const override { return Picture(position_, last_move_); }
  void Save(StateWriter& writer) const override;
  absl::Status Load(StateReader& reader) override;

 private:
  // What follows from position_ and history_.
  void Refresh();
  Ending FindEnding() const;
  const Move* Find(int action) const {
    const auto found = std::find_if(moves_.begin(), moves_.end(),
                                    [&](Move move) { return ActionOf(move, to_play()) == action; });
    return found == moves_.end() ? nullptr : &*found;
  }
  std::string StatusLine() const;

  Position position_;
  Move last_move_;
  std::vector<uint64_t> history_;  // hashes of the positions before that can come back
  uint64_t hash_ = 0;              // of position_
  int num_before_ = 0;             // how often it was there before
  Ending ending_ = Ending::kNone;
  std::vector<Move> moves_;  // legal ones, none once the game is over
};

void ChessBoard::Refresh() {
  MoveList list;
  position_.ListMoves(~Squares{0}, &list);
  // A pawn that nobody may take makes no difference.
  const auto takes_en_passant = [this](Move move) {
    return move.to == position_.en_passant && position_.KindAt(move.from) == kPawn;
  };
  if (std::none_of(list.begin(), list.end(), takes_en_passant)) position_.en_passant = kNoSquare;
  hash_ = position_.Hash();
  num_before_ = static_cast<int>(std::count(history_.begin(), history_.end(), hash_));
  moves_.assign(list.begin(), list.end());
  ending_ = FindEnding();
  if (finished()) moves_.clear();
}

Ending ChessBoard::FindEnding() const {
  if (moves_.empty()) return position_.InCheck() ? Ending::kCheckmate : Ending::kStalemate;
  if (position_.LacksMaterial()) return Ending::kMaterial;
  if (position_.clock >= kMaxClock) return Ending::kClock;
  return num_before_ >= 2 ? Ending::kRepetition : Ending::kNone;
}

void ChessBoard::FillPlanes(absl::Span<float> planes) const {
  std::fill(planes.begin(), planes.end(), 0.0f);
  const int flip = to_play() == kWhite ? 0 : Flipped(0);
  float* plane = planes.data();
  for (const int color : {to_play(), 1 - to_play()}) {
    for (int kind = kPawn; kind < kNumKinds; ++kind, plane += kNumSquares) {
      Squares pieces = position_.Pieces(color, static_cast<Kind>(kind));
      while (pieces != 0) plane[TakeSquare(pieces) ^ flip] = 1.0f;
    }
  }
  const auto fill = [&plane](float value) {
    std::fill(plane, plane + kNumSquares, value);
    plane += kNumSquares;
  };
  for (const int color : {to_play(), 1 - to_play()}) {
    for (const int side : {0, 1}) {
      fill((position_.castling >> (2 * color + side) & 1) != 0 ? 1.0f : 0.0f);
    }
  }
  if (position_.en_passant != kNoSquare) plane[position_.en_passant ^ flip] = 1.0f;
  plane += kNumSquares;
  fill(num_before_ >= 1 ? 1.0f : 0.0f);
  fill(static_cast<float>(position_.clock) / kMaxClock);
}

std::string ChessBoard::StatusLine() const {
  const bool white = to_play() == kWhite;
  switch (ending_) {
    case Ending::kNone:
      return white ? "white to move" : "black to move";
    case Ending::kCheckmate:
      return white ? "over: black wins by checkmate" : "over: white wins by checkmate";
    case Ending::kStalemate:
      return "over: a draw by stalemate";
    case Ending::kMaterial:
      return "over: a draw, nobody can give mate";
    case Ending::kClock:
      return "over: a draw by the rule of 50 moves";
    case Ending::kRepetition:
      return "over: a draw by repetition";
  }
  return "";
}

// Ranks from the eighth, white's pieces in capitals; how the game stands, the last move, the FEN.
std::string ChessBoard::ToText() const {
  std::string text;
  for (int rank = 7; rank >= 0; --rank) {
    absl::StrAppend(&text, rank + 1, " ");
    for (int file = 0; file < 8; ++file) text += LetterAt(position_, rank * 8 + file);
    text += '\n';
  }
  const bool begun = last_move_.from != kNoSquare;
  return absl::StrCat(text, "  abcdefgh\n", StatusLine(), begun ? ", last move " : "",
                      begun ? MoveText(last_move_) : "", "\n", FenOf(position_), "\n");
}

void ChessBoard::Save(StateWriter& writer) const {
  for (const Squares squares : position_.kinds) writer.Write(squares);
  writer.Write(position_.colors[kWhite]);
  writer.Write(position_.to_play);
  writer.Write(position_.castling);
  writer.Write(position_.en_passant);
  writer.Write(position_.clock);
  writer.Write(position_.move_number);
  writer.Write(last_move_.from);
  writer.Write(last_move_.to);
  writer.Write(static_cast<uint8_t>(last_move_.promotion));
  writer.WriteVector(history_);
}

absl::Status ChessBoard::Load(StateReader& reader) {
  Position position;
  Squares all = 0;
  for (Squares& squares : position.kinds) all |= squares = reader.Read<uint64_t>();
  position.colors[kWhite] = reader.Read<uint64_t>();
  position.colors[kBlack] = all & ~position.colors[kWhite];
  position.to_play = reader.Read<uint8_t>();
  position.castling = reader.Read<uint8_t>();
  position.en_passant = reader.Read<uint8_t>();
  position.clock = reader.Read<uint8_t>();
  position.move_number = reader.Read<uint16_t>();
  Move last_move;
  last_move.from = reader.Read<uint8_t>();
  last_move.to = reader.Read<uint8_t>();
  const uint8_t promotion = reader.Read<uint8_t>();
  std::vector<uint64_t> history = reader.ReadVector<uint64_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  if (position.to_play > 1 || position.castling > 15 || position.clock > kMaxClock) {
    return reader.Impossible("player to move, castling rights or half moves");
  }
  const std::string problem = position.Problem();
  if (!problem.empty()) return reader.Impossible(problem);
  if (last_move.from > kNoSquare || last_move.to > kNoSquare || promotion > kNoKind) {
    return reader.Impossible("the last move");
  }
  if (history.size() > position.clock) return reader.Impossible("more positions than half moves");
  last_move.promotion = static_cast<Kind>(promotion);
  position_ = position;
  last_move_ = last_move;
  history_ = std::move(history);
  Refresh();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  const std::string& fen = given.Text("fen");
  const absl::StatusOr<Position> position = ParseFen(fen);
  LZ_RETURN_IF_ERROR(Annotate(position.status(), "fen of 'chess'"));
  auto start = std::make_unique<ChessBoard>(*position);
  if (start->finished()) {
    return absl::InvalidArgumentError(
        absl::StrCat("fen of 'chess': the game is over there; got ", QuotedForMessage(fen)));
  }
  EnvSpec spec;
  spec.id = options.id;
  spec.observation.shape = {kNumPlanes, 8, 8};
  spec.action.meaning =
      "squares from and to of a queen's or knight's move, as the mover sees the board: 0 is a1b1, "
      "1791 is h8g8; then promotions to less than a queen: 1792 is a7a8n, 1857 is h7h8r";
  spec.action.places = ActionPlaces();
  return MakeBoardEnv(std::move(spec), options, std::move(start), kLongestGame);
}

}  // namespace
}  // namespace lzero::chess

namespace lzero {

EnvRegistry::Entry ChessEntry() {
  return NativeEntry(
      "chess", "Chess, all rules, from the start or any position",
      {EnvSetting::Text("fen", chess::kStartFen, "where games begin, in Forsyth-Edwards notation")},
      chess::Make);
}

}  // namespace lzero
