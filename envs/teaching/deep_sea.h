// Deep Sea, by bsuite's rules: a diver starts in the top left cell of size x size cells and sinks
// one row a step, one column to the left or to the right; moving right costs 0.01 / size, and only
// the one who moved right every time finds the treasure at the bottom right: 1. Optimal return:
// 0.99. Which of the actions 0 and 1 moves right is drawn for every cell from mapping_seed, with
// NumPy's legacy generator as in bsuite, and stays the same in all episodes; or 1 does everywhere.
// Observation {1, size, size}: 1 at the diver, all 0 at the end. Episodes last `size` steps and
// know no chance. [bsuite/environments/deep_sea.py; Osband et al. 2019, Deep Exploration via
// Randomized Value Functions]
#ifndef LZERO_ENVS_TEACHING_DEEP_SEA_H_
#define LZERO_ENVS_TEACHING_DEEP_SEA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_registry.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/episode_env.h"

namespace lzero {

class DeepSea : public EpisodeEnv {
 public:
  // size, randomize_actions, mapping_seed.
  static std::vector<EnvSetting> Settings();

  // InvalidArgument for a setting that does not fit, a cap below the size or random openings.
  static absl::StatusOr<std::unique_ptr<Env>> Create(const EnvOptions& options);

  // A character for each cell: 'o' the diver, '$' where one moves right to the treasure, '0' and
  // '1' the action that moves right.
  absl::StatusOr<std::string> RenderText() const override;
  // About 200 pixels a side: the sea, the diver and the treasure.
  absl::StatusOr<Image> RenderRgb() const override;

 protected:
  void StartGame(uint64_t seed) override;
  Outcome Advance(const Action& action) override;
  void Observe(absl::Span<float> observation) const override;
  void SaveGame(StateWriter& writer) const override;
  absl::Status LoadGame(StateReader& reader) override;

 private:
  DeepSea(EnvSpec spec, int size, std::vector<uint8_t> right_action);

  // Index of the diver's cell; there is none after the end.
  size_t cell() const { return static_cast<size_t>(row_) * size_ + column_; }

  int size_;
  std::vector<uint8_t> right_action_;  // [size, size]
  int row_ = 0;                        // size at the end
  int column_ = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_TEACHING_DEEP_SEA_H_
