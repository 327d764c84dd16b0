#include "envs/boards/go.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "envs/boards/board_env.h"
#include "envs/boards/board_symmetries.h"
#include "envs/boards/stone_picture.h"
#include "envs/support/canvas.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

std::vector<EnvSetting> GoBoard::Settings() {
  return {EnvSetting::Int("board_size", 9, GoBoard::kMinSize, GoBoard::kMaxSize, "rows, columns"),
          EnvSetting::Float("komi", 7.5, -361.0, 361.0, "points that white has more"),
          EnvSetting::Choice("superko", {"draw", "positional"},
                             "a move that recreates an earlier position: a draw, or illegal")};
}

absl::StatusOr<std::unique_ptr<Env>> GoBoard::CreateEnv(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "go";
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(spec.id, Settings(), options.settings));
  GoRules rules;
  rules.size = static_cast<int>(settings.Int("board_size"));
  rules.komi = settings.Float("komi");
  rules.superko = settings.Choice("superko") == "draw" ? Superko::kDraw : Superko::kPositional;
  auto start = std::make_unique<GoBoard>(rules);
  const int64_t longest_game = start->longest_game();
  spec.observation.shape = {GoBoard::kNumPlanes, rules.size, rules.size};
  spec.symmetries = SquareBoardSymmetries(rules.size, GoBoard::kNumPlanes, /*num_other_actions=*/1);
  return MakeBoardEnv(std::move(spec), options, std::move(start), longest_game);
}

GoBoard::GoBoard(const GoRules& rules) : rules_(rules), position_(rules.size) {
  LZ_CHECK(rules.size >= kMinSize && rules.size <= kMaxSize, "size ", rules.size);
}

bool GoBoard::IsForbiddenByKo(int point) const {
  if (rules_.superko == Superko::kDraw) return point == position_.ko_point();
  return history_.Contains(position_.HashAfter(to_play(), point));
}

bool GoBoard::legal(int action) const {
  if (finished_ || action < 0 || action > pass()) return false;
  return action == pass() || (position_.CanPlace(to_play(), action) && !IsForbiddenByKo(action));
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

void GoBoard::Save(StateWriter& writer) const {
  writer.Write(static_cast<uint8_t>(rules_.size));
  writer.Write(rules_.komi);
  writer.Write(rules_.superko == Superko::kPositional);
  writer.WriteVector(moves_);
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

}  // namespace lzero
