// Atari games as agents see them: an action is played for some frames, the brighter of the last two
// frames is shrunk and stacked, an episode begins after some no-ops. In training a lost life ends
// an episode and rewards are clipped to their sign. All of it is done here and nowhere else: the
// emulator steps single frames without sticky actions. [Mnih et al. 2015; Machado et al. 2018 for
// sticky actions]
#ifndef LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_
#define LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/python/frames/frame_view.h"

namespace lzero {

struct AtariOptions {
  bool is_training = false;
  int screen_size = 64;
  bool is_grey = false;
  int num_stacked = 1;
  int frame_skip = 4;
  int mode = -1, difficulty = -1;   // as the game numbers them; -1: its first
  int max_noops = 30;               // an episode begins after 1 .. max_noops of them; 0: none
  double sticky_probability = 0.0;  // that a frame repeats the action of the frame before
  bool ends_at_lost_life = true;    // in training
  bool clips_rewards = true;        // in training
  bool has_all_actions = false;     // 18 for every game, not only those that do something
  int64_t max_frames = 108000;      // played of a game, then it is truncated

  // The settings of a benchmark preset, with what is set beside it.
  //   100k: no sticky actions, up to 30 no-ops, a lost life ends a training episode
  //   200m: sticky actions (0.25), no no-ops, whole games, all 18 actions
  static std::vector<EnvSetting> Settings();
  static AtariOptions Of(const EnvSettings& settings, bool is_training);
  // What the emulator is made with.
  EnvSettingTexts EmulatorSettings() const;
};

// A view of an emulator that gives pictures [210 or so, 160, channels] of bytes. InvalidArgument
// for a `spec` of anything else.
absl::StatusOr<std::unique_ptr<FrameView>> MakeAtariView(const WorkerSpec& spec,
                                                         const AtariOptions& options);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_
