// Hex on 3 x 3 to 11 x 11 cells: action = row * size + column, row 0 at the top, each row half a
// cell to the right of the one above. Player 0 (X) connects the top with the bottom and begins,
// player 1 (O) the left with the right. Exactly one of them succeeds, so no game is drawn [Nash
// 1952]. With swap=yes the second player may answer by the cell of the first stone: it is turned
// into one of his own, mirrored at the long diagonal. Observation {3, size, size}: own stones, the
// other's, all ones when the mover connects top and bottom. One thread at a time.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_board.h"
#include "envs/boards/stone_picture.h"
#include "envs/entries.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kMinSize = 3;
constexpr int kMaxSize = 11;
// The board with its sides and what lies outside: columns from the left side to one beyond the
// right one, rows from one above the top side to one below the bottom.
constexpr int kMaxCells = (kMaxSize + 3) * (kMaxSize + 4);
constexpr uint8_t kFree = 2;
constexpr uint8_t kOutside = 3;

class HexBoard final : public StoneBoard<HexBoard> {
 public:
  HexBoard(int size, bool swap) : size_(size), swap_(swap) {
    cells_.fill(kOutside);
    std::iota(parents_.begin(), parents_.end(), uint8_t{0});
    for (int square = 0; square < num_actions(); ++square) cells_[CellOf(square)] = kFree;
    // Each side is a chain of its player.
    for (const int player : {0, 1}) {
      for (const bool far : {false, true}) {
        for (int i = 0; i < size_; ++i) {
          cells_[SideCell(player, far, i)] = static_cast<uint8_t>(player);
          parents_[SideCell(player, far, i)] = static_cast<uint8_t>(SideCell(player, far, 0));
        }
      }
    }
  }

  bool has_swap() const { return swap_; }
  int rows() const { return size_; }
  int columns() const { return size_; }
  bool has_stone(int player, int row, int column) const {
    return cells_[CellOf(row * size_ + column)] == player;
  }
  int num_actions() const override { return size_ * size_; }
  int to_play() const override { return num_moves_ % 2; }
  bool finished() const override { return winner_ >= 0; }
  int winner() const override { return winner_; }
  bool legal(int action) const override {
    if (finished() || action < 0 || action >= num_actions()) return false;
    return cells_[CellOf(action)] == kFree || (swap_ && num_moves_ == 1);
  }
  void Play(int action) override {
    LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
    const int mover = to_play();
    last_square_ = action;
    if (cells_[CellOf(action)] != kFree) {  // the swap
      *this = HexBoard(size_, swap_);
      num_moves_ = 1;
      moves_[0] = static_cast<uint8_t>(action);
      last_square_ = action % size_ * size_ + action / size_;
    }
    moves_[num_moves_++] = static_cast<uint8_t>(action);
    const int cell = CellOf(last_square_);
    cells_[cell] = static_cast<uint8_t>(mover);
    for (const int step : Steps()) {
      if (cells_[cell + step] == mover) parents_[ChainOf(cell + step)] = ChainOf(cell);
    }
    if (ChainOf(SideCell(mover, false, 0)) == ChainOf(SideCell(mover, true, 0))) winner_ = mover;
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (int square = 0; square < num_actions(); ++square) mask[square] = legal(square) ? 1 : 0;
  }
  // Who lacks fewer stones.
  double Estimate() const override {
    const double lead = NumLacking(1 - to_play()) - NumLacking(to_play()) + 0.5;
    return lead / (1.0 + std::fabs(lead));
  }
  // Rows of 'X', 'O' and '.' as they lie, then whose turn it is or who has won.
  std::string ToText() const override {
    std::string text;
    for (int row = 0; row < size_; ++row) {
      text.append(row, ' ');
      for (int column = 0; column < size_; ++column) {
        const bool first = has_stone(0, row, column);
        text += first ? 'X' : has_stone(1, row, column) ? 'O' : '.';
        text += column + 1 < size_ ? ' ' : '\n';
      }
    }
    const char* const player = (finished() ? winner_ : to_play()) == 0 ? "X" : "O";
    return absl::StrCat(text, finished() ? "over: " : "", player,
                        finished() ? " wins\n" : " to move\n");
  }
  Image ToImage() const override;
  // The rules and all moves, since a swap cannot be seen.
  void Save(StateWriter& writer) const override {
    writer.Write(static_cast<uint8_t>(size_));
    writer.Write(swap_);
    writer.WriteVector(absl::MakeConstSpan(moves_.data(), num_moves_));
  }
  absl::Status Load(StateReader& reader) override {
    const int size = reader.Read<uint8_t>();
    const bool swap = reader.Read<bool>();
    const std::vector<uint8_t> moves = reader.ReadVector<uint8_t>();
    if (size != size_ || swap != swap_) {
      return reader.Impossible(absl::StrCat("a game on ", size, " x ", size,
                                            swap ? " with" : " without",
                                            " the swap, other rules than here"));
    }
    HexBoard board(size_, swap_);
    for (const uint8_t move : moves) {
      if (!board.legal(move)) {
        return reader.Impossible(
            absl::StrCat("move ", move, " as number ", board.num_moves_ + 1, " is illegal"));
      }
      board.Play(move);
    }
    *this = board;
    return absl::OkStatus();
  }

 private:
  int stride() const { return size_ + 3; }
  int CellOf(int square) const { return (square / size_ + 2) * stride() + square % size_ + 1; }
  // Cell `i` of the first (top, left) or far (bottom, right) side that `player` connects.
  int SideCell(int player, bool far, int i) const {
    return player == 0 ? (far ? size_ + 2 : 1) * stride() + i + 1
                       : (i + 2) * stride() + (far ? size_ + 1 : 0);
  }
  // To the six neighbours, in a circle.
  std::array<int, 6> Steps() const {
    return {-stride(), 1 - stride(), 1, stride(), stride() - 1, -1};
  }
  // The cell that stands for the chain of a stone. [union-find, with halved paths]
  uint8_t ChainOf(int cell) {
    while (parents_[cell] != cell) {
      parents_[cell] = parents_[parents_[cell]];
      cell = parents_[cell];
    }
    return static_cast<uint8_t>(cell);
  }
  int NumLacking(int player) const;

  int size_;
  bool swap_;
  int num_moves_ = 0;
  int winner_ = -1;
  int last_square_ = -1;
  std::array<uint8_t, kMaxCells> cells_ = {};  // player, kFree or kOutside
  std::array<uint8_t, kMaxCells> parents_;     // chains as trees
  std::array<uint8_t, kMaxSize* kMaxSize + 1> moves_ = {};
};

// Free cells that `player` must still take to connect his sides, if the other only answers at
// bridges: of two free cells between two cells he can have one, whatever the other does.
int HexBoard::NumLacking(int player) const {
  const std::array<int, 6> steps = Steps();
  std::array<bool, kMaxCells> is_seen = {};
  std::vector<int> cells, next_cells;  // that cost as many free cells, or one more
  const auto see = [&](int cell) {
    const bool own = cells_[cell] == player;
    if (is_seen[cell] || !(own || cells_[cell] == kFree)) return;
    is_seen[cell] = true;
    (own ? cells : next_cells).push_back(cell);
  };
  for (int i = 0; i < size_; ++i) see(SideCell(player, false, i));
  for (int num_lacking = 0; !cells.empty(); ++num_lacking) {
    while (!cells.empty()) {
      const int cell = cells.back();
      cells.pop_back();
      for (int i = 0; i < 6; ++i) {
        const int left = cell + steps[i], right = cell + steps[(i + 1) % 6];
        see(left);
        if (cells_[left] == kFree && cells_[right] == kFree) see(right + steps[i]);
      }
    }
    if (is_seen[SideCell(player, true, 0)]) return num_lacking;
    cells.swap(next_cells);
  }
  return num_actions();  // cut off
}

// Hexagons, the sides in the colors of their players, and a mark on the last stone.
Image HexBoard::ToImage() const {
  constexpr Color kTable = {236, 228, 208}, kCell = {222, 184, 116}, kLine = {92, 66, 32};
  constexpr std::array<Color, 2> kSides = {{{28, 28, 32}, {250, 250, 248}}};
  const double width = std::floor(380.0 / (1.5 * size_ + 1.0)), radius = width / std::sqrt(3.0);
  const auto center = [&](int row, int column) {
    return Point{(column + 0.5 * row + 1.0) * width, (1.5 * row + 1.5) * radius};
  };
  const Point last = center(size_ - 1, size_ - 1);
  Image image(static_cast<int>(last.x + width), static_cast<int>(last.y + 1.5 * radius), kTable);
  Canvas canvas(&image);
  const auto draw = [&](Point middle, double scale, Color color) {
    std::vector<Point> corners;
    for (const auto& [x, y] :
         {std::pair{0.0, -1.0}, {0.5, -0.5}, {0.5, 0.5}, {0.0, 1.0}, {-0.5, 0.5}, {-0.5, -0.5}}) {
      corners.push_back({middle.x + scale * x * width, middle.y + scale * y * radius});
    }
    canvas.FillPolygon(corners, color);
  };
  // The sides, which look out from behind the cells.
  for (int i = 0; i < size_; ++i) {
    for (const int end : {0, size_ - 1}) {
      draw(center(end, i), 1.5, kSides[0]);
      draw(center(i, end), 1.5, kSides[1]);
    }
  }
  for (int square = 0; square < num_actions(); ++square) {
    const int row = square / size_, column = square % size_;
    const Point middle = center(row, column);
    draw(middle, 1.05, kLine);
    draw(middle, 0.95, kCell);
    for (const int player : {0, 1}) {
      if (!has_stone(player, row, column)) continue;
      DrawStone(canvas, middle, 0.4 * width, player);
      if (square == last_square_) DrawLastMove(canvas, middle, 0.4 * width, player);
    }
  }
  return image;
}

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  const int size = static_cast<int>(given.Int("board_size"));
  auto start = std::make_unique<HexBoard>(size, given.Choice("swap") == "yes");
  EnvSpec spec;
  spec.id = options.id;
  spec.observation.shape = {3, size, size};
  spec.action.meaning =
      "row * board_size + column; X joins top and bottom and begins, O joins left and right; with "
      "swap=yes O may answer on X's first stone, which becomes O's, mirrored at the long diagonal";
  spec.symmetries = HalfTurnSymmetries(size, 3);
  // The swap takes no cell.
  const int longest_game = size * size + (start->has_swap() ? 1 : 0);
  return MakeBoardEnv(std::move(spec), options, std::move(start), longest_game);
}

}  // namespace

EnvRegistry::Entry HexEntry() {
  return NativeEntry(
      "hex", "Hex, who connects his two sides wins, board_size 3 to 11",
      {EnvSetting::Int("board_size", 11, kMinSize, kMaxSize, "rows and columns of the board"),
       EnvSetting::Choice("swap", {"no", "yes"},
                          "whether the second player may take the first stone")},
      Make);
}

}  // namespace lzero
