// Key to door: a key lies in the upper half of the first room and the player begins in the lower
// half; apples distract; the door of the last room opens for who took the key and pays final_reward
// (default 1), once. Taking the key pays nothing and shows a white square in the wall above it for
// one frame. Nothing in view tells later who has the key: a task for the assignment of credit over
// the distractor phase (the best play takes the key and goes to the door, whatever it remembers).
// explore_frames is 15 here. The best return is final_reward (apples pay 0 unless set): the return
// over final_reward is the success rate. Observations, actions and phases: memory_maze.h.
#ifndef LZERO_ENVS_MEMORY_KEY_TO_DOOR_H_
#define LZERO_ENVS_MEMORY_KEY_TO_DOOR_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/memory/memory_maze.h"

namespace lzero {

class KeyToDoor : public MemoryMaze {
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
  KeyToDoor(EnvSpec spec, const Rules& rules);

  const Map explore_room_;  // 'k': where the key can be; '+': where the player can begin
  const std::vector<int> key_cells_;
  const std::vector<int> start_cells_;
  int key_cell_ = 0;    // index into key_cells_
  int start_cell_ = 0;  // index into start_cells_
  bool key_is_taken_ = false;
  bool sign_is_shown_ = false;
  bool door_has_paid_ = false;
};

}  // namespace lzero

#endif  // LZERO_ENVS_MEMORY_KEY_TO_DOOR_H_
