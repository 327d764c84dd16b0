#include "envs/boards/gomoku.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_picture.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr int kMinSize = 5;
constexpr int kFive = 5;
constexpr int8_t kEmpty = -1;
constexpr std::array<std::array<int, 2>, 4> kDirections = {{{0, 1}, {1, 0}, {1, 1}, {1, -1}}};
// What a line of five with so many stones of one player and none of the other is worth, and how
// many such points make a half-won game.
constexpr std::array<int, kFive + 1> kLineValues = {0, 1, 5, 25, 125, 0};
constexpr double kHalfWon = 150.0;

}  // namespace

std::vector<EnvSetting> GomokuBoard::Settings() {
  return {EnvSetting::Int("board_size", 15, kMinSize, kMaxSize, "rows and columns of the board")};
}

absl::StatusOr<std::unique_ptr<Env>> GomokuBoard::CreateEnv(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "gomoku";
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(spec.id, Settings(), options.settings));
  const int size = static_cast<int>(settings.Int("board_size"));
  spec.observation.shape = {3, size, size};
  spec.symmetries = SquareBoardSymmetries(size, 3);
  return MakeBoardEnv(std::move(spec), options, std::make_unique<GomokuBoard>(size), size * size);
}

GomokuBoard::GomokuBoard(int size) : size_(size) {
  LZ_CHECK(size >= kMinSize && size <= kMaxSize, "a board of ", size, " rows");
  cells_.fill(kEmpty);
}

bool GomokuBoard::legal(int action) const {
  return action >= 0 && action < num_actions() && cells_[action] == kEmpty && !finished();
}

void GomokuBoard::Play(int action) {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  const int mover = to_play();
  PutStone(action, mover);
  if (HasFiveThrough(action)) winner_ = mover;
}

void GomokuBoard::PutStone(int square, int player) {
  const int gained = PointsGained(square, player);
  points_ += player == 0 ? gained : -gained;
  cells_[square] = static_cast<int8_t>(player);
  last_square_ = square;
  ++num_stones_;
}

bool GomokuBoard::HasFiveThrough(int square) const {
  const int row = square / size_;
  const int column = square % size_;
  const int8_t player = cells_[square];
  const auto run = [&](int down, int right) {
    int length = 0;
    int r = row + down;
    int c = column + right;
    while (length < kFive - 1 && on_board(r, c) && cells_[r * size_ + c] == player) {
      ++length;
      r += down;
      c += right;
    }
    return length;
  };
  return std::any_of(kDirections.begin(), kDirections.end(), [&](const auto& step) {
    return 1 + run(step[0], step[1]) + run(-step[0], -step[1]) >= kFive;
  });
}

int GomokuBoard::PointsGained(int square, int player) const {
  const int row = square / size_;
  const int column = square % size_;
  // Squares from here to the edge that a line of five through here can reach.
  const std::array<int, 3> rows = {std::min(row, kFive - 1), kFive - 1,
                                   std::min(size_ - 1 - row, kFive - 1)};
  const std::array<int, 3> columns = {std::min(column, kFive - 1), kFive - 1,
                                      std::min(size_ - 1 - column, kFive - 1)};
  int gained = 0;
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
      if (other == 0) {
        gained += kLineValues[own + 1] - kLineValues[own];
      } else if (own == 0) {
        gained += kLineValues[other];  // which the other loses
      }
      --count[cell[(1 - kFive) * step] + 1];
    }
  }
  return gained;
}

void GomokuBoard::FillLegalActions(absl::Span<uint8_t> mask) const {
  const bool over = finished();
  for (int square = 0; square < num_actions(); ++square) {
    mask[square] = !over && cells_[square] == kEmpty ? 1 : 0;
  }
}

void GomokuBoard::FillPlanes(absl::Span<float> planes) const {
  const int num_squares = num_actions();
  const int mover = to_play();
  for (int square = 0; square < num_squares; ++square) {
    planes[square] = cells_[square] == mover ? 1.0f : 0.0f;
    planes[num_squares + square] = cells_[square] == 1 - mover ? 1.0f : 0.0f;
    planes[2 * num_squares + square] = mover == 0 ? 1.0f : 0.0f;
  }
}

double GomokuBoard::Estimate() const {
  const int points = to_play() == 0 ? points_ : -points_;
  return points / (std::abs(points) + kHalfWon);
}

std::string GomokuBoard::ToText() const {
  std::string text;
  for (int row = 0; row < size_; ++row) {
    for (int column = 0; column < size_; ++column) text += ".XO"[owner(row, column) + 1];
    text += '\n';
  }
  return text;
}

Image GomokuBoard::ToImage() const {
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

void GomokuBoard::Save(StateWriter& writer) const {
  writer.WriteVector(std::vector<int8_t>(cells_.begin(), cells_.begin() + num_actions()));
  writer.Write(static_cast<int32_t>(last_square_));
}

absl::Status GomokuBoard::Load(StateReader& reader) {
  const std::vector<int8_t> cells = reader.ReadVector<int8_t>();
  const int32_t last_square = reader.Read<int32_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  GomokuBoard board(size_);
  const std::string problem = board.Rebuild(cells, last_square);
  if (!problem.empty()) return reader.Impossible(problem);
  *this = board;
  return absl::OkStatus();
}

std::string GomokuBoard::Rebuild(const std::vector<int8_t>& cells, int last_square) {
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
    if (cells[square] != kEmpty && square != last_square) PutStone(square, cells[square]);
  }
  for (int square = 0; square < num_actions(); ++square) {
    if (cells_[square] != kEmpty && HasFiveThrough(square)) return "play went on after five";
  }
  if (last_square >= 0) Play(last_square);
  return "";
}

}  // namespace lzero
