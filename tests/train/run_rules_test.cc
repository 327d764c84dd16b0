// What a config must keep to because of the sizes of its environment, of its family and of this
// machine.
#include "lzero/train/run_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "tests/env/walk_env.h"
#include "tests/train/train_testing.h"

namespace lzero::run_rules_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RunRulesTest, NoMoreThreadsThanCores) {
  ExperimentConfig config;
  config.train.num_threads = 4;
  config.inference.num_threads = 5;
  EXPECT_TRUE(ThreadErrors(config, 5).empty());
  const auto errors = ThreadErrors(config, 4);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0].keys, ElementsAre("inference.num_threads"));
  EXPECT_EQ(errors[0].message, "got 5, but this machine has 4 cores; allowed: 1 to 4");
  EXPECT_EQ(ThreadErrors(config, 1).size(), 2u);
}

EnvSpec Pictures() {
  EnvSpec spec = WalkSpec();
  spec.observation.type = ObservationType::kUint8;
  return spec;
}

// "first key: message" of the first error.
std::string AugmentError(const ReplayConfig& config, const ReplayShape& shape,
                         const EnvSpec& spec = WalkSpec()) {
  const std::vector<ConsistencyError> errors = AugmentErrors(config, shape, spec);
  return errors.empty() ? "" : absl::StrCat(errors[0].keys[0], ": ", errors[0].message);
}

TEST(RunRulesTest, OnlyPicturesOfBytesAreShifted) {
  ReplayShape shape{{1 * 9 * 10, 3}, 8, TerminalMode::kAbsorb};
  shape.observation_shape = {1, 9, 10};
  ReplayConfig replay;
  EXPECT_EQ(AugmentError(replay, shape), "");
  replay.augment_shift = 2;
  EXPECT_EQ(AugmentError(replay, shape),
            "replay.augment_shift: got 2, but walk shows no picture of bytes, where every place "
            "means something; allowed: 0");
  EnvSpec spec = WalkSpec();
  spec.num_players = 2;
  EXPECT_EQ(AugmentError(replay, shape, spec),
            "replay.augment_shift: got 2, but walk shows a board, where every place means "
            "something; allowed: 0");
  EXPECT_EQ(AugmentError(replay, shape, Pictures()), "");
  replay.augment_shift = 0;
  replay.augment_intensity = 0.05;
  EXPECT_EQ(AugmentError(replay, shape),
            "replay.augment_intensity: got 0.05, but walk shows no picture of bytes, where every "
            "place means something; allowed: 0");
  EXPECT_EQ(AugmentError(replay, shape, Pictures()), "");
}

TEST(RunRulesTest, OnlyPicturesThatAreLargeEnoughAreShifted) {
  ReplayConfig config;
  ReplayShape shape{{1 * 9 * 10, 3}, 8, TerminalMode::kAbsorb};
  EXPECT_EQ(AugmentError(config, shape, Pictures()), "");
  config.augment_shift = 4;
  EXPECT_EQ(AugmentError(config, shape, Pictures()),
            "replay.augment_shift: got 4, but the environment's observation is []; allowed: 0, or "
            "pictures [channels, height, width] with height and width above 8");
  shape.observation_shape = {1, 9, 10};
  EXPECT_EQ(AugmentError(config, shape, Pictures()), "");
  config.augment_shift = 5;
  EXPECT_THAT(AugmentError(config, shape, Pictures()),
              HasSubstr("observation is [1, 9, 10]; allowed: 0, or"));
}

TEST(RunRulesTest, AugmentationNeedsSymmetriesThatFit) {
  ReplayConfig config;
  ReplayShape shape{{2, 3}, 8, TerminalMode::kAbsorb};
  shape.symmetries = {Symmetry{{0, 1, 2}, {2, 1, 0}}};
  EXPECT_EQ(AugmentError(config, shape), "");  // not used
  config.augment_symmetries = true;
  EXPECT_EQ(AugmentError(config, shape),
            "replay.augment_symmetries: a symmetry of the environment is wrong: observation_source "
            "has 3 entries instead of 2");
  shape.symmetries = {Symmetry{{1, 0}, {2, 1, 0}}};
  EXPECT_EQ(AugmentError(config, shape), "");
  shape.num_chance_outcomes = 2;
  EXPECT_EQ(AugmentError(config, shape),
            "replay.augment_symmetries: a symmetry of the environment is wrong: chance_image has 0 "
            "entries instead of 2");
  shape.symmetries[0].chance_image = {1, 0};
  EXPECT_EQ(AugmentError(config, shape), "");
  shape.num_chance_outcomes = 0;
  shape.symmetries[0].chance_image.clear();
  shape.action_dim = 1;
  EXPECT_EQ(AugmentError(config, shape),
            "replay.augment_symmetries: got true, but symmetries say nothing of the environment's "
            "box actions; allowed: false");
  shape.action_dim = 0;
  shape.symmetries.clear();
  EXPECT_EQ(AugmentError(config, shape),
            "replay.augment_symmetries: got true, but the environment declares no symmetries");
}

TEST(RunRulesTest, AFamilyThatNeedsItsEnvironmentCannotReanalyze) {
  ExperimentConfig config = TinyConfig();
  EXPECT_TRUE(ReanalyzeErrors(config, AlphaZeroFamily()).empty());
  config.replay.reanalyze_ratio = 0.25;
  EXPECT_TRUE(ReanalyzeErrors(config, UniZeroFamily()).empty());
  const std::vector<ConsistencyError> errors = ReanalyzeErrors(config, AlphaZeroFamily());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0].keys, ElementsAre("replay.reanalyze_ratio", "model.family"));
  EXPECT_EQ(errors[0].message,
            "got 0.25, but this family searches from the environment's own state, which replay "
            "does not store; allowed: 0, or another model.family");
}

TEST(RunRulesTest, AFamilyThatNeedsItsEnvironmentCannotKeepSearchesFresh) {
  ExperimentConfig config = TinyConfig();
  config.replay.fresh_share = 0.25;
  config.replay.fresh_updates = 10;
  const std::vector<ConsistencyError> errors = ReanalyzeErrors(config, AlphaZeroFamily());
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_THAT(errors[0].keys, ElementsAre("replay.fresh_share", "model.family"));
}

std::vector<std::string> ErrorKeys(const ExperimentConfig& config) {
  std::vector<std::string> keys;
  for (const ConsistencyError& error : RunErrors(config, NativeRegistry())) {
    if (!error.only_if_set_after) keys.push_back(error.keys[0]);
  }
  return keys;
}

TEST(RunRulesTest, ABonusNeedsOnePlayerAndALearnedModel) {
  ExperimentConfig config = TinyConfig();
  config.env.count_bonus = 0.5;
  EXPECT_THAT(ErrorKeys(config), IsEmpty());
  config.model.family = Family::kAlphaZero;
  EXPECT_THAT(ErrorKeys(config), Contains("env.count_bonus"));
  config = BoardConfig();
  config.env.count_bonus = 0.5;
  EXPECT_THAT(ErrorKeys(config), Contains("env.count_bonus"));
}

// The fields that nothing reads.
std::vector<std::string> UnreadKeys(const ExperimentConfig& config) {
  std::vector<std::string> keys;
  for (const ConsistencyError& error : RunErrors(config, NativeRegistry())) {
    if (error.only_if_set_after) keys.push_back(error.keys[0]);
  }
  return keys;
}

TEST(RunRulesTest, TellsWhatNeitherFamilyNorSearchReads) {
  ExperimentConfig config = TinyConfig();
  EXPECT_THAT(UnreadKeys(config), ElementsAre());
  config.search.gumbel_scale = 0;
  config.loss.chance_weight = 2;
  EXPECT_THAT(UnreadKeys(config), ElementsAre("search.gumbel_scale", "loss.chance_weight"));
  config = BoardConfig();
  EXPECT_THAT(UnreadKeys(config), ElementsAre("model.encoder_width"));
}

// What nothing reads may be left to a base config: it must hide no other error.
TEST(RunRulesTest, UnreadSettingsHideNothing) {
  ExperimentConfig config = TinyConfig();
  config.env.num_workers = 2;
  config.search.policy = SearchPolicy::kPuct;
  config.search.gumbel_scale = 2;
  config.model.embed_dim = 65536;
  config.model.num_layers = 256;
  EXPECT_THAT(UnreadKeys(config), ElementsAre("search.gumbel_scale", "env.num_workers"));
  EXPECT_THAT(ErrorKeys(config), ElementsAre("model.embed_dim"));
}

TEST(RunRulesTest, EveryErrorOfARunIsReportedAtOnce) {
  ExperimentConfig config = BoardConfig();
  EXPECT_THAT(ErrorKeys(config), ElementsAre());
  config.replay.capacity = 20;
  config.stop.target_return = 0.5;
  config.env.random_opening_fraction = 0.5;
  config.env.random_opening_plies = 9;
  EXPECT_THAT(ErrorKeys(config), ElementsAre("env.random_opening_plies"));  // no environment
  config.env.random_opening_plies = 6;
  config.model.encoder_channels = 1 << 20;  // memory counts when nothing else is wrong
  config.model.value_support = {{"min", "0"}, {"max", "1"}, {"bins", "3"}};
  config.inference.root_context = RootContext::kCarry;
  config.replay.num_context_steps = 1;
  EXPECT_THAT(ErrorKeys(config),
              ElementsAre("inference.root_context", "replay.capacity", "model.value_support",
                          "replay.num_context_steps", "stop.target_return"));
  config = BoardConfig();
  config.model.value_support = {{"min", "-0.5"}, {"max", "0.5"}, {"bins", "3"}};
  config.model.reward_support = {{"min", "0"}, {"max", "0.5"}, {"bins", "3"}};
  EXPECT_THAT(ErrorKeys(config), ElementsAre("model.value_support", "model.reward_support"));
  config.model.value_support = {{"min", "-1"}, {"max", "1"}, {"bins", "3"}};
  config.model.reward_support = {{"min", "0"}, {"max", "1"}, {"bins", "2"}};
  EXPECT_THAT(ErrorKeys(config), ElementsAre());
  config.model.reward_support = {};
  config.model.value_support = {{"min", "1"}};  // what the rules between fields refuse
  EXPECT_THAT(ErrorKeys(config), ElementsAre());
  config = TinyConfig();
  config.model.encoder = EncoderKind::kBoard;
  config.replay.augment_symmetries = true;
  config.replay.capacity = 20;
  EXPECT_THAT(ErrorKeys(config),
              ElementsAre("model.encoder", "replay.augment_symmetries", "replay.capacity"));
  config = TinyConfig();
  config.model.embed_dim = 65536;
  config.model.num_layers = 256;
  EXPECT_THAT(ErrorKeys(config), ElementsAre("model.embed_dim"));
  config.env.id = "cartpol";
  config.model.context_length = 5;  // rules of the family need no environment
  EXPECT_THAT(ErrorKeys(config), ElementsAre("env.id", "model.context_length"));
}

}  // namespace
}  // namespace lzero::run_rules_test
