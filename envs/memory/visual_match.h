// Visual match: a colour is shown, apples distract, then one of three pads, blue, green and red,
// must be chosen: the one of that colour pays final_reward (default 1), the others nothing, and
// after the first choice all pads are gone. The pads are always in this order, so that the reward
// room says nothing about the colour: who does not remember it is right with probability 1/3.
// passive (default): the player stands walled in beside the colour for explore_frames = 1 frame.
// active: the colour is somewhere in the wall of a room that the player must look through; give it
// explore_frames, such as 15. The best return is final_reward (apples pay 0 unless set): the return
// over final_reward is the success rate. Observations, actions and phases: memory_maze.h.
#ifndef LZERO_ENVS_MEMORY_VISUAL_MATCH_H_
#define LZERO_ENVS_MEMORY_VISUAL_MATCH_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/memory/memory_maze.h"

namespace lzero {

class VisualMatch : public MemoryMaze {
 public:
  // InvalidArgument for a bad setting, a cap below the length of an episode or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);
  static std::vector<EnvSetting> Settings();

 protected:
  void StartTask(RandomStream& random) override;
  Map TaskMap(Phase phase) const override;
  int StartCell(Phase phase) const override;
  bool IsBarred(Phase phase, char symbol) const override;
  double Arrive(Phase phase, int cell) override;
  std::vector<int32_t> TaskValues() const override;
  bool SetTask(const std::vector<int32_t>& values) override;

 private:
  VisualMatch(EnvSpec spec, const Rules& rules, bool active);

  const Map explore_room_;  // 'p': where the colour can be; '+': where the player can begin
  const std::vector<int> colour_cells_;
  const std::vector<int> start_cells_;
  int colour_ = 0;       // 0 blue, 1 green, 2 red
  int colour_cell_ = 0;  // index into colour_cells_
  int start_cell_ = 0;   // index into start_cells_
  bool has_chosen_ = false;
};

}  // namespace lzero

#endif  // LZERO_ENVS_MEMORY_VISUAL_MATCH_H_
