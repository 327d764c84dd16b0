// Space Invaders of MinAtar: aliens march to and fro and come down a row at each edge; the nearest
// one shoots every tenth step. The cannon in the bottom row shoots them, 1 each. The episode ends
// where a bullet or an alien reaches the cannon, and where aliens in the bottom row are to come
// down. Few aliens march faster, and so does each new wave, unless difficulty_ramping is no.
// [minatar/environments/space_invaders.py; what all games share: minatar_env.h]
#include <algorithm>
#include <array>
#include <bit>

#include "envs/minatar/minatar_env.h"

namespace lzero {
namespace {

enum Channel { kCannon, kAlien, kAlienLeft, kAlienRight, kOwnBullet, kEnemyBullet };

constexpr int kOwnShotSteps = 5;
constexpr int kAlienShotSteps = 10;
constexpr int kSlowestMarch = 12;  // steps from one move to the next, of the first wave
constexpr int kLastLevel = 6;      // each one step less

// Row y from the top; bit x is column x.
using Rows = std::array<uint16_t, kMinAtarSize>;
constexpr uint16_t kFullRow = (1 << kMinAtarSize) - 1;
constexpr uint16_t kWaveRow = 0b0011111100;

uint16_t Bit(int x) { return static_cast<uint16_t>(1 << x); }

class SpaceInvaders {
 public:
  static constexpr std::array<MinAtarChannel, 6> kChannels = {
      {{"cannon", '@', {96, 205, 255}},
       {"alien", 'a', {120, 200, 110}, /*is_behind=*/true},
       {"alien on the way left", '<', {120, 200, 110}},
       {"alien on the way right", '>', {170, 214, 90}},
       {"bullet of the cannon", '*', {255, 255, 255}},
       {"bullet of an alien", '!', {255, 150, 60}}}};
  static constexpr std::array kActions = {MinAtarAction::kStay, MinAtarAction::kLeft,
                                          MinAtarAction::kRight, MinAtarAction::kFire};
  static constexpr bool kCanRamp = true;
  static constexpr bool kHasChance = false;
  static constexpr int kLongest = 0;

  explicit SpaceInvaders(NumpyLegacyRandom&) { SendWave(); }

  void Act(MinAtarTurn& turn) {
    if (turn.action == MinAtarAction::kFire && shot_timer_ == 0) {
      own_bullets_[kMinAtarLast] |= Bit(x_);
      shot_timer_ = kOwnShotSteps;
    }
    x_ = std::clamp(x_ + MoveX(turn.action), 0, kMinAtarLast);
    // Bullets fly one row.
    std::rotate(own_bullets_.begin(), own_bullets_.begin() + 1, own_bullets_.end());
    own_bullets_[kMinAtarLast] = 0;
    ToNextRow(alien_bullets_);
    alien_bullets_[0] = 0;
    if (Hits(alien_bullets_) || Hits(aliens_)) turn.terminated = true;
    if (march_timer_ == 0) March(turn);
    if (alien_shot_timer_ == 0) {
      alien_shot_timer_ = kAlienShotSteps;
      ShootAtCannon();
    }
    // Aliens and bullets in one cell are gone.
    for (int y = 0; y < kMinAtarSize; ++y) {
      const auto hit = static_cast<uint16_t>(aliens_[y] & own_bullets_[y]);
      turn.reward += static_cast<float>(std::popcount(hit));
      aliens_[y] ^= hit;
      own_bullets_[y] ^= hit;
    }
    shot_timer_ = std::max(shot_timer_ - 1, 0);
    --march_timer_;
    --alien_shot_timer_;
    if (NumAliens() > 0) return;
    if (turn.is_ramping) level_ = std::min(level_ + 1, kLastLevel);
    SendWave();
  }
  void Paint(MinAtarBoard& board) const {
    board.Mark(kCannon, x_, kMinAtarLast);
    const auto mark = [&](Channel channel, const Rows& rows) {
      for (int y = 0; y < kMinAtarSize; ++y) {
        for (unsigned rest = rows[y]; rest != 0; rest &= rest - 1) {
          board.Mark(channel, std::countr_zero(rest), y);
        }
      }
    };
    mark(kAlien, aliens_);
    mark(marches_right_ ? kAlienRight : kAlienLeft, aliens_);
    mark(kOwnBullet, own_bullets_);
    mark(kEnemyBullet, alien_bullets_);
  }
  void VisitFields(MinAtarFields& fields) {
    fields.Number(x_, 0, kMinAtarLast);
    fields.Number(marches_right_, 0, 1);
    fields.Number(march_timer_, 0, kSlowestMarch);
    fields.Number(alien_shot_timer_, 0, kAlienShotSteps);
    fields.Number(shot_timer_, 0, kOwnShotSteps);
    fields.Number(level_, 0, kLastLevel);
    for (Rows* rows : {&aliens_, &own_bullets_, &alien_bullets_}) {
      for (uint16_t& row : *rows) fields.Number(row, 0, kFullRow);
    }
    if (NumAliens() == 0) SendWave();
  }

 private:
  void SendWave() { std::fill_n(aliens_.begin(), 4, kWaveRow); }
  int NumAliens() const {
    int count = 0;
    for (const uint16_t row : aliens_) count += std::popcount(row);
    return count;
  }
  bool Hits(const Rows& rows) const { return (rows[kMinAtarLast] & Bit(x_)) != 0; }
  // The last row becomes the first.
  static void ToNextRow(Rows& rows) { std::rotate(rows.begin(), rows.end() - 1, rows.end()); }
  // Sideways, or down and round at an edge. Aliens that cannot come down further end the episode.
  void March(MinAtarTurn& turn) {
    march_timer_ = std::min(NumAliens(), kSlowestMarch - level_);
    uint16_t columns = 0;
    for (const uint16_t row : aliens_) columns |= row;
    if ((columns & Bit(marches_right_ ? kMinAtarLast : 0)) != 0) {
      marches_right_ = !marches_right_;
      if (aliens_[kMinAtarLast] != 0) turn.terminated = true;
      ToNextRow(aliens_);
    } else {
      for (uint16_t& row : aliens_) {
        row = static_cast<uint16_t>(marches_right_ ? row << 1 : row >> 1);
      }
    }
    if (Hits(aliens_)) turn.terminated = true;
  }
  // From the lowest alien of the nearest column that has some, the left one of two.
  void ShootAtCannon() {
    for (int distance = 0; distance < kMinAtarSize; ++distance) {
      for (const int x : {x_ - distance, x_ + distance}) {
        if (x < 0 || x > kMinAtarLast) continue;
        for (int y = kMinAtarLast; y >= 0; --y) {
          if ((aliens_[y] & Bit(x)) == 0) continue;
          alien_bullets_[y] |= Bit(x);
          return;
        }
      }
    }
  }

  int x_ = 5;  // the cannon's
  bool marches_right_ = false;
  int march_timer_ = kSlowestMarch, alien_shot_timer_ = kAlienShotSteps, shot_timer_ = 0;
  int level_ = 0;
  Rows aliens_ = {}, own_bullets_ = {}, alien_bullets_ = {};
};

}  // namespace

EnvRegistry::Entry SpaceInvadersEntry() {
  return MinAtarEntry<SpaceInvaders>("minatar/space_invaders",
                                     "shoot aliens before they land (MinAtar)");
}

}  // namespace lzero
