// Atari games as agents see them: an action is played for some frames, the brighter of the last two
// frames is shrunk and stacked, an episode begins after some no-ops. In training a lost life ends
// an episode and rewards are clipped to their sign. All of it is done here and nowhere else: the
// emulator steps single frames without sticky actions. [Mnih et al. 2015; Machado et al. 2018 for
// sticky actions]
#ifndef LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_
#define LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/env/env_setting.h"
#include "lzero/env/python/frames/area_resize.h"
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

class AtariView : public FrameView {
 public:
  // `spec` of an emulator that gives pictures [210 or so, 160, channels] of bytes.
  // InvalidArgument for anything else.
  static absl::Status CheckSpec(const WorkerSpec& spec, const AtariOptions& options);
  AtariView(const WorkerSpec& spec, const AtariOptions& options);

  int num_frames() const override { return 2; }
  int max_repeat() const override;
  ObservationSpec observation() const override;
  int64_t max_episode_steps() const override { return 0; }  // the view counts frames

  bool BeginEpisode(uint64_t seed) override;
  void Forget() override { goes_on_ = false; }
  std::vector<int32_t> Prelude() override;
  std::vector<int32_t> Repeats(int32_t action) override;
  absl::Status First(const WorkerResult& result) override;
  absl::StatusOr<ViewedStep> Next(const WorkerResult& result) override;
  void Observe(absl::Span<float> observation) const override;

  // The stacked frames [num_stacked * channels, size, size], oldest first.
  const std::vector<uint8_t>& frames() const { return stack_; }

 private:
  // Shrinks the newest frame, or the maximum of both, onto the end of the stack.
  void Push(const WorkerResult& result, bool both);

  const AtariOptions options_;
  const int channels_;
  const AreaResize resize_;
  std::optional<RandomStream> random_;
  bool goes_on_ = false;     // the last episode ended by a lost life only
  bool was_reset_ = false;   // the running episode began with a new game
  int32_t last_action_ = 0;  // of the frame before
  int32_t lives_ = 0;
  int64_t num_frames_ = 0;         // of the game, no-ops among them
  std::vector<uint8_t> brighter_;  // scratch [height, width, channels]
  std::vector<uint8_t> stack_;
};

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_FRAMES_ATARI_VIEW_H_
