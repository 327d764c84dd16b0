// Visual match: a colour is shown, apples distract, then one of three pads, blue, green and red,
// must be chosen: the one of that colour pays final_reward (default 1), the others nothing, and
// after the first choice all pads are gone. The pads are always in this order, so that the reward
// room says nothing about the colour: who does not remember it is right with probability 1/3.
// passive (default): the player stands walled in beside the colour for explore_frames = 1 frame.
// active: the colour is somewhere in the wall of a room that the player must look through; give it
// explore_frames, such as 15. The best return is final_reward (apples pay 0 unless set): the return
// over final_reward is the success rate. Observations, actions and phases: memory_maze.h.
#include "absl/strings/string_view.h"
#include "envs/entries.h"
#include "envs/memory/memory_maze.h"

namespace lzero {
namespace {

constexpr absl::string_view kColours = "bce";  // blue, green, red

// 'p': where the colour can be; '+': where the player can begin.
constexpr absl::string_view kPassiveRoom =
    "           "
    "    ppp    "
    "    p+p    "
    "    ppp    "
    "           "
    "           "
    "           ";

constexpr absl::string_view kActiveRoom =
    "  ppppppp  "
    "  p     p  "
    "  p     p  "
    "  pp   pp  "
    "  p+++++p  "
    "  p+++++p  "
    "  ppppppp  ";

constexpr absl::string_view kRewardRoom =
    "###########"
    "# b  c  e #"
    "#         #"
    "#         #"
    "####   ####"
    "   # + #   "
    "   #####   ";

class VisualMatch : public MemoryMaze {
 public:
  VisualMatch(EnvSpec spec, const Rules& rules, absl::string_view room)
      : MemoryMaze(
            std::move(spec), rules,
            {room,
             kRewardRoom,
             {static_cast<int32_t>(kColours.size()), CountOf(room, 'p'), CountOf(room, '+'), 2},
             /*num_drawn=*/3}),
        colour_cells_(CellsOf(room, 'p')) {}
  void ShowTask(Phase phase, Map& map) const override {
    if (phase == Phase::kExplore) {
      Replace(map, 'p', '#');
      map[colour_cells_[colour_cell_]] = kColours[colour_];
    } else if (has_chosen_) {
      for (const char pad : kColours) Replace(map, pad, ' ');
    }
  }
  bool IsBarred(Phase phase, char symbol) const override {
    return phase == Phase::kExplore && symbol == kColours[colour_];
  }
  double Arrive(Phase phase, int cell) override {
    if (phase == Phase::kExplore || has_chosen_) return 0.0;
    const char symbol = kRewardRoom[cell];
    has_chosen_ = kColours.find(symbol) != kColours.npos;
    return symbol == kColours[colour_] ? final_reward() : 0.0;
  }

 private:
  const std::vector<int> colour_cells_;
  const int32_t& colour_ = values_[0];       // index into kColours
  const int32_t& colour_cell_ = values_[1];  // index into colour_cells_
  int32_t& has_chosen_ = values_[3];         // 0 or 1
};

absl::StatusOr<std::unique_ptr<Env>> Make(const EnvSettings& given, const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const MemoryMaze::Rules rules, MemoryMaze::ReadRules(options.id, given));
  return MakeUncapped<VisualMatch>(
      MemoryMaze::MakeSpec(rules), options, rules.num_steps(), rules,
      given.Choice("explore_room") == "active" ? kActiveRoom : kPassiveRoom);
}

}  // namespace

EnvRegistry::Entry VisualMatchEntry() {
  std::vector<EnvSetting> settings = MemoryMaze::CommonSettings(/*explore_frames=*/1);
  settings.push_back(EnvSetting::Choice("explore_room", {"passive", "active"},
                                        "whether the colour is in view or must be looked for"));
  return NativeEntry("visual_match", "remember a colour past a hall of apples (Hung et al. 2019)",
                     settings, Make);
}

}  // namespace lzero
