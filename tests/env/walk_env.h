// A small environment for the tests of this floor: a walk on 0 .. 5, one step left, none, or right;
// left is illegal at 0; reaching 5 pays 1 and ends the episode; it starts at 0 or 1 by the seed.
#ifndef LZERO_TESTS_ENV_WALK_ENV_H_
#define LZERO_TESTS_ENV_WALK_ENV_H_

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero {

inline EnvSpec WalkSpec() {
  EnvSpec spec;
  spec.id = "walk";
  spec.observation = {{2}, {0.0f, -1.0f}, {5.0f, 1.0f}};
  spec.action.num_actions = 3;
  spec.max_episode_steps = 20;
  spec.can_save = true;
  spec.can_set_state = true;
  return spec;
}

class WalkEnv : public EpisodeEnv {
 public:
  explicit WalkEnv(EnvSpec spec = WalkSpec()) : EpisodeEnv(std::move(spec)) {}

 protected:
  void StartGame(uint64_t seed) override { position_ = static_cast<int>(seed % 2); }
  Outcome Advance(const Action& action) override {
    position_ += action.index - 1;
    return {position_ == 5 ? 1.0f : 0.0f, position_ == 5};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(position_);
    observation[1] = position_ % 2 == 0 ? 1.0f : -1.0f;
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override { mask[0] = position_ > 0; }
  void SaveGame(StateWriter& writer) const override { writer.Write(position_); }
  absl::Status LoadGame(StateReader& reader) override {
    const int position = reader.Read<int>();
    LZ_RETURN_IF_ERROR(reader.Finish());
    if (position < 0 || position > 5) return reader.Impossible("position");
    position_ = position;
    return absl::OkStatus();
  }
  std::vector<double> GetPhysics() const override { return {static_cast<double>(position_)}; }
  absl::Status SetPhysics(const std::vector<double>& state) override {
    if (state.size() != 1 || !(state[0] >= 0.0 && state[0] <= 4.0)) {
      return absl::InvalidArgumentError("a state of 'walk' is one number, 0 .. 4");
    }
    position_ = static_cast<int>(state[0]);
    return absl::OkStatus();
  }

 private:
  int position_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TESTS_ENV_WALK_ENV_H_
