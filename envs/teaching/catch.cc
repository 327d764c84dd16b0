#include "envs/teaching/catch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "envs/support/canvas.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr Color kEvenCell = {24, 34, 58};
constexpr Color kOddCell = {30, 42, 70};
constexpr Color kBall = {250, 196, 84};
constexpr Color kPaddle = {110, 190, 240};

}  // namespace

std::vector<EnvSetting> Catch::Settings() {
  return {EnvSetting::Int("rows", 10, 2, 1000, "of the board: a game has one step less"),
          EnvSetting::Int("columns", 5, 1, 1000, "of the board"),
          EnvSetting::Int("pixels", 1, 1, 64,
                          "a side of a cell in the observation; above 1 it is a picture of bytes")};
}

absl::StatusOr<std::unique_ptr<Env>> Catch::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "catch";
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(spec.id, Settings(), options.settings));
  const Board board = {static_cast<int>(settings.Int("rows")),
                       static_cast<int>(settings.Int("columns")),
                       static_cast<int>(settings.Int("pixels"))};
  const int reach = board.num_rows - 1;
  if (board.num_columns / 2 > reach) {
    return absl::InvalidArgumentError(absl::StrCat(
        "columns of 'catch' is ", board.num_columns, "; allowed with ", board.num_rows,
        " rows: at most ", 2 * reach + 1, ", or the paddle cannot reach the walls in time"));
  }
  const int64_t height = int64_t{board.num_rows} * board.pixels;
  const int64_t width = int64_t{board.num_columns} * board.pixels;
  spec.observation = {{1, height, width}, {0.0f}, {1.0f}};
  if (board.pixels > 1) spec.observation.type = ObservationType::kUint8;
  spec.action.num_actions = 3;
  spec.can_save = true;
  LZ_RETURN_IF_ERROR(CheckNoStepCap(spec.id, options, reach));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new Catch(std::move(spec), board));
}

void Catch::StartGame(uint64_t seed) {
  RandomStream random(seed, "catch start");
  ball_row_ = 0;
  ball_column_ = static_cast<int>(random.UniformInt(board_.num_columns));
  paddle_column_ = board_.num_columns / 2;
}

EpisodeEnv::Outcome Catch::Advance(const Action& action) {
  paddle_column_ = std::clamp(paddle_column_ + action.index - 1, 0, board_.num_columns - 1);
  ++ball_row_;
  if (ball_row_ < bottom()) return {0.0f, false};
  return {paddle_column_ == ball_column_ ? 1.0f : -1.0f, true};
}

void Catch::Observe(absl::Span<float> observation) const {
  std::fill(observation.begin(), observation.end(), 0.0f);
  Paint(ball_row_, ball_column_, observation);
  Paint(bottom(), paddle_column_, observation);
}

void Catch::Paint(int row, int column, absl::Span<float> observation) const {
  const int pixels = board_.pixels, width = board_.num_columns * pixels;
  for (int y = row * pixels; y < (row + 1) * pixels; ++y) {
    std::fill_n(observation.begin() + y * width + column * pixels, pixels, 1.0f);
  }
}

void Catch::SaveGame(StateWriter& writer) const {
  for (const int value : {ball_row_, ball_column_, paddle_column_}) {
    writer.Write(static_cast<int32_t>(value));
  }
}

absl::Status Catch::LoadGame(StateReader& reader) {
  const int32_t row = reader.Read<int32_t>();
  const int32_t column = reader.Read<int32_t>();
  const int32_t paddle = reader.Read<int32_t>();
  LZ_RETURN_IF_ERROR(reader.Finish());
  if (row < 0 || row > bottom() || column < 0 || column >= board_.num_columns || paddle < 0 ||
      paddle >= board_.num_columns) {
    return reader.Impossible(
        absl::StrCat("ball at row ", row, ", column ", column, "; paddle at ", paddle));
  }
  ball_row_ = row;
  ball_column_ = column;
  paddle_column_ = paddle;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Catch::RenderText() const {
  std::string text;
  for (int row = 0; row < board_.num_rows; ++row) {
    for (int column = 0; column < board_.num_columns; ++column) {
      const bool ball = row == ball_row_ && column == ball_column_;
      const bool paddle = row == bottom() && column == paddle_column_;
      text += ball && paddle ? '*' : ball ? 'o' : paddle ? '=' : '.';
    }
    text += '\n';
  }
  return text;
}

absl::StatusOr<Image> Catch::RenderRgb() const {
  constexpr int kSide = 24;
  Image image(board_.num_columns * kSide, board_.num_rows * kSide, kEvenCell);
  Canvas canvas(&image);
  for (int row = 0; row < board_.num_rows; ++row) {
    for (int column = (row + 1) % 2; column < board_.num_columns; column += 2) {
      canvas.FillRectangle(column * kSide, row * kSide, kSide, kSide, kOddCell);
    }
  }
  constexpr double kThickness = 0.25 * kSide;
  const double paddle_top = image.height - kThickness - 1.0;
  canvas.FillRectangle(paddle_column_ * kSide + 1.0, paddle_top, kSide - 2.0, kThickness, kPaddle);
  // A ball that was caught lies on the paddle, one that was missed on the ground.
  const bool caught = ball_row_ == bottom() && ball_column_ == paddle_column_;
  constexpr double kRadius = 0.36 * kSide;
  const double ground = (ball_row_ + 1) * kSide - (caught ? kThickness + 1.0 : 1.0);
  canvas.FillCircle({(ball_column_ + 0.5) * kSide, ground - kRadius}, kRadius, kBall);
  return image;
}

}  // namespace lzero
