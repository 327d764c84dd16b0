// What the memory tasks share: an episode is three rooms of 7 x 11 squares, one after the other,
// each for a fixed number of steps. Explore shows what must be remembered (or has it picked up),
// distractor is a hall of apples, reward asks for it. A task adds its two rooms and their rules.
// [Hung et al. 2019, Optimizing agent behavior over long time scales by transporting value; the
// Pycolab tasks of that paper as LightZero's zoo/memory sets them, whose defaults these are]
#ifndef LZERO_ENVS_MEMORY_MEMORY_MAZE_H_
#define LZERO_ENVS_MEMORY_MEMORY_MAZE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/base/rng.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/episode_env.h"

namespace lzero {

// Actions: 0 up, 1 down, 2 left, 3 right; walls stop the player. Observation {3, 5, 5}: red, green
// and blue in 0 .. 1 of the 5 x 5 squares around the player, beyond the map the colour of the
// floor. (Pycolab's thousandths / 1000; LightZero shows the thousandths modulo 256, / 255.) A phase
// of n frames takes n steps, the n-th of which shows the next room already. Episodes end with the
// last frame and not before, terminated. Apples lie on random squares of the hall; one that is
// taken comes back on the first frame that is more than apple_respawn_frames later.
class MemoryMaze : public EpisodeEnv {
 public:
  static constexpr int kNumRows = 7;
  static constexpr int kNumColumns = 11;
  static constexpr int kNumCells = kNumRows * kNumColumns;
  static constexpr int kViewSize = 5;
  static constexpr int kNumApplePlaces = 22;

  // A room, row after row: '#' wall, ' ' floor, 'a' apple, 'b' blue, 'c' green, 'e' red, 'k' key,
  // 'd' door, 'i' the sign that the key was taken; '+' is the player.
  using Map = std::array<char, kNumCells>;

  enum class Phase : uint8_t { kExplore, kDistractor, kReward };
  static constexpr int kNumPhases = 3;

  struct Rules {
    std::array<int64_t, kNumPhases> frames = {};
    int num_apples = 0;
    double apple_reward_min = 0.0, apple_reward_max = 0.0;  // each apple pays a uniform draw
    int64_t apple_respawn_frames = 0;                       // 0: never
    double final_reward = 0.0;

    int64_t num_steps() const { return frames[0] + frames[1] + frames[2]; }
  };

  // The map and "explore, frame 0 of 1": the steps taken in this phase, and its length.
  absl::StatusOr<std::string> RenderText() const override;
  // The map, darker where the player does not see it.
  absl::StatusOr<Image> RenderRgb() const override;

  // What every memory task declares; the explore phase has a default of its own.
  static std::vector<EnvSetting> CommonSettings(int64_t explore_frames);
  // InvalidArgument when apple_reward_min is above apple_reward_max.
  static absl::StatusOr<Rules> ReadRules(const std::string& id, const EnvSettings& given);
  static EnvSpec MakeSpec(const Rules& rules);

 protected:
  // The two rooms of a task, and what tells one moment of it from another: numbers, each at least 0
  // and below its limit. The first are drawn for an episode, the last of these says at which '+' of
  // the explore room the player begins; the others begin as 0.
  struct Task {
    absl::string_view explore_room, reward_room;
    std::vector<int32_t> limits;
    int num_drawn = 0;
  };
  static constexpr int kMaxValues = 5;

  MemoryMaze(EnvSpec spec, const Rules& rules, Task task);

  // The squares of `symbol`, in reading order.
  static std::vector<int> CellsOf(absl::string_view map, char symbol);
  static int32_t CountOf(absl::string_view map, char symbol) {
    return static_cast<int32_t>(CellsOf(map, symbol).size());
  }
  static void Replace(Map& map, char symbol, char by) {
    std::replace(map.begin(), map.end(), symbol, by);
  }

  // Changes the explore or the reward room, in which no player is, to what it is now.
  virtual void ShowTask(Phase phase, Map& map) const = 0;
  // Whether the player cannot enter squares of `symbol`, which is no wall.
  virtual bool IsBarred(Phase phase, char symbol) const = 0;
  // What happens at `cell` of the explore or the reward room after every step, moved or not;
  // returns the reward.
  virtual double Arrive(Phase phase, int cell) = 0;
  // Whether these numbers, within their limits, can come together.
  virtual bool IsPossible(const std::vector<int32_t>& /*values*/) const { return true; }

  double final_reward() const { return rules_.final_reward; }

  void StartGame(uint64_t seed) final;
  Outcome Advance(const Action& action) final;
  void Observe(absl::Span<float> observation) const final;
  void SaveGame(StateWriter& writer) const final;
  absl::Status LoadGame(StateReader& reader) final;

  std::array<int32_t, kMaxValues> values_ = {};  // the numbers of the task

 private:
  struct Progress {
    Phase phase = Phase::kExplore;
    int64_t frame = 0;                           // steps taken in the phase
    int player = 0;                              // cell
    uint32_t apples = 0;                         // bit i: place i of the hall has one
    std::array<int64_t, kNumApplePlaces> taken;  // the frame an apple was taken last; -1: never
  };

  int64_t NumFrames(Phase phase) const { return rules_.frames[static_cast<size_t>(phase)]; }
  // Whether apple place `i` shows an apple after the update of `frame`.
  bool HasApple(int i, int64_t frame) const;
  // The room of the phase, without the player and with him.
  Map Room() const;
  Map Picture() const;
  void Move(int direction);
  double TakeApple();
  // Begins `phase` or, where that has no frames, the next; false when there is none.
  bool Enter(int phase);
  // What makes `progress` and the task impossible; empty: nothing.
  std::string Problem(const Progress& progress) const;

  bool AreValues(const std::vector<int32_t>& values) const;

  Rules rules_;
  Task task_;
  std::vector<int> starts_;            // the '+' of the explore room
  int reward_start_;                   // that of the reward room
  std::array<Map, kNumPhases> rooms_;  // without '+'
  Progress progress_;
  RandomStream random_{0};
};

}  // namespace lzero

#endif  // LZERO_ENVS_MEMORY_MEMORY_MAZE_H_
