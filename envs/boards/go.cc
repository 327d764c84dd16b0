#include "envs/boards/go.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_picture.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

GoBoard::GoBoard(const GoRules& rules) : rules_(rules), position_(rules.size) {
  LZ_CHECK(rules.size >= kMinSize && rules.size <= kMaxSize, "size ", rules.size);
}

void GoBoard::Play(int action) {
  LZ_CHECK(legal(action), "action ", action, " on\n", ToText());
  const bool second_pass = action == pass() && last_was_pass();
  bool repeats = false;
  if (action == pass()) {
    position_.ForgetKo();
  } else {
    position_.Place(to_play(), action);
    repeats = history_.Add(position_.hash());
  }
  moves_.push_back(static_cast<uint16_t>(action));
  finished_ = repeats || second_pass || static_cast<int>(moves_.size()) == longest_game();
  if (!finished_ || repeats) return;
  const double score = Score();
  winner_ = score > 0.0 ? 0 : score < 0.0 ? 1 : -1;
}

void GoBoard::FillLegalActions(absl::Span<uint8_t> mask) const {
  if (finished_) {
    std::fill(mask.begin(), mask.end(), uint8_t{0});
    return;
  }
  position_.FillPlaceable(to_play(), mask);
  mask[pass()] = 1;
  if (rules_.superko == Superko::kDraw) {
    if (position_.ko_point() != GoPosition::kNoPoint) mask[position_.ko_point()] = 0;
    return;
  }
  for (int point = 0; point < pass(); ++point) {
    if (mask[point] != 0 && IsForbiddenByKo(point)) mask[point] = 0;
  }
}

void GoBoard::FillForbiddenByKo(absl::Span<float> plane) const {
  std::fill(plane.begin(), plane.end(), 0.0f);
  if (rules_.superko == Superko::kDraw) {
    if (position_.ko_point() != GoPosition::kNoPoint) plane[position_.ko_point()] = 1.0f;
    return;
  }
  std::array<uint8_t, kMaxSize * kMaxSize> placeable;
  position_.FillPlaceable(to_play(), absl::MakeSpan(placeable).subspan(0, pass()));
  for (int point = 0; point < pass(); ++point) {
    if (placeable[point] != 0 && IsForbiddenByKo(point)) plane[point] = 1.0f;
  }
}

void GoBoard::FillPlanes(absl::Span<float> planes) const {
  const auto plane = [&](int i) { return planes.subspan(i * pass(), pass()); };
  position_.FillStones(to_play(), plane(0));
  position_.FillStones(1 - to_play(), plane(1));
  FillForbiddenByKo(plane(2));
  std::fill(plane(3).begin(), plane(3).end(), last_was_pass() ? 1.0f : 0.0f);
  std::fill(plane(4).begin(), plane(4).end(), to_play() == 0 ? 1.0f : 0.0f);
}

double GoBoard::Estimate() const {
  const double score = position_.NearerLead() - rules_.komi;
  const double lead = to_play() == 0 ? score : -score;
  return lead / (rules_.size + std::fabs(lead));
}

std::string GoBoard::StatusLine() const {
  if (!finished_) return to_play() == 0 ? "X to move\n" : "O to move\n";
  const double score = Score();
  if (winner_ < 0) return score == 0.0 ? "over: a draw\n" : "over: a draw by repetition\n";
  return absl::StrCat("over: ", winner_ == 0 ? "X" : "O", " wins by ", std::fabs(score), "\n");
}

std::string GoBoard::ToText() const {
  std::string text;
  for (int row = rules_.size - 1; row >= 0; --row) {
    absl::StrAppend(&text, row < 9 ? " " : "", row + 1, " ");
    for (int column = 0; column < rules_.size; ++column) {
      const int stone = position_.StoneAt(row * rules_.size + column);
      text += stone == 0 ? 'X' : stone == 1 ? 'O' : '.';
    }
    text += '\n';
  }
  text += "   ";
  for (int column = 0; column < rules_.size; ++column) {
    text += ColumnLetter(Coordinates::kRowOneAtBottomNoI, column);
  }
  return text + "\n" + StatusLine();
}

Image GoBoard::ToImage() const {
  const StoneGrid grid = WoodenGrid(rules_.size);
  Image image = WoodenBoard(grid);
  Canvas canvas(&image);
  const double radius = 0.47 * grid.cell;
  for (int point = 0; point < pass(); ++point) {
    const int stone = position_.StoneAt(point);
    const Point center = grid.At(rules_.size - 1 - point / rules_.size, point % rules_.size);
    if (stone >= 0) DrawStone(canvas, center, radius, stone);
    const bool is_last = !moves_.empty() && moves_.back() == point;
    if (is_last) DrawLastMove(canvas, center, radius, stone);
  }
  DrawCoordinates(canvas, grid, Coordinates::kRowOneAtBottomNoI, {92, 66, 32});
  return image;
}

absl::Status GoBoard::Load(StateReader& reader) {
  GoRules rules;
  rules.size = reader.Read<uint8_t>();
  rules.komi = reader.Read<double>();
  rules.superko = reader.Read<bool>() ? Superko::kPositional : Superko::kDraw;
  const std::vector<uint16_t> moves = reader.ReadVector<uint16_t>();
  if (rules != rules_) {
    return reader.Impossible(
        absl::StrCat("a game on ", rules.size, " x ", rules.size, " with komi ", rules.komi,
                     rules.superko == Superko::kPositional ? " and positional superko" : "",
                     ", other rules than here"));
  }
  GoBoard board(rules_);
  for (const uint16_t move : moves) {
    if (!board.legal(move)) {
      return reader.Impossible(
          absl::StrCat("move ", move, " as number ", board.moves_.size() + 1, " is illegal"));
    }
    board.Play(move);
  }
  *this = std::move(board);
  return absl::OkStatus();
}

EnvRegistry::Entry GoEntry() {
  const auto make = [](const EnvSettings& given, const EnvOptions& options) {
    const bool draws = given.Choice("superko") == "draw";
    auto start = std::make_unique<GoBoard>(GoRules{static_cast<int>(given.Int("board_size")),
                                                   given.Float("komi"),
                                                   draws ? Superko::kDraw : Superko::kPositional});
    const int size = start->rules().size, longest_game = start->longest_game();
    EnvSpec spec;
    spec.id = options.id;
    spec.observation.shape = {GoBoard::kNumPlanes, size, size};
    spec.symmetries = SquareBoardSymmetries(size, GoBoard::kNumPlanes, /*num_other_actions=*/1);
    return MakeBoardEnv(std::move(spec), options, std::move(start), longest_game);
  };
  return NativeEntry(
      "go", "Go, area scoring, board_size 5 to 19",
      {EnvSetting::Int("board_size", 9, GoBoard::kMinSize, GoBoard::kMaxSize, "rows, columns"),
       EnvSetting::Float("komi", 7.5, -361.0, 361.0, "points that white has more"),
       EnvSetting::Choice("superko", {"draw", "positional"},
                          "a move that recreates an earlier position: a draw, or illegal")},
      make);
}

}  // namespace lzero
