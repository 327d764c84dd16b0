// A ball falls one row a step through a board of 10 rows and 5 columns from a random column of the
// top row; the paddle in the bottom row starts in the middle and moves left, stays or moves right
// (0, 1, 2). After 9 steps the ball is down: 1 when the paddle is under it, else -1. Optimal
// return:
// 1. [bsuite's catch; start columns are our own stream]
// Observation {1, 10, 5}: 1 at ball and paddle, else 0; with the setting `pixels` each cell is a
// square of so many, a picture of bytes.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "envs/entries.h"
#include "envs/support/canvas.h"
#include "lzero/base/rng.h"
#include "lzero/env/episode_env.h"

namespace lzero {
namespace {

constexpr Color kEvenCell = {24, 34, 58};
constexpr Color kOddCell = {30, 42, 70};
constexpr Color kBall = {250, 196, 84};
constexpr Color kPaddle = {110, 190, 240};

class Catch : public EpisodeEnv {
 public:
  Catch(EnvSpec spec, int num_rows, int num_columns, int pixels)
      : EpisodeEnv(std::move(spec)),
        num_rows_(num_rows),
        num_columns_(num_columns),
        pixels_(pixels) {}

  // The board: 'o' ball, '=' paddle, '*' both.
  absl::StatusOr<std::string> RenderText() const override {
    std::string text;
    for (int row = 0; row < num_rows_; ++row) {
      for (int column = 0; column < num_columns_; ++column) {
        const bool ball = row == ball_row_ && column == ball_column_;
        const bool paddle = row == bottom() && column == paddle_column_;
        text += ball && paddle ? '*' : ball ? 'o' : paddle ? '=' : '.';
      }
      text += '\n';
    }
    return text;
  }
  // 24 x 24 pixels a cell: the falling ball above the paddle.
  absl::StatusOr<Image> RenderRgb() const override {
    constexpr int kSide = 24;
    Image image(num_columns_ * kSide, num_rows_ * kSide, kEvenCell);
    Canvas canvas(&image);
    for (int row = 0; row < num_rows_; ++row) {
      for (int column = (row + 1) % 2; column < num_columns_; column += 2) {
        canvas.FillRectangle(column * kSide, row * kSide, kSide, kSide, kOddCell);
      }
    }
    constexpr double kThickness = 0.25 * kSide;
    const double paddle_top = image.height - kThickness - 1.0;
    canvas.FillRectangle(paddle_column_ * kSide + 1.0, paddle_top, kSide - 2.0, kThickness,
                         kPaddle);
    // A ball that was caught lies on the paddle, one that was missed on the ground.
    const bool caught = ball_row_ == bottom() && ball_column_ == paddle_column_;
    constexpr double kRadius = 0.36 * kSide;
    const double ground = (ball_row_ + 1) * kSide - (caught ? kThickness + 1.0 : 1.0);
    canvas.FillCircle({(ball_column_ + 0.5) * kSide, ground - kRadius}, kRadius, kBall);
    return image;
  }
  void StartGame(uint64_t seed) override {
    RandomStream random(seed, "catch start");
    ball_row_ = 0;
    ball_column_ = static_cast<int>(random.UniformInt(num_columns_));
    paddle_column_ = num_columns_ / 2;
  }
  Outcome Advance(const Action& action) override {
    paddle_column_ = std::clamp(paddle_column_ + action.index - 1, 0, num_columns_ - 1);
    ++ball_row_;
    if (ball_row_ < bottom()) return {0.0f, false};
    return {paddle_column_ == ball_column_ ? 1.0f : -1.0f, true};
  }
  void Observe(absl::Span<float> observation) const override {
    std::fill(observation.begin(), observation.end(), 0.0f);
    Paint(ball_row_, ball_column_, observation);
    Paint(bottom(), paddle_column_, observation);
  }
  void SaveGame(StateWriter& writer) const override {
    for (const int value : {ball_row_, ball_column_, paddle_column_}) {
      writer.Write(static_cast<int32_t>(value));
    }
  }
  absl::Status LoadGame(StateReader& reader) override {
    const int32_t row = reader.Read<int32_t>();
    const int32_t column = reader.Read<int32_t>();
    const int32_t paddle = reader.Read<int32_t>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (row < 0 || row > bottom() || column < 0 || column >= num_columns_ || paddle < 0 ||
        paddle >= num_columns_) {
      return reader.Impossible(
          absl::StrCat("ball at row ", row, ", column ", column, "; paddle at ", paddle));
    }
    ball_row_ = row;
    ball_column_ = column;
    paddle_column_ = paddle;
    return absl::OkStatus();
  }

 private:
  int bottom() const { return num_rows_ - 1; }
  // Fills the square of a cell.
  void Paint(int row, int column, absl::Span<float> observation) const {
    const int width = num_columns_ * pixels_;
    for (int y = row * pixels_; y < (row + 1) * pixels_; ++y) {
      std::fill_n(observation.begin() + y * width + column * pixels_, pixels_, 1.0f);
    }
  }

  const int num_rows_, num_columns_;
  const int pixels_;  // a side of a cell in the observation
  int ball_row_ = 0;
  int ball_column_ = 0;
  int paddle_column_ = 0;
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  const int num_rows = static_cast<int>(given.Int("rows"));
  const int num_columns = static_cast<int>(given.Int("columns"));
  const int pixels = static_cast<int>(given.Int("pixels"));
  const int reach = num_rows - 1;
  if (num_columns / 2 > reach) {
    return absl::InvalidArgumentError(absl::StrCat(
        "columns of 'catch' is ", num_columns, "; allowed with ", num_rows, " rows: at most ",
        2 * reach + 1, ", or the paddle cannot reach the walls in time"));
  }
  EnvSpec spec;
  spec.observation = {{1, num_rows * pixels, num_columns * pixels}, {0.0f}, {1.0f}};
  if (pixels > 1) spec.observation.type = ObservationType::kUint8;
  spec.action.num_actions = 3;
  return MakeUncapped<Catch>(std::move(spec), options, reach, num_rows, num_columns, pixels);
}

}  // namespace

EnvRegistry::Entry CatchEntry() {
  return NativeEntry(
      "catch", "a paddle under a falling ball, on a 10x5 board (bsuite)",
      {EnvSetting::Int("rows", 10, 2, 1000, "of the board: a game has one step less"),
       EnvSetting::Int("columns", 5, 1, 1000, "of the board"),
       EnvSetting::Int("pixels", 1, 1, 64,
                       "a side of a cell in the observation; above 1 it is a picture of bytes")},
      Make);
}

}  // namespace lzero
