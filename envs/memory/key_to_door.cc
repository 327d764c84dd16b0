// Key to door: a key lies in the upper half of the first room and the player begins in the lower
// half; apples distract; the door of the last room opens for who took the key and pays final_reward
// (default 1), once. Taking the key pays nothing and shows a white square in the wall above it for
// one frame. Nothing in view tells later who has the key: a task for the assignment of credit over
// the distractor phase (the best play takes the key and goes to the door, whatever it remembers).
// explore_frames is 15 here. The best return is final_reward (apples pay 0 unless set): the return
// over final_reward is the success rate. Observations, actions and phases: memory_maze.h.
#include "absl/strings/string_view.h"
#include "envs/entries.h"
#include "envs/memory/memory_maze.h"

namespace lzero {
namespace {

// 'k': where the key can be; '+': where the player can begin.
constexpr absl::string_view kExploreRoom =
    "  #######  "
    "  #kkkkk#  "
    "  #kkkkk#  "
    "  ##   ##  "
    "  #+++++#  "
    "  #+++++#  "
    "  #######  ";
constexpr int kSignCell = 5;  // in the middle of the top wall

constexpr absl::string_view kRewardRoom =
    "           "
    "   ##d##   "
    "   #   #   "
    "   # + #   "
    "   #   #   "
    "   #####   "
    "           ";

class KeyToDoor : public MemoryMaze {
 public:
  KeyToDoor(EnvSpec spec, const Rules& rules)
      : MemoryMaze(std::move(spec), rules,
                   {kExploreRoom,
                    kRewardRoom,
                    {CountOf(kExploreRoom, 'k'), CountOf(kExploreRoom, '+'), 2, 2, 2},
                    /*num_drawn=*/2}) {}
  void ShowTask(Phase phase, Map& map) const override {
    if (phase != Phase::kExplore) return;
    Replace(map, 'k', ' ');
    if (!key_is_taken_) map[key_cells_[key_]] = 'k';
    if (sign_is_shown_) map[kSignCell] = 'i';
  }
  bool IsBarred(Phase, char symbol) const override {
    return symbol == 'i' || (symbol == 'd' && !key_is_taken_);
  }
  double Arrive(Phase phase, int cell) override {
    if (phase == Phase::kExplore) {
      sign_is_shown_ = !key_is_taken_ && cell == key_cells_[key_];
      key_is_taken_ = key_is_taken_ || sign_is_shown_;
      return 0.0;
    }
    if (kRewardRoom[cell] != 'd' || door_has_paid_) return 0.0;
    door_has_paid_ = 1;
    return final_reward();
  }
  bool IsPossible(const std::vector<int32_t>& values) const override {
    return values[2] == 1 || (values[3] == 0 && values[4] == 0);
  }

 private:
  const std::vector<int> key_cells_ = CellsOf(kExploreRoom, 'k');
  const int32_t& key_ = values_[0];  // index into key_cells_
  // 0 or 1.
  int32_t& key_is_taken_ = values_[2];
  int32_t& sign_is_shown_ = values_[3];
  int32_t& door_has_paid_ = values_[4];
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const MemoryMaze::Rules rules, MemoryMaze::ReadRules(options.id, given));
  return MakeUncapped<KeyToDoor>(MemoryMaze::MakeSpec(rules), options, rules.num_steps(), rules);
}

}  // namespace

EnvRegistry::Entry KeyToDoorEntry() {
  return NativeEntry("key_to_door", "take a key that opens a door much later (Hung et al. 2019)",
                     MemoryMaze::CommonSettings(/*explore_frames=*/15), Make);
}

}  // namespace lzero
