#include "lzero/env/python/frames/atari_view.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/env/python/frames/area_resize.h"

namespace lzero {
namespace {

constexpr int32_t kNoop = 0;

class AtariView : public FrameView {
 public:
  AtariView(const WorkerSpec& spec, const AtariOptions& options)
      : FrameView(spec),
        options_(options),
        channels_(static_cast<int>(spec.observation.shape[2])),
        resize_(static_cast<int>(spec.observation.shape[0]),
                static_cast<int>(spec.observation.shape[1]), channels_, options.screen_size),
        brighter_(static_cast<size_t>(spec.observation.size())),
        stack_(static_cast<size_t>(observation().size()), 0) {}

  int num_frames() const override { return 2; }
  int max_repeat() const override { return std::max(options_.frame_skip, options_.max_noops); }
  int64_t max_episode_steps() const override { return 0; }  // the view counts frames
  void Forget() override { goes_on_ = false; }
  void Observe(absl::Span<float> observation) const override {
    BytesToFractions(stack_, observation.data());
  }

  ObservationSpec observation() const override {
    ObservationSpec space;
    const int64_t size = options_.screen_size;
    space.shape = {options_.num_stacked * channels_, size, size};
    space.low = {0.0f};
    space.high = {1.0f};
    space.type = ObservationType::kUint8;
    space.frame_stack = options_.num_stacked;
    return space;
  }

  bool BeginEpisode(uint64_t seed) override {
    random_.emplace(seed, "atari");
    was_reset_ = !goes_on_;
    if (was_reset_) {
      last_action_ = kNoop;
      num_frames_ = 0;
    }
    return was_reset_;
  }

  std::vector<int32_t> Prelude() override {
    if (was_reset_ && options_.max_noops == 0) return {};
    const int64_t count = was_reset_ ? 1 + random_->UniformInt(options_.max_noops) : 1;
    num_frames_ += count;  // First is told of the picture of a reset, too, which no action made
    return std::vector<int32_t>(static_cast<size_t>(count), kNoop);
  }

  std::vector<int32_t> Repeats(int32_t action) override {
    std::vector<int32_t> actions(static_cast<size_t>(options_.frame_skip), action);
    if (options_.sticky_probability > 0.0) {
      for (int32_t& played : actions) {
        if (random_->Uniform() < options_.sticky_probability) played = last_action_;
        last_action_ = played;
      }
    }
    return actions;
  }

  absl::Status First(const WorkerResult& result) override {
    lives_ = result.lives;
    goes_on_ = false;
    for (int i = 0; i < options_.num_stacked; ++i) Push(result, false);
    return absl::OkStatus();
  }

  absl::StatusOr<ViewedStep> Next(const WorkerResult& result) override {
    Push(result, result.num_frames > 1);
    num_frames_ += result.num_frames;
    ViewedStep step = {result.reward, result.terminated, result.truncated};
    if (num_frames_ >= options_.max_frames && !step.terminated) step.truncated = true;
    if (options_.is_training && options_.clips_rewards) {
      step.reward = step.reward > 0.0 ? 1.0 : step.reward < 0.0 ? -1.0 : 0.0;
    }
    const bool lost_life = result.lives > 0 && result.lives < lives_;
    lives_ = result.lives;
    if (options_.is_training && options_.ends_at_lost_life && lost_life && !step.terminated &&
        !step.truncated) {
      step.terminated = true;
      goes_on_ = true;
    }
    return step;
  }

 private:
  // Shrinks the newest frame, or the maximum of both, onto the end of the stack.
  void Push(const WorkerResult& result, bool both) {
    const size_t frame_size = brighter_.size();
    const uint8_t* older = result.frames.data();
    const uint8_t* newest = older + frame_size;
    const uint8_t* shown = newest;
    if (both) {
      for (size_t i = 0; i < frame_size; ++i) brighter_[i] = std::max(older[i], newest[i]);
      shown = brighter_.data();
    }
    const size_t picture = stack_.size() / static_cast<size_t>(options_.num_stacked);
    std::copy(stack_.begin() + static_cast<std::ptrdiff_t>(picture), stack_.end(), stack_.begin());
    resize_.Run({shown, frame_size}, absl::MakeSpan(stack_).last(picture));
  }

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
  std::vector<uint8_t> stack_;     // [num_stacked * channels, size, size], oldest first
};

}  // namespace

std::vector<EnvSetting> AtariOptions::Settings() {
  return {EnvSetting::Choice("preset", {"100k", "200m"},
                             "100k: no sticky actions, up to 30 no-ops, lost lives end training "
                             "episodes; 200m: sticky actions, all 18 actions, whole games"),
          EnvSetting::Int("screen_size", 64, 16, 160, "rows and columns of the picture"),
          EnvSetting::Choice("colors", {"rgb", "grey"}, "channels of the picture"),
          EnvSetting::Int("stack", 1, 1, 16, "newest pictures that an observation holds"),
          EnvSetting::Int("frame_skip", 4, 1, 32, "frames that an action is played for"),
          EnvSetting::Int("mode", -1, -1, 255, "mode of the game; -1: its first"),
          EnvSetting::Int("difficulty", -1, -1, 255, "difficulty of the game; -1: its first"),
          EnvSetting::Int("noops", -1, -1, 100, "most no-ops before an episode; -1: the preset's"),
          EnvSetting::Float("sticky", -1, -1, 1,
                            "probability that a frame repeats the last action; -1: the preset's")};
}

AtariOptions AtariOptions::Of(const EnvSettings& settings, bool is_training) {
  AtariOptions options;
  options.is_training = is_training;
  if (settings.Choice("preset") == "200m") {
    options.max_noops = 0;
    options.sticky_probability = 0.25;
    options.ends_at_lost_life = false;
    options.has_all_actions = true;
  }
  options.screen_size = static_cast<int>(settings.Int("screen_size"));
  options.is_grey = settings.Choice("colors") == "grey";
  options.num_stacked = static_cast<int>(settings.Int("stack"));
  options.frame_skip = static_cast<int>(settings.Int("frame_skip"));
  options.mode = static_cast<int>(settings.Int("mode"));
  options.difficulty = static_cast<int>(settings.Int("difficulty"));
  if (settings.Int("noops") >= 0) options.max_noops = static_cast<int>(settings.Int("noops"));
  if (settings.Float("sticky") >= 0) options.sticky_probability = settings.Float("sticky");
  return options;
}

EnvSettingTexts AtariOptions::EmulatorSettings() const {
  EnvSettingTexts texts = {{"frameskip", "1"},
                           {"repeat_action_probability", "0"},
                           {"full_action_space", has_all_actions ? "true" : "false"},
                           {"max_num_frames_per_episode", "0"},
                           {"obs_type", is_grey ? "grayscale" : "rgb"}};
  if (mode >= 0) texts["mode"] = absl::StrCat(mode);
  if (difficulty >= 0) texts["difficulty"] = absl::StrCat(difficulty);
  return texts;
}

absl::StatusOr<std::unique_ptr<FrameView>> MakeAtariView(const WorkerSpec& spec,
                                                         const AtariOptions& options) {
  const std::vector<int64_t>& shape = spec.observation.shape;
  const int64_t channels = options.is_grey ? 1 : 3;
  if (spec.observation.type == ObservationType::kUint8 && shape.size() == 3 &&
      shape[2] == channels && std::min(shape[0], shape[1]) >= options.screen_size &&
      shape[0] * shape[1] < (int64_t{1} << 24) && spec.action.kind == ActionKind::kDiscrete) {
    return std::make_unique<AtariView>(spec, options);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("an Atari game gives pictures of bytes, ", channels, " channels and at least ",
                   options.screen_size, " rows and columns (screen_size); got [",
                   absl::StrJoin(shape, ", "), "]"));
}

}  // namespace lzero
