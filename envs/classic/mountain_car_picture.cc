#include "envs/classic/mountain_car_picture.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "envs/classic/text_canvas.h"
#include "envs/support/canvas.h"

namespace lzero {
namespace {

constexpr double kLeft = -1.2;
constexpr double kRight = 0.6;

constexpr int kWidth = 300;
constexpr int kHeight = 200;
constexpr double kScale = kWidth / (kRight - kLeft);  // pixels a unit
constexpr Color kSky = {235, 243, 250};
constexpr Color kGround = {126, 158, 108};
constexpr Color kGrass = {74, 112, 62};
constexpr Color kCar = {40, 44, 52};
constexpr Color kWheel = {140, 140, 140};
constexpr Color kPole = {40, 40, 40};
constexpr Color kFlag = {214, 178, 0};

// The hill of the dynamics, whose slope is proportional to cos(3 x).
double HeightAt(double x) { return 0.45 * std::sin(3 * x) + 0.55; }

double PixelX(double x) { return (x - kLeft) * kScale; }
double PixelY(double height) { return kHeight - height * kScale; }

}  // namespace

std::string MountainCarText(double position, double velocity, double goal) {
  constexpr int kColumns = 55;
  constexpr int kRows = 11;
  const auto place = [](double x) {
    return Point{(x - kLeft) / (kRight - kLeft) * (kColumns - 1),
                 (1.0 - HeightAt(x)) * (kRows - 1) + 1.0};
  };
  TextCanvas canvas(kColumns, kRows);
  for (int column = 0; column < kColumns; ++column) {
    canvas.Put(place(kLeft + (kRight - kLeft) * column / (kColumns - 1)), '.');
  }
  canvas.Put({place(goal).x, place(goal).y - 1.0}, 'F');
  canvas.Put({place(position).x, place(position).y - 1.0}, 'o');
  return absl::StrCat(canvas.Text(), "position ", position, "  velocity ", velocity, "\n");
}

Image MountainCarPicture(double position, double goal) {
  Image image(kWidth, kHeight, kSky);
  Canvas canvas(&image);
  for (int x = 0; x < kWidth; ++x) {
    const double top = PixelY(HeightAt(kLeft + (x + 0.5) / kScale));
    canvas.FillRectangle(x, top, 1, kHeight - top, kGround);
    canvas.FillRectangle(x, top, 1, 3, kGrass);
  }
  const double foot = PixelY(HeightAt(goal));
  const double flag = PixelX(goal);
  canvas.Line({flag, foot}, {flag, foot - 28}, 2, kPole);
  canvas.FillPolygon({{flag, foot - 28}, {flag, foot - 18}, {flag + 15, foot - 23}}, kFlag);

  // A point of the car: `along` the slope, `above` the ground.
  const double slope = std::atan(3 * 0.45 * std::cos(3 * position));
  const auto place = [&](double along, double above) {
    return Point{PixelX(position) + along * std::cos(slope) - above * std::sin(slope),
                 PixelY(HeightAt(position)) - along * std::sin(slope) - above * std::cos(slope)};
  };
  canvas.FillPolygon({place(-11, 4), place(11, 4), place(11, 10), place(-11, 10)}, kCar);
  canvas.FillPolygon({place(-7, 10), place(6, 10), place(4, 15), place(-5, 15)}, kCar);
  canvas.FillCircle(place(-6, 4), 4, kWheel);
  canvas.FillCircle(place(6, 4), 4, kWheel);
  return image;
}

}  // namespace lzero
