// Freeway of MinAtar: a chicken crosses eight rows of cars from the bottom to the top, a cell in
// three steps at most. Arriving pays 1, sends it back to the bottom and draws the cars' speeds
// anew; a car sends it back for nothing. The episode ends (terminated) after 2,501 steps: the
// package counts 2,500 down to below 0. [minatar/environments/freeway.py; what all games share:
// minatar_env.h]
#include <algorithm>
#include <array>
#include <cstdlib>

#include "envs/minatar/minatar_env.h"

namespace lzero {
namespace {

enum Channel { kChicken, kCar, kSpeed1 };

constexpr int kNumCars = 8;
constexpr int kSlowest = 5;  // steps from one move of a car to the next, less one
constexpr int kChickenX = 4;
constexpr int kStepsOfMove = 3;  // of the chicken

struct Car {
  int x = 0;
  int timer = 0;
  int speed = 1;  // steps of a move, less one, to the right; below 0 to the left
};

class Freeway {
 public:
  static constexpr std::array<MinAtarChannel, 7> kChannels = {
      {{"chicken", '@', {250, 235, 200}},
       {"car", 'A', {235, 80, 70}},
       {"speed 1", '1', {96, 110, 190}, /*is_behind=*/true},
       {"speed 2", '2', {80, 96, 160}, /*is_behind=*/true},
       {"speed 3", '3', {66, 82, 132}, /*is_behind=*/true},
       {"speed 4", '4', {54, 66, 106}, /*is_behind=*/true},
       {"speed 5", '5', {42, 52, 82}, /*is_behind=*/true}}};
  static constexpr std::array kActions = {MinAtarAction::kStay, MinAtarAction::kUp,
                                          MinAtarAction::kDown};
  static constexpr bool kCanRamp = false;
  static constexpr bool kHasChance = true;
  static constexpr int kLongest = 2501;

  explicit Freeway(NumpyLegacyRandom& random) { DrawSpeeds(random); }

  void Act(MinAtarTurn& turn) {
    if (MoveY(turn.action) != 0 && move_timer_ == 0) {
      move_timer_ = kStepsOfMove;
      y_ = std::min(y_ + MoveY(turn.action), kMinAtarLast);
    }
    if (y_ == 0) {
      turn.reward += 1.0f;
      DrawSpeeds(turn.random);
      y_ = kMinAtarLast;
    }
    for (int i = 0; i < kNumCars; ++i) {
      Meet(i);
      if (cars_[i].timer > 0) {
        --cars_[i].timer;
        continue;
      }
      cars_[i].timer = std::abs(cars_[i].speed);
      cars_[i].x = Ahead(cars_[i], 1);
      Meet(i);
    }
    move_timer_ = std::max(move_timer_ - 1, 0);
    turn.terminated = --steps_left_ == 0;
  }
  void Paint(MinAtarBoard& board) const {
    board.Mark(kChicken, kChickenX, y_);
    for (int i = 0; i < kNumCars; ++i) {
      board.Mark(kCar, cars_[i].x, i + 1);
      board.Mark(kSpeed1 + std::abs(cars_[i].speed) - 1, Ahead(cars_[i], -1), i + 1);
    }
  }
  void VisitFields(MinAtarFields& fields) {
    fields.Number(y_, 1, kMinAtarLast);
    fields.Number(move_timer_, 0, kStepsOfMove);
    fields.Number(steps_left_, 0, kLongest);
    for (Car& car : cars_) {
      fields.Number(car.x, 0, kMinAtarLast);
      fields.Number(car.timer, 0, kSlowest);
      fields.Number(car.speed, -kSlowest, kSlowest);
      if (car.speed == 0) car.speed = 1;
    }
  }

 private:
  // Speeds of all cars, then directions; cars stay where they are.
  void DrawSpeeds(NumpyLegacyRandom& random) {
    for (Car& car : cars_) {
      car.timer = car.speed = static_cast<int>(random.Randint(1, kSlowest + 1));
    }
    for (Car& car : cars_) {
      if (random.Random() < 0.5) car.speed = -car.speed;
    }
  }
  // The cell `count` before the car in its direction; rows are rings.
  static int Ahead(const Car& car, int count) {
    return (car.x + (car.speed > 0 ? count : -count) + kMinAtarSize) % kMinAtarSize;
  }
  void Meet(int car) {
    if (cars_[car].x == kChickenX && y_ == car + 1) y_ = kMinAtarLast;
  }

  int y_ = kMinAtarLast;  // the chicken's
  int move_timer_ = kStepsOfMove;
  int steps_left_ = kLongest;
  std::array<Car, kNumCars> cars_;  // of row 1, 2, ..
};

}  // namespace

EnvRegistry::Entry FreewayEntry() {
  return MinAtarEntry<Freeway>("minatar/freeway", "cross a road between cars (MinAtar)");
}

}  // namespace lzero
