// An environment whose state is the numbers of `Numbers`, a constant array of PhysicsNumber: it
// saves, sets and shows them as they are. A concrete one adds its rules. One thread at a time.
#ifndef LZERO_ENVS_CLASSIC_PHYSICS_ENV_H_
#define LZERO_ENVS_CLASSIC_PHYSICS_ENV_H_

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "envs/classic/physics_state.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/episode_env.h"

namespace lzero {

template <const auto& Numbers>
class PhysicsEnv : public EpisodeEnv {
 public:
  explicit PhysicsEnv(EnvSpec spec) : EpisodeEnv(std::move(spec)) {}

 protected:
  void Observe(absl::Span<float> observation) const override {
    for (size_t i = 0; i < state_.size(); ++i) observation[i] = static_cast<float>(state_[i]);
  }
  void SaveGame(StateWriter& writer) const override {
    for (const double value : state_) writer.Write(value);
  }
  absl::Status LoadGame(StateReader& reader) override {
    return LoadPhysics(reader, Numbers, absl::MakeSpan(state_));
  }
  std::vector<double> GetPhysics() const override { return {state_.begin(), state_.end()}; }
  absl::Status SetPhysics(const std::vector<double>& state) override {
    LZ_RETURN_IF_ERROR(CheckPhysics(spec().id, Numbers, state));
    std::copy(state.begin(), state.end(), state_.begin());
    return absl::OkStatus();
  }

  std::array<double, Numbers.size()> state_ = {};
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_PHYSICS_ENV_H_
