// An environment of pictures for tests: stacks of two frames of 16 x 16 bytes that depend on seed
// and actions, episodes of six steps. A torn film shows its newest frame twice at the fourth step,
// which its spec says it never does. One thread.
#ifndef LZERO_TESTS_TRAIN_FILM_ENV_H_
#define LZERO_TESTS_TRAIN_FILM_ENV_H_

#include <array>
#include <cstdint>
#include <string>

#include "lzero/env/episode_env.h"

namespace lzero {

class FilmEnv : public EpisodeEnv {
 public:
  FilmEnv(const std::string& id, bool is_torn) : EpisodeEnv(Spec(id)), is_torn_(is_torn) {}

 protected:
  void StartGame(uint64_t seed) override {
    frames_ = {static_cast<int32_t>(seed % 100), static_cast<int32_t>(seed % 7)};
    step_ = 0;
  }
  Outcome Advance(const Action& action) override {
    frames_ = {frames_[1], frames_[1] + 3 * action.index + 1};
    ++step_;
    return {static_cast<float>(action.index), false};
  }
  void Observe(absl::Span<float> observation) const override {
    for (int i = 0; i < 512; ++i) {
      const int frame = is_torn_ && step_ == 4 ? 1 : i / 256;
      observation[i] = static_cast<float>((frames_[frame] * (i % 256 + 1)) % 256) / 255.0f;
    }
  }
  void SaveGame(StateWriter& writer) const override {
    for (const int32_t number : {frames_[0], frames_[1], step_}) writer.Write(number);
  }
  absl::Status LoadGame(StateReader& reader) override {
    for (int32_t* number : {&frames_[0], &frames_[1], &step_}) *number = reader.Read<int32_t>();
    return reader.Finish();
  }

 private:
  static EnvSpec Spec(const std::string& id) {
    EnvSpec spec;
    spec.id = id;
    spec.observation = {{2, 16, 16}, {0.0f}, {1.0f}, ObservationType::kUint8, /*frame_stack=*/2};
    spec.action.num_actions = 2;
    spec.max_episode_steps = 6;
    spec.can_save = true;
    return spec;
  }

  const bool is_torn_;
  std::array<int32_t, 2> frames_ = {};
  int32_t step_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TESTS_TRAIN_FILM_ENV_H_
