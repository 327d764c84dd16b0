#include "envs/teaching/catch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/canvas.h"

namespace lzero {
namespace {

constexpr int kBottom = Catch::kNumRows - 1;
constexpr Color kEvenCell = {24, 34, 58};
constexpr Color kOddCell = {30, 42, 70};
constexpr Color kBall = {250, 196, 84};
constexpr Color kPaddle = {110, 190, 240};

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> Catch::Create(const EnvOptions& options) {
  EnvSpec spec;
  spec.id = "catch";
  spec.observation = {{1, kNumRows, kNumColumns}, {0.0f}, {1.0f}};
  spec.action.num_actions = 3;
  spec.can_save = true;
  LZ_RETURN_IF_ERROR(CheckNoStepCap(spec.id, options, kBottom));
  LZ_RETURN_IF_ERROR(CheckNoRandomOpenings(spec.id, options));
  return std::unique_ptr<Env>(new Catch(std::move(spec)));
}

void Catch::StartGame(uint64_t seed) {
  RandomStream random(seed, "catch start");
  ball_row_ = 0;
  ball_column_ = static_cast<int>(random.UniformInt(kNumColumns));
  paddle_column_ = kNumColumns / 2;
}

EpisodeEnv::Outcome Catch::Advance(const Action& action) {
  paddle_column_ = std::clamp(paddle_column_ + action.index - 1, 0, kNumColumns - 1);
  ++ball_row_;
  if (ball_row_ < kBottom) return {0.0f, false};
  return {paddle_column_ == ball_column_ ? 1.0f : -1.0f, true};
}

void Catch::Observe(absl::Span<float> observation) const {
  std::fill(observation.begin(), observation.end(), 0.0f);
  observation[ball_row_ * kNumColumns + ball_column_] = 1.0f;
  observation[kBottom * kNumColumns + paddle_column_] = 1.0f;
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
  if (row < 0 || row > kBottom || column < 0 || column >= kNumColumns || paddle < 0 ||
      paddle >= kNumColumns) {
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
  for (int row = 0; row < kNumRows; ++row) {
    for (int column = 0; column < kNumColumns; ++column) {
      const bool ball = row == ball_row_ && column == ball_column_;
      const bool paddle = row == kBottom && column == paddle_column_;
      text += ball && paddle ? '*' : ball ? 'o' : paddle ? '=' : '.';
    }
    text += '\n';
  }
  return text;
}

absl::StatusOr<Image> Catch::RenderRgb() const {
  constexpr int kSide = 24;
  Image image(kNumColumns * kSide, kNumRows * kSide, kEvenCell);
  Canvas canvas(&image);
  for (int row = 0; row < kNumRows; ++row) {
    for (int column = (row + 1) % 2; column < kNumColumns; column += 2) {
      canvas.FillRectangle(column * kSide, row * kSide, kSide, kSide, kOddCell);
    }
  }
  constexpr double kThickness = 0.25 * kSide;
  const double paddle_top = image.height - kThickness - 1.0;
  canvas.FillRectangle(paddle_column_ * kSide + 1.0, paddle_top, kSide - 2.0, kThickness, kPaddle);
  // A ball that was caught lies on the paddle, one that was missed on the ground.
  const bool caught = ball_row_ == kBottom && ball_column_ == paddle_column_;
  constexpr double kRadius = 0.36 * kSide;
  const double ground = (ball_row_ + 1) * kSide - (caught ? kThickness + 1.0 : 1.0);
  canvas.FillCircle({(ball_column_ + 0.5) * kSide, ground - kRadius}, kRadius, kBall);
  return image;
}

}  // namespace lzero
