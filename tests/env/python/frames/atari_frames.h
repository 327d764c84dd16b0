// Hand-made answers of an emulator for the tests of AtariView: pictures of one brightness, so that
// an observation says which frames it shows. Not a test.
#ifndef LZERO_TESTS_ENV_PYTHON_FRAMES_ATARI_FRAMES_H_
#define LZERO_TESTS_ENV_PYTHON_FRAMES_ATARI_FRAMES_H_

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/env/python/frames/atari_view.h"

namespace lzero {

// Pictures of 4 rows and 3 columns, one channel.
inline WorkerSpec SmallGameSpec(int channels = 1) {
  WorkerSpec spec;
  spec.observation = {{4, 3, channels}, {0.0f}, {1.0f}, ObservationType::kUint8};
  spec.action.num_actions = 6;
  spec.has_lives = true;
  return spec;
}

// 2 x 2 pictures of grey games; nothing that is random.
inline AtariOptions SmallGameOptions() {
  AtariOptions options;
  options.screen_size = 2;
  options.is_grey = true;
  options.max_noops = 0;
  return options;
}

// What a worker says after `num_frames` frames, of which the last two are this bright.
struct GameAnswer {
  std::vector<uint8_t> pictures;
  WorkerResult result;

  GameAnswer(uint8_t older, uint8_t newest, uint32_t num_frames, int32_t lives = 3)
      : pictures(24, older) {
    std::fill(pictures.begin() + 12, pictures.end(), newest);
    result.frames = pictures;
    result.num_frames = num_frames;
    result.lives = lives;
  }
  GameAnswer(const GameAnswer&) = delete;

  GameAnswer& Pays(double reward) {
    result.reward = reward;
    return *this;
  }
  GameAnswer& Terminates() {
    result.terminated = true;
    return *this;
  }
  GameAnswer& Truncates() {
    result.truncated = true;
    return *this;
  }
};

// The options of these settings, which are right.
inline AtariOptions Preset(const EnvSettingTexts& given, bool is_training = false) {
  const auto settings = EnvSettings::Create("pong", AtariOptions::Settings(), given);
  EXPECT_TRUE(settings.ok()) << settings.status();
  return AtariOptions::Of(*settings, is_training);
}
}  // namespace lzero

#endif  // LZERO_TESTS_ENV_PYTHON_FRAMES_ATARI_FRAMES_H_
