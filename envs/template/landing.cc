// A complete environment to start from: a craft falls from a random height of 10 to 20. In every
// step gravity adds 1 to its speed, or the brake takes 1 off and costs 0.05. Touching down at speed
// 1 or less pays 1, and 0.25 less for each unit more: fall first, brake late.
// README.md beside it says how it is built; lzero/env/episode_env.h what the functions must do.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/plugin.h"

namespace {

constexpr int kTop = 20;      // greatest height
constexpr int kMaxSpeed = 6;  // of a free fall from there: 1 + 2 + ... + 6 = 21

class Landing : public lzero::EpisodeEnv {
 public:
  // What the environment promises. `options` holds the settings of the config's env section.
  static absl::StatusOr<std::unique_ptr<lzero::Env>> Create(const lzero::EnvOptions& options) {
    LZ_RETURN_IF_ERROR(lzero::CheckStepCap(options.id, options));
    LZ_RETURN_IF_ERROR(lzero::CheckNoRandomOpenings(options.id, options));
    lzero::EnvSpec spec;
    spec.id = options.id;                      // "plugin:landing"
    spec.observation = {{2}, {0.0f}, {1.0f}};  // shape, lower bound, upper bound
    spec.action.num_actions = 2;               // 0: fall, 1: brake
    spec.max_episode_steps = options.max_episode_steps > 0 ? options.max_episode_steps : 24;
    spec.can_save = true;  // SaveGame and LoadGame below: exact resumes
    return std::unique_ptr<lzero::Env>(new Landing(std::move(spec)));
  }

  // For `lzero eval --render text`.
  absl::StatusOr<std::string> RenderText() const override {
    return absl::StrCat(std::string(height_, '.'), "o height ", height_, " speed ", speed_, "\n");
  }

 protected:
  // Equal seeds give equal episodes: every random number comes from the seed.
  void StartGame(uint64_t seed) override {
    height_ = kTop - static_cast<int>(lzero::RandomStream(seed, "landing").UniformInt(11));
    speed_ = 0;
  }

  // One step. Illegal actions and steps after the end never get here; steps are counted elsewhere.
  Outcome Advance(const lzero::Action& action) override {
    const bool brakes = action.index == 1;
    speed_ = brakes ? std::max(speed_ - 1, 0) : speed_ + 1;
    height_ = std::max(height_ - speed_, 0);
    float reward = brakes ? -0.05f : 0.0f;
    if (height_ == 0) reward += 1.0f - 0.25f * static_cast<float>(std::max(speed_ - 1, 0));
    return {.reward = reward, .terminated = height_ == 0};
  }

  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(height_) / kTop;
    observation[1] = static_cast<float>(speed_) / kMaxSpeed;
  }

  void SaveGame(lzero::StateWriter& writer) const override {
    writer.Write(height_);
    writer.Write(speed_);
  }

  // Reads everything, checks it, and only then changes the game.
  absl::Status LoadGame(lzero::StateReader& reader) override {
    const int height = reader.Read<int>();
    const int speed = reader.Read<int>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (height < 0 || height > kTop || speed < 0 || speed > kMaxSpeed) {
      return reader.Impossible(absl::StrCat("height ", height, ", speed ", speed));
    }
    height_ = height;
    speed_ = speed;
    return absl::OkStatus();
  }

 private:
  explicit Landing(lzero::EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

  int height_ = kTop;
  int speed_ = 0;  // downward
};

}  // namespace

LZ_PLUGIN(envs) {
  envs.Register({.id = "landing",
                 .summary = "fall first, brake late, touch down softly; cap 24",
                 .factory = Landing::Create});
}
