#include <gtest/gtest.h>

#include <map>

#include "lzero/env/python/frames/atari_view.h"
#include "tests/env/python/frames/atari_frames.h"

namespace lzero::atari_options_test {
namespace {

TEST(AtariOptionsTest, HoldsTheHundredThousandStepsPreset) {
  for (const AtariOptions& options : {Preset({}), Preset({{"preset", "100k"}})}) {
    EXPECT_EQ(options.screen_size, 64);
    EXPECT_FALSE(options.is_grey);
    EXPECT_EQ(options.num_stacked, 1);
    EXPECT_EQ(options.frame_skip, 4);
    EXPECT_EQ(options.max_noops, 30);
    EXPECT_EQ(options.sticky_probability, 0.0);
    EXPECT_TRUE(options.ends_at_lost_life);
    EXPECT_TRUE(options.clips_rewards);
    EXPECT_FALSE(options.has_all_actions);
    EXPECT_EQ(options.max_frames, 108000);
  }
}

TEST(AtariOptionsTest, HoldsTheTwoHundredMillionFramesPreset) {
  const AtariOptions options = Preset({{"preset", "200m"}});
  EXPECT_EQ(options.max_noops, 0);
  EXPECT_EQ(options.sticky_probability, 0.25);
  EXPECT_FALSE(options.ends_at_lost_life);
  EXPECT_TRUE(options.clips_rewards);
  EXPECT_TRUE(options.has_all_actions);
  EXPECT_EQ(options.frame_skip, 4);
  EXPECT_EQ(options.max_frames, 108000);
}

TEST(AtariOptionsTest, TakesSettingsOverThePreset) {
  const AtariOptions options = Preset({{"preset", "200m"},
                                       {"screen_size", "96"},
                                       {"colors", "grey"},
                                       {"stack", "4"},
                                       {"frame_skip", "2"},
                                       {"noops", "7"},
                                       {"sticky", "0"}},
                                      true);
  EXPECT_TRUE(options.is_training);
  EXPECT_EQ(options.screen_size, 96);
  EXPECT_TRUE(options.is_grey);
  EXPECT_EQ(options.num_stacked, 4);
  EXPECT_EQ(options.frame_skip, 2);
  EXPECT_EQ(options.max_noops, 7);
  EXPECT_EQ(options.sticky_probability, 0.0);
  EXPECT_EQ(Preset({{"noops", "0"}}).max_noops, 0);
  EXPECT_EQ(Preset({{"sticky", "0.5"}}).sticky_probability, 0.5);
}

TEST(AtariOptionsTest, MakesAnEmulatorOfSingleFramesWithoutRulesOfItsOwn) {
  EXPECT_EQ(Preset({}).EmulatorSettings(), (EnvSettingTexts{{"frameskip", "1"},
                                                            {"repeat_action_probability", "0"},
                                                            {"full_action_space", "false"},
                                                            {"max_num_frames_per_episode", "0"},
                                                            {"obs_type", "rgb"}}));
  const EnvSettingTexts all = Preset({{"preset", "200m"}, {"colors", "grey"}}).EmulatorSettings();
  EXPECT_EQ(all.at("full_action_space"), "true");
  EXPECT_EQ(all.at("obs_type"), "grayscale");
  EXPECT_EQ(all.at("repeat_action_probability"), "0") << "sticky actions are this side's";
  const EnvSettingTexts hard = Preset({{"mode", "4"}, {"difficulty", "1"}}).EmulatorSettings();
  EXPECT_EQ(hard.at("mode"), "4");
  EXPECT_EQ(hard.at("difficulty"), "1");
}

}  // namespace
}  // namespace lzero::atari_options_test
