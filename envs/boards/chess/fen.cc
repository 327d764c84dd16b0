#include "envs/boards/chess/fen.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"

namespace lzero::chess {
namespace {

constexpr absl::string_view kLetters = "PNBRQKpnbrqk";  // by color and kind
constexpr absl::string_view kRights = "KQkq";           // by bit of Position::castling

absl::Status Refuse(absl::string_view field, absl::string_view got, absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(field, " is ", QuotedForMessage(got), "; allowed: ", allowed));
}

absl::Status ParsePieces(absl::string_view field, Position& position) {
  const std::vector<absl::string_view> ranks = absl::StrSplit(field, '/');
  if (ranks.size() != 8) return Refuse("board", field, "eight ranks with '/' between them");
  for (int rank = 7; rank >= 0; --rank) {
    const absl::string_view text = ranks[7 - rank];
    int file = 0;
    for (const char letter : text) {
      const size_t piece = kLetters.find(letter);
      if (piece != absl::string_view::npos && file < 8) {
        const Squares square = Bit(rank * 8 + file++);
        position.colors[piece / kNumKinds] |= square;
        position.kinds[piece % kNumKinds] |= square;
      } else if (letter >= '1' && letter <= '8') {
        file += letter - '0';
      } else {
        file = 9;
      }
    }
    if (file != 8) {
      return Refuse(absl::StrCat("rank ", rank + 1), text, "eight squares of PNBRQKpnbrqk, 1 .. 8");
    }
  }
  return absl::OkStatus();
}

absl::Status ParseState(const std::vector<absl::string_view>& fields, Position& position) {
  if (fields[1] != "w" && fields[1] != "b") return Refuse("player to move", fields[1], "w, b");
  position.to_play = fields[1] == "w" ? kWhite : kBlack;
  for (const char letter : fields[2] == "-" ? "" : fields[2]) {
    const size_t right = kRights.find(letter);
    const int bit = right == absl::string_view::npos ? 0 : 1 << right;
    if (bit == 0 || (position.castling & bit) != 0) {
      return Refuse("castling", fields[2], "some of KQkq, each once, or -");
    }
    position.castling |= bit;
  }
  if (fields[2].empty()) return Refuse("castling", fields[2], "some of KQkq, each once, or -");
  if (const absl::string_view square = fields[3]; square != "-") {
    const bool is_square = square.size() == 2 && square[0] >= 'a' && square[0] <= 'h' &&
                           square[1] >= '1' && square[1] <= '8';
    if (!is_square) return Refuse("en passant", square, "a square such as e3, or -");
    position.en_passant = static_cast<uint8_t>((square[1] - '1') * 8 + square[0] - 'a');
  }
  return absl::OkStatus();
}

absl::Status ParseNumber(absl::string_view name, absl::string_view field, int low, int high,
                         int& number) {
  if (absl::SimpleAtoi(field, &number) && number >= low && number <= high) return absl::OkStatus();
  return Refuse(name, field, absl::StrCat("an integer from ", low, " to ", high));
}

}  // namespace

absl::StatusOr<Position> ParseFen(absl::string_view fen) {
  const std::vector<absl::string_view> fields = absl::StrSplit(fen, ' ', absl::SkipEmpty());
  if (fields.size() < 4 || fields.size() > 6) {
    return absl::InvalidArgumentError(
        absl::StrCat("number of fields: ", fields.size(), "; allowed: 4 to 6"));
  }
  Position position;
  LZ_RETURN_IF_ERROR(ParsePieces(fields[0], position));
  LZ_RETURN_IF_ERROR(ParseState(fields, position));
  int clock = 0, move_number = 1;
  if (fields.size() > 4) LZ_RETURN_IF_ERROR(ParseNumber("half moves", fields[4], 0, 100, clock));
  if (fields.size() > 5) {
    LZ_RETURN_IF_ERROR(ParseNumber("move number", fields[5], 1, 9999, move_number));
  }
  position.clock = static_cast<uint8_t>(clock);
  position.move_number = static_cast<uint16_t>(move_number);
  const std::string problem = position.Problem();
  if (!problem.empty()) return absl::InvalidArgumentError(problem);
  return position;
}

std::string FenOf(const Position& position) {
  std::string fen;
  for (int rank = 7; rank >= 0; --rank) {
    int num_empty = 0;
    for (int file = 0; file < 8; ++file) {
      const char letter = LetterAt(position, rank * 8 + file);
      if (letter == '.') {
        ++num_empty;
        continue;
      }
      if (num_empty > 0) absl::StrAppend(&fen, num_empty);
      num_empty = 0;
      fen += letter;
    }
    if (num_empty > 0) absl::StrAppend(&fen, num_empty);
    fen += rank > 0 ? '/' : ' ';
  }
  fen += position.to_play == kWhite ? "w " : "b ";
  for (int right = 0; right < 4; ++right) {
    if ((position.castling >> right & 1) != 0) fen += kRights[right];
  }
  absl::StrAppend(&fen, position.castling == 0 ? "- " : " ",
                  position.en_passant == kNoSquare ? "-" : SquareName(position.en_passant), " ",
                  static_cast<int>(position.clock), " ", position.move_number);
  return fen;
}

char LetterAt(const Position& position, int square) {
  const Kind kind = position.KindAt(square);
  if (kind == kNoKind) return '.';
  const bool black = (position.colors[kBlack] & Bit(square)) != 0;
  return kLetters[kind + (black ? kNumKinds : 0)];
}

std::string SquareName(int square) {
  return {static_cast<char>('a' + FileOf(square)), static_cast<char>('1' + RankOf(square))};
}

}  // namespace lzero::chess
