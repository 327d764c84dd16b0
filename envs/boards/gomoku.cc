// Gomoku on a board of 5 to 19 rows and as many columns: action = row * size + column, row 0 at the
// top; player 0 plays black; five or more in a row win (freestyle, no forbidden moves); a full
// board is a draw. Observation {3, size, size} from the view of the player to move: own stones, the
// other's stones, all ones when player 0 is to move. One thread at a time.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_board.h"
#include "envs/boards/stone_picture.h"
#include "envs/entries.h"
#include "lzero/base/check.h"

namespace lzero {
namespace {

constexpr int kMaxSize = 19;
constexpr int kFive = 5;
constexpr int8_t kEmpty = -1;
constexpr std::array<std::array<int, 2>, 4> kDirections = {{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};
// What a line of five with so many stones of one player and none of the other is worth, and how
// many such points make a half-won game.
constexpr std::array<int, kFive + 1> kLineValues = {0, 1, 5, 25, 125, 0};
constexpr double kHalfWon = 150.0;

class GomokuBoard final : public StoneBoard<GomokuBoard> {
 public:
  explicit GomokuBoard(int size) : size_(size) { cells_.fill(kEmpty); }

  int rows() const { return size_; }
  int columns() const { return size_; }
  bool has_stone(int player, int row, int column) const {
    return cells_[row * size_ + column] == player;
  }

  int num_actions() const override { return size_ * size_; }
  int to_play() const override { return num_stones_ % 2; }
  bool finished() const override { return winner_ >= 0 || num_stones_ == num_actions(); }
  int winner() const override { return winner_; }
  bool legal(int action) const override {
    return action >= 0 && action < num_actions() && cells_[action] == kEmpty && !finished();
  }
  void Play(int action) override {
    LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
    const int mover = to_play();
    if (PutStone(action, mover)) winner_ = mover;
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    const bool over = finished();
    for (int square = 0; square < num_actions(); ++square) {
      mask[square] = !over && cells_[square] == kEmpty ? 1 : 0;
    }
  }
  // Weighs the lines of five that are still open to one player alone; kept up to date by Play.
  double Estimate() const override {
    const int points = to_play() == 0 ? points_ : -points_;
    return points / (std::abs(points) + kHalfWon);
  }
  // The last stone carries a mark.
  Image ToImage() const override {
    const StoneGrid grid = WoodenGrid(size_);
    Image image = WoodenBoard(grid);
    Canvas canvas(&image);
    const double radius = 0.47 * grid.cell;
    for (int square = 0; square < num_actions(); ++square) {
      const int8_t player = cells_[square];
      if (player == kEmpty) continue;
      const Point center = grid.At(square / size_, square % size_);
      DrawStone(canvas, center, radius, player);
      if (square == last_square_) DrawLastMove(canvas, center, radius, player);
    }
    DrawCoordinates(canvas, grid, Coordinates::kRowOneAtTop, {92, 66, 32});
    return image;
  }
  void Save(StateWriter& writer) const override {
    writer.WriteVector(std::vector<int8_t>(cells_.begin(), cells_.begin() + num_actions()));
    writer.Write(static_cast<int32_t>(last_square_));
  }
  absl::Status Load(StateReader& reader) override {
    const std::vector<int8_t> cells = reader.ReadVector<int8_t>();
    const int32_t last_square = reader.Read<int32_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    GomokuBoard board(size_);
    const std::string problem = board.Rebuild(cells, last_square);
    if (!problem.empty()) return reader.Impossible(problem);
    *this = board;
    return absl::OkStatus();
  }

 private:
  // Puts a stone of `player` on an empty square, and the points that the lines of five through it
  // gain for him by that. Returns whether it makes five or more in a row.
  bool PutStone(int square, int player) {
    const int row = square / size_;
    const int column = square % size_;
    // Squares from here to the edge that a line of five through here can reach.
    const std::array<int, 3> rows = {std::min(row, kFive - 1), kFive - 1,
                                     std::min(size_ - 1 - row, kFive - 1)};
    const std::array<int, 3> columns = {std::min(column, kFive - 1), kFive - 1,
                                        std::min(size_ - 1 - column, kFive - 1)};
    int gained = 0;
    bool makes_five = false;
    for (const auto& [down, right] : kDirections) {
      const int behind = std::min(rows[1 - down], columns[1 - right]);
      const int ahead = std::min(rows[1 + down], columns[1 + right]);
      const int step = down * size_ + right;
      // In the window of five squares that slides over them: empty, of player 0, of player 1.
      std::array<int, 3> count = {0, 0, 0};
      for (int i = 0; i <= behind + ahead; ++i) {
        const int8_t* cell = &cells_[square + (i - behind) * step];
        ++count[cell[0] + 1];
        if (i < kFive - 1) continue;
        const int own = count[1 + player];
        const int other = count[2 - player];
        makes_five = makes_five || own == kFive - 1;
        if (other == 0) {
          gained += kLineValues[own + 1] - kLineValues[own];
        } else if (own == 0) {
          gained += kLineValues[other];  // which the other loses
        }
        --count[cell[(1 - kFive) * step] + 1];
      }
    }
    points_ += player == 0 ? gained : -gained;
    cells_[square] = static_cast<int8_t>(player);
    last_square_ = square;
    ++num_stones_;
    return makes_five;
  }
  // Becomes the position of these cells, whose last stone is on `last_square` (-1: there is none);
  // the reason when no game can have led to it.
  std::string Rebuild(const std::vector<int8_t>& cells, int last_square) {
    if (static_cast<int>(cells.size()) != num_actions()) {
      return absl::StrCat(cells.size(), " squares of ", num_actions());
    }
    // Checks the number of stones and the last one.
    std::array<int, 2> count = {0, 0};
    for (const int8_t cell : cells) {
      if (cell < kEmpty || cell > 1) return absl::StrCat("a square holds ", cell);
      if (cell != kEmpty) ++count[cell];
    }
    if (count[0] < count[1] || count[0] > count[1] + 1) return "the players did not take turns";
    if (last_square < -1 || last_square >= num_actions()) {
      return absl::StrCat("last square ", last_square);
    }
    const int last_mover = count[0] == count[1] ? 1 : 0;
    if (last_square == -1 ? count[0] > 0 : cells[last_square] != last_mover) {
      return "the last stone is not where it should be";
    }
    // Puts all stones but the last, which must not have ended the game before.
    for (int square = 0; square < num_actions(); ++square) {
      if (cells[square] == kEmpty || square == last_square) continue;
      if (PutStone(square, cells[square])) return "play went on after five";
    }
    if (last_square >= 0) Play(last_square);
    return "";
  }

  int size_;
  int num_stones_ = 0;
  int winner_ = -1;
  int last_square_ = -1;
  int points_ = 0;  // of the lines of five, player 0's less player 1's
  std::array<int8_t, kMaxSize * kMaxSize> cells_;  // -1 empty, 0, 1; the first size * size count
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  const int size = static_cast<int>(given.Int("board_size"));
  EnvSpec spec;
  spec.id = options.id;
  spec.observation.shape = {3, size, size};
  spec.symmetries = SquareBoardSymmetries(size, 3);
  return MakeBoardEnv(std::move(spec), options, std::make_unique<GomokuBoard>(size), size * size);
}

}  // namespace

EnvRegistry::Entry GomokuEntry() {
  return NativeEntry(
      "gomoku", "Gomoku, five or more in a row, board_size 5 to 19",
      {EnvSetting::Int("board_size", 15, 5, kMaxSize, "rows and columns of the board")}, Make);
}

}  // namespace lzero
