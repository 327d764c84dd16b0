// Breakout of MinAtar: a ball that flies along diagonals, a paddle in the bottom row, three rows of
// bricks. A brick that the ball hits is gone and pays 1; all come back once the last is gone and
// the ball is down again. The episode ends where the ball misses the paddle. The ball starts at the
// left or at the right. [minatar/environments/breakout.py; what all games share: minatar_env.h]
#include <algorithm>
#include <array>

#include "envs/minatar/minatar_env.h"

namespace lzero {
namespace {

enum Channel { kPaddle, kBall, kTrail, kBrick };

constexpr int kFirstBrickRow = 1;
constexpr int kNumBricks = 3 * kMinAtarSize;

class Breakout {
 public:
  static constexpr std::array<MinAtarChannel, 4> kChannels = {
      {{"paddle", '=', {110, 190, 240}},
       {"ball", 'o', {250, 235, 200}},
       {"trail", '-', {120, 112, 96}, /*is_behind=*/true},
       {"brick", '#', {214, 108, 64}}}};
  static constexpr std::array kActions = {MinAtarAction::kStay, MinAtarAction::kLeft,
                                          MinAtarAction::kRight};
  static constexpr bool kCanRamp = false;
  static constexpr bool kHasChance = false;
  static constexpr int kLongest = 0;

  explicit Breakout(NumpyLegacyRandom& random) {
    if (random.Randint(0, 2) == 1) {
      x_ = kMinAtarLast;
      step_x_ = -1;
    }
    last_x_ = x_;
    bricks_.fill(true);
  }

  void Act(MinAtarTurn& turn) {
    paddle_ = std::clamp(paddle_ + MoveX(turn.action), 0, kMinAtarLast);
    last_x_ = x_;
    last_y_ = y_;
    // The walls turn the ball.
    x_ += step_x_;
    y_ += step_y_;
    if (x_ < 0 || x_ > kMinAtarLast) {
      x_ = last_x_;
      step_x_ = -step_x_;
    }
    const bool meets_brick = HasBrick();
    if (y_ < 0) {
      y_ = 0;
      step_y_ = -step_y_;
    } else if (meets_brick) {
      if (!met_brick_) BreakBrick(turn);
    } else if (y_ >= kMinAtarLast) {
      ReachBottom(turn);
    }
    met_brick_ = meets_brick;
  }
  void Paint(MinAtarBoard& board) const {
    board.Mark(kBall, x_, y_);
    board.Mark(kPaddle, paddle_, kMinAtarLast);
    board.Mark(kTrail, last_x_, last_y_);
    for (int i = 0; i < kNumBricks; ++i) {
      if (!bricks_[i]) continue;
      board.Mark(kBrick, i % kMinAtarSize, kFirstBrickRow + i / kMinAtarSize);
    }
  }
  void VisitFields(MinAtarFields& fields) {
    for (int* place : {&x_, &y_, &last_x_, &last_y_, &paddle_}) {
      fields.Number(*place, 0, kMinAtarLast);
    }
    for (int* step : {&step_x_, &step_y_}) {
      bool is_forward = *step > 0;
      fields.Number(is_forward, 0, 1);
      *step = is_forward ? 1 : -1;
    }
    fields.Number(met_brick_, 0, 1);
    for (bool& brick : bricks_) fields.Number(brick, 0, 1);
  }

 private:
  // Index of the ball's cell in bricks_; out of range where no bricks can be.
  int cell() const { return (y_ - kFirstBrickRow) * kMinAtarSize + x_; }
  bool HasBrick() const { return cell() >= 0 && cell() < kNumBricks && bricks_[cell()]; }

  void BreakBrick(MinAtarTurn& turn) {
    turn.reward += 1.0f;
    bricks_[cell()] = false;
    y_ = last_y_;
    step_y_ = -step_y_;
  }
  void ReachBottom(MinAtarTurn& turn) {
    if (std::find(bricks_.begin(), bricks_.end(), true) == bricks_.end()) bricks_.fill(true);
    if (last_x_ != paddle_ && x_ != paddle_) {
      turn.terminated = true;
      return;
    }
    // On, upward, or back where it came from when only the cell ahead is the paddle's.
    if (last_x_ != paddle_) step_x_ = -step_x_;
    y_ = last_y_;
    step_y_ = -step_y_;
  }

  int x_ = 0, y_ = 3;  // the ball's
  int last_x_ = 0, last_y_ = 3;
  int step_x_ = 1, step_y_ = 1;  // 1 or -1
  int paddle_ = 4;
  bool met_brick_ = false;  // at the step before: then the ball flies through bricks
  std::array<bool, kNumBricks> bricks_ = {};
};

}  // namespace

EnvRegistry::Entry BreakoutEntry() {
  return MinAtarEntry<Breakout>("minatar/breakout", "break bricks with a ball (MinAtar)");
}

}  // namespace lzero
