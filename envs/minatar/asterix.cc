// Asterix of MinAtar: enemies and gold cross the rows 1 to 8, one at a time in each. The player
// moves among them: gold pays 1, an enemy ends the episode. Things come and move the faster the
// longer the game lasts, unless difficulty_ramping is no. [minatar/environments/asterix.py; what
// all games share: minatar_env.h]
#include <algorithm>
#include <array>

#include "envs/minatar/minatar_env.h"

namespace lzero {
namespace {

enum Channel { kPlayer, kEnemy, kTrail, kGold };

constexpr int kNumRows = 8;
// A level is one step less between two spawns. Moves quicken with every other one.
constexpr int kLastLevel = 9;
constexpr int kStepsOfLevel = 102;

// What crosses a row.
struct Thing {
  bool is_there = false;
  int x = 0;
  bool moves_right = false;
  bool is_gold = false;
};

class Asterix {
 public:
  static constexpr std::array<MinAtarChannel, 4> kChannels = {
      {{"player", '@', {96, 205, 255}},
       {"enemy", 'x', {235, 80, 70}},
       {"trail", '-', {84, 88, 100}, /*is_behind=*/true},
       {"gold", '$', {250, 205, 70}}}};
  static constexpr std::array kActions = {MinAtarAction::kStay, MinAtarAction::kLeft,
                                          MinAtarAction::kUp, MinAtarAction::kRight,
                                          MinAtarAction::kDown};
  static constexpr bool kCanRamp = true;
  static constexpr bool kHasChance = true;
  static constexpr int kLongest = 0;

  explicit Asterix(NumpyLegacyRandom&) {}

  void Act(MinAtarTurn& turn) {
    if (spawn_timer_ == 0) {
      Spawn(turn.random);
      spawn_timer_ = kLastLevel + 1 - level_;
    }
    x_ = std::clamp(x_ + MoveX(turn.action), 0, kMinAtarLast);
    y_ = std::clamp(y_ + MoveY(turn.action), 1, kNumRows);
    Touch(turn);
    if (move_timer_ == 0) {
      move_timer_ = 5 - level_ / 2;
      for (Thing& thing : things_) {
        if (!thing.is_there) continue;
        thing.x += thing.moves_right ? 1 : -1;
        if (thing.x < 0 || thing.x > kMinAtarLast) thing = {};
      }
      Touch(turn);
    }
    --spawn_timer_;
    --move_timer_;
    if (turn.is_ramping && level_ < kLastLevel && ++steps_of_level_ == kStepsOfLevel) {
      ++level_;
      steps_of_level_ = 0;
    }
  }
  void Paint(MinAtarBoard& board) const {
    board.Mark(kPlayer, x_, y_);
    for (int row = 0; row < kNumRows; ++row) {
      const Thing& thing = things_[row];
      if (!thing.is_there) continue;
      board.Mark(thing.is_gold ? kGold : kEnemy, thing.x, row + 1);
      board.MarkBehind(kTrail, thing.x, row + 1, thing.moves_right);
    }
  }
  void VisitFields(MinAtarFields& fields) {
    fields.Number(x_, 0, kMinAtarLast);
    fields.Number(y_, 1, kNumRows);
    fields.Number(spawn_timer_, 0, 10);
    fields.Number(move_timer_, 0, 5);
    fields.Number(level_, 0, kLastLevel);
    fields.Number(steps_of_level_, 0, kStepsOfLevel - 1);
    for (Thing& thing : things_) {
      fields.Number(thing.is_there, 0, 1);
      fields.Number(thing.x, 0, kMinAtarLast);
      fields.Number(thing.moves_right, 0, 1);
      fields.Number(thing.is_gold, 0, 1);
    }
  }

 private:
  // In a row that is free; none where all are taken.
  void Spawn(NumpyLegacyRandom& random) {
    const bool moves_right = random.Random() < 1.0 / 2.0;
    const bool is_gold = random.Random() < 1.0 / 3.0;
    std::vector<Thing*> free;
    for (Thing& thing : things_) {
      if (!thing.is_there) free.push_back(&thing);
    }
    if (free.empty()) return;
    const auto place = static_cast<size_t>(random.Randint(0, static_cast<int64_t>(free.size())));
    *free[place] = {true, moves_right ? 0 : kMinAtarLast, moves_right, is_gold};
  }
  // Where the player stands on something: gold is taken.
  void Touch(MinAtarTurn& turn) {
    Thing& thing = things_[y_ - 1];
    if (!thing.is_there || thing.x != x_) return;
    if (!thing.is_gold) {
      turn.terminated = true;
      return;
    }
    turn.reward += 1.0f;
    thing = {};
  }

  int x_ = 5, y_ = 5;  // the player's
  int spawn_timer_ = 10, move_timer_ = 5;
  int level_ = 0, steps_of_level_ = 0;
  std::array<Thing, kNumRows> things_;  // of row 1, 2, ..
};

}  // namespace

EnvRegistry::Entry AsterixEntry() {
  return MinAtarEntry<Asterix>("minatar/asterix", "take gold and avoid enemies (MinAtar)");
}

}  // namespace lzero
