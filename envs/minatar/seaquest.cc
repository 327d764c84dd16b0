// Seaquest of MinAtar: a submarine shoots fish and enemy submarines, 1 each, and picks up divers,
// six at most. Oxygen lasts 200 steps under water; coming up fills it and takes a diver, and with
// six on board pays one for each tenth of oxygen that was left. The episode ends on a fish, a
// submarine or its bullet, without oxygen, and on coming up without a diver. Every time up enemies
// come and move the faster, unless difficulty_ramping is no. As in the package, coming up with six
// divers leaves -1 on board, and coming up ends no episode until the count is 0 again.
// [minatar/environments/seaquest.py; what all games share: minatar_env.h]
#include <algorithm>
#include <array>
#include <vector>

#include "envs/minatar/minatar_env.h"

namespace lzero {
namespace {

enum Channel {
  kFront,
  kBack,
  kOwnBullet,
  kTrail,
  kEnemyBullet,
  kFish,
  kEnemySub,
  kOxygen,
  kDivers,  // on board
  kDiver
};

constexpr int kBottom = 8;  // row; below it are the gauges
constexpr int kFullOxygen = 200;
constexpr int kMostDivers = 6;
constexpr int kDiverSpawnSteps = 30;
constexpr int kDiverMoveSteps = 5;
constexpr int kOwnShotSteps = 5;
constexpr int kEnemyShotSteps = 10;
// A level is one step less between two spawns. Moves quicken with every other one.
constexpr int kLastLevel = 19;

// A bullet, a diver, a fish or a submarine.
struct Swimmer {
  int x = 0, y = 0;
  bool moves_right = false;
  int move_timer = 0;  // not of bullets
  int shot_timer = 0;  // of submarines

  void Move() { x += moves_right ? 1 : -1; }
  // Every `interval` + 1 steps; whether it moved.
  bool MoveWhenDue(int interval) {
    if (move_timer-- > 0) return false;
    move_timer = interval;
    Move();
    return true;
  }
  bool IsAt(int other_x, int other_y) const { return x == other_x && y == other_y; }
  bool is_off_board() const { return x < 0 || x > kMinAtarLast; }

  void VisitFields(MinAtarFields& fields) {
    fields.Number(x, 0, kMinAtarLast);
    fields.Number(y, 0, kBottom);
    fields.Number(moves_right, 0, 1);
    fields.Number(move_timer, 0, kDiverMoveSteps);
    fields.Number(shot_timer, 0, kEnemyShotSteps);
  }
};

// Takes the first that is where `other` is; whether there was one.
bool RemoveAt(std::vector<Swimmer>& swimmers, const Swimmer& other) {
  const auto found = std::find_if(swimmers.begin(), swimmers.end(), [&](const Swimmer& swimmer) {
    return swimmer.IsAt(other.x, other.y);
  });
  if (found == swimmers.end()) return false;
  swimmers.erase(found);
  return true;
}

// Lets each act, the last first; those for which `act` is true are gone. The package removes the
// first equal one instead: they differ only for bullets in one cell, which then are the same.
template <typename Act>
void ActAll(std::vector<Swimmer>& swimmers, const Act& act) {
  for (auto i = static_cast<int64_t>(swimmers.size()) - 1; i >= 0; --i) {
    if (act(swimmers[static_cast<size_t>(i)])) swimmers.erase(swimmers.begin() + i);
  }
}

class Seaquest {
 public:
  static constexpr std::array<MinAtarChannel, 10> kChannels = {
      {{"front of the submarine", '@', {250, 235, 200}},
       {"its back", 'o', {190, 168, 120}},
       {"its bullets", '*', {255, 255, 255}},
       {"trail", '-', {40, 62, 92}, /*is_behind=*/true},
       {"enemy bullets", '!', {255, 150, 60}},
       {"fish", 'f', {120, 200, 110}},
       {"enemy submarines", 's', {235, 80, 70}},
       {"oxygen", '=', {80, 160, 235}, /*is_behind=*/true},
       {"divers on board", '#', {250, 205, 70}},
       {"diver", 'd', {230, 190, 60}}}};
  static constexpr std::array kActions = {MinAtarAction::kStay, MinAtarAction::kLeft,
                                          MinAtarAction::kUp,   MinAtarAction::kRight,
                                          MinAtarAction::kDown, MinAtarAction::kFire};
  static constexpr bool kCanRamp = true;
  static constexpr bool kHasChance = true;
  static constexpr int kLongest = 0;

  explicit Seaquest(NumpyLegacyRandom&) {}

  void Act(MinAtarTurn& turn) {
    if (spawn_timer_ == 0) {
      SpawnEnemy(turn.random);
      spawn_timer_ = kLastLevel + 1 - level_;
    }
    if (diver_timer_ == 0) {
      SpawnDiver(turn.random);
      diver_timer_ = kDiverSpawnSteps;
    }
    MovePlayer(turn.action);
    MoveOwnBullets(turn);
    MoveDivers();
    MoveEnemies(turn);
    --spawn_timer_;
    --diver_timer_;
    shot_timer_ = std::max(shot_timer_ - 1, 0);
    Breathe(turn);
  }
  void Paint(MinAtarBoard& board) const {
    board.Mark(kFront, x_, y_);
    board.MarkBehind(kBack, x_, y_, faces_right_);
    for (int x = 0; x < std::max(0, oxygen_) * kMinAtarSize / kFullOxygen; ++x) {
      board.Mark(kOxygen, x, kMinAtarLast);
    }
    for (int x = kMinAtarLast - num_divers_; x < kMinAtarLast; ++x) {
      board.Mark(kDivers, x, kMinAtarLast);
    }
    const auto mark_all = [&](Channel channel, const std::vector<Swimmer>& swimmers,
                              bool has_trail = true) {
      for (const Swimmer& swimmer : swimmers) {
        board.Mark(channel, swimmer.x, swimmer.y);
        if (has_trail) board.MarkBehind(kTrail, swimmer.x, swimmer.y, swimmer.moves_right);
      }
    };
    mark_all(kOwnBullet, own_bullets_, /*has_trail=*/false);
    mark_all(kEnemyBullet, enemy_bullets_, /*has_trail=*/false);
    mark_all(kFish, fish_);
    mark_all(kEnemySub, enemy_subs_);
    mark_all(kDiver, divers_);
  }
  void VisitFields(MinAtarFields& fields) {
    fields.Number(x_, 0, kMinAtarLast);
    fields.Number(y_, 0, kBottom);
    fields.Number(faces_right_, 0, 1);
    fields.Number(is_up_, 0, 1);
    fields.Number(oxygen_, -1, kFullOxygen);
    fields.Number(num_divers_, -1'000'000'000, kMostDivers);
    fields.Number(spawn_timer_, 0, kLastLevel + 1);
    fields.Number(diver_timer_, 0, kDiverSpawnSteps);
    fields.Number(shot_timer_, 0, kOwnShotSteps);
    fields.Number(level_, 0, kLastLevel);
    for (auto* swimmers : {&own_bullets_, &enemy_bullets_, &fish_, &enemy_subs_, &divers_}) {
      fields.List(*swimmers);
    }
  }

 private:
  // A fish, or with one chance in three a submarine; none in a row where others swim against it.
  void SpawnEnemy(NumpyLegacyRandom& random) {
    const bool moves_right = random.Random() < 1.0 / 2.0;
    const bool is_sub = random.Random() < 1.0 / 3.0;
    const Swimmer enemy = {moves_right ? 0 : kMinAtarLast,
                           static_cast<int>(random.Randint(1, kBottom + 1)), moves_right,
                           enemy_move_steps(), is_sub ? kEnemyShotSteps : 0};
    const auto is_against = [&](const Swimmer& other) {
      return other.y == enemy.y && other.moves_right != moves_right;
    };
    if (std::any_of(enemy_subs_.begin(), enemy_subs_.end(), is_against)) return;
    if (std::any_of(fish_.begin(), fish_.end(), is_against)) return;
    (is_sub ? enemy_subs_ : fish_).push_back(enemy);
  }
  void SpawnDiver(NumpyLegacyRandom& random) {
    const bool moves_right = random.Random() < 1.0 / 2.0;
    const int y = static_cast<int>(random.Randint(1, kBottom + 1));
    divers_.push_back({moves_right ? 0 : kMinAtarLast, y, moves_right, kDiverMoveSteps});
  }
  void MovePlayer(MinAtarAction action) {
    if (action == MinAtarAction::kFire && shot_timer_ == 0) {
      own_bullets_.push_back({x_, y_, faces_right_});
      shot_timer_ = kOwnShotSteps;
    }
    x_ = std::clamp(x_ + MoveX(action), 0, kMinAtarLast);
    y_ = std::clamp(y_ + MoveY(action), 0, kBottom);
    if (MoveX(action) != 0) faces_right_ = MoveX(action) > 0;
  }
  void MoveOwnBullets(MinAtarTurn& turn) {
    ActAll(own_bullets_, [&](Swimmer& bullet) {
      bullet.Move();
      if (bullet.is_off_board()) return true;
      const bool has_hit = RemoveAt(fish_, bullet) || RemoveAt(enemy_subs_, bullet);
      if (has_hit) turn.reward += 1.0f;
      return has_hit;
    });
  }
  void MoveDivers() {
    ActAll(divers_, [&](Swimmer& diver) {
      const auto is_taken = [&] { return num_divers_ < kMostDivers && diver.IsAt(x_, y_); };
      if (is_taken() || (diver.MoveWhenDue(kDiverMoveSteps) && is_taken())) {
        ++num_divers_;
        return true;
      }
      return diver.is_off_board();
    });
  }
  // Submarines, then all bullets of enemies, then fish.
  void MoveEnemies(MinAtarTurn& turn) {
    const auto meet = [&](const Swimmer& enemy) {
      if (enemy.IsAt(x_, y_)) turn.terminated = true;
    };
    const auto move = [&](Swimmer& enemy) {  // whether it is gone
      meet(enemy);
      if (!enemy.MoveWhenDue(enemy_move_steps())) return false;
      if (enemy.is_off_board()) return true;
      meet(enemy);
      if (enemy.IsAt(x_, y_) || !RemoveAt(own_bullets_, enemy)) return false;
      turn.reward += 1.0f;
      return true;
    };
    ActAll(enemy_subs_, [&](Swimmer& sub) {
      const bool is_gone = move(sub);
      if (sub.shot_timer-- == 0) {  // also with the last breath
        sub.shot_timer = kEnemyShotSteps;
        enemy_bullets_.push_back({sub.x, sub.y, sub.moves_right});
      }
      return is_gone;
    });
    ActAll(enemy_bullets_, [&](Swimmer& bullet) {
      meet(bullet);
      bullet.Move();
      meet(bullet);
      return bullet.is_off_board();
    });
    ActAll(fish_, move);
  }
  void Breathe(MinAtarTurn& turn) {
    if (oxygen_ <= 0) turn.terminated = true;
    if (y_ > 0) {
      --oxygen_;
      is_up_ = false;
      return;
    }
    if (is_up_) return;
    if (num_divers_ == 0) {
      turn.terminated = true;
      return;
    }
    // Comes up.
    is_up_ = true;
    if (num_divers_ == kMostDivers) {
      turn.reward += static_cast<float>(oxygen_ * 10 / kFullOxygen);
      num_divers_ = 0;
    }
    --num_divers_;
    oxygen_ = kFullOxygen;
    if (turn.is_ramping) level_ = std::min(level_ + 1, kLastLevel);
  }
  int enemy_move_steps() const { return std::max(2, 5 - level_ / 2); }

  int x_ = 5, y_ = 0;  // the submarine's front
  bool faces_right_ = false;
  bool is_up_ = true;  // has been since the step before
  int oxygen_ = kFullOxygen;
  int num_divers_ = 0;
  int spawn_timer_ = kLastLevel + 1, diver_timer_ = kDiverSpawnSteps, shot_timer_ = 0;
  int level_ = 0;
  std::vector<Swimmer> own_bullets_, enemy_bullets_, fish_, enemy_subs_, divers_;
};

}  // namespace

EnvRegistry::Entry SeaquestEntry() {
  return MinAtarEntry<Seaquest>("minatar/seaquest",
                                "shoot fish, rescue divers, breathe in time (MinAtar)");
}

}  // namespace lzero
