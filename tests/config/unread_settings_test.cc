// Tests of which settings nothing reads; where that is an error is in assemble_test.cc.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/consistency.h"
#include "tests/config/config_test_tools.h"

namespace lzero::unread_settings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> FirstKeys(const std::vector<ConsistencyError>& errors) {
  std::vector<std::string> keys;
  for (const ConsistencyError& error : errors) keys.push_back(error.keys.at(0));
  return keys;
}

struct Case {
  const char *chooser, *choice, *unread, *value;
};
// Each choice is in force and leaves the second field unread; with the other choice it is read.
constexpr Case kCases[] = {
    {"model.encoder", "vector", "model.encoder_blocks", "3"},
    {"model.encoder", "vector", "model.encoder_channels", "3"},
    {"model.encoder", "board", "model.encoder_width", "3"},
    {"model.encoder", "image", "model.encoder_layers", "3"},
    {"model.latent_norm", "layer_norm", "model.sim_norm_group", "4"},
    {"search.policy", "puct", "search.max_num_considered_actions", "4"},
    {"search.policy", "puct", "search.value_scale", "4"},
    {"search.policy", "puct", "search.maxvisit_init", "4"},
    {"search.policy", "puct", "search.rescale_values", "false"},
    {"search.policy", "puct", "search.use_mixed_value", "false"},
    {"search.policy", "puct", "search.gumbel_scale", "0"},
    {"search.policy", "gumbel", "search.root_noise_alpha", "1"},
    {"search.policy", "gumbel", "search.root_noise_fraction", "0.5"},
    {"search.policy", "gumbel", "search.pb_c_init", "2"},
    {"search.policy", "gumbel", "search.pb_c_base", "2"},
    {"search.policy", "gumbel", "search.temperature_steps", "2"},
    {"search.policy", "gumbel", "search.root_policy_temperature", "2"},
    {"search.policy", "gumbel", "search.forced_playouts", "2"},
    {"search.cheap_fraction", "0", "search.cheap_num_simulations", "2"},
    {"search.temperature_decay_env_steps", "0", "search.temperature_final", "2"},
    {"search.temperature_decay_env_steps", "0", "search.temperature_schedule", "halves"},
    {"search.epsilon_decay_env_steps", "0", "search.epsilon_final", "0.5"},
    {"search.epsilon", "0", "search.epsilon_max_hold", "5"},
    {"search.q_transform", "tree_min_max", "search.max_value", "2"},
    {"search.q_transform", "tree_min_max", "search.q_epsilon", "0.5"},
    {"search.q_transform", "min_max", "search.q_epsilon", "0.5"},
    {"search.q_transform", "min_max", "search.min_max_delta", "0.5"},
    {"search.q_transform", "parent_and_siblings", "search.min_max_delta", "0.5"},
    {"search.q_transform", "completed_by_mix_value", "search.min_max_delta", "0.5"},
    {"search.num_sampled_actions", "null", "search.sample_temperature", "2"},
    {"search.num_sampled_actions", "null", "search.num_interior_samples", "2"},
    {"search.num_sampled_actions", "null", "search.sample_prior", "uniform"},
    {"search.root_wide_fraction", "0", "search.root_wide_scale", "2"},
    {"model.latent_loss", "mse", "model.projector_layers", "2"},
    {"model.projector_layers", "1", "model.projector_norm", "batch"},
    {"replay.td_decay_updates", "0", "replay.td_steps_final", "2"},
    {"replay.value_bootstrap", "search", "replay.bootstrap_context_steps", "2"},
    {"replay.root_value_share", "0", "replay.root_value_min_age", "2"},
    {"replay.prioritized", "false", "replay.priority_exponent", "1"},
    {"replay.prioritized", "false", "replay.importance_exponent", "1"},
    {"replay.prioritized", "false", "replay.min_importance_weight", "1"},
    {"replay.prioritized", "false", "replay.priority_error", "first"},
    {"replay.prioritized", "false", "replay.initial_priority", "own_error"},
    {"train.learning_rate_schedule", "constant", "train.final_learning_rate", "0.1"},
    {"train.reset_every_updates", "0", "train.reset_share", "1"},
    {"env.count_bonus", "0", "env.count_bonus_once", "false"},
    {"env.random_opening_fraction", "0", "env.random_opening_plies", "1"},
    {"search.root_noise_fraction", "0", "search.root_noise_alpha", "1"},
    {"stop.target_return", "null", "stop.patience", "7"},
    {"stop.target_return", "null", "stop.end_at_target", "false"},
};

TEST(UnreadSettings, OfTheDefaultsThereAreNone) {
  EXPECT_THAT(UnreadSettings(ExperimentConfig()), IsEmpty());
}

TEST(UnreadSettings, FollowFromTheChoiceOfAnotherField) {
  for (const Case& test : kCases) {
    ExperimentConfig config;
    ASSERT_EQ(
        SetField(config, test.chooser, {test.choice, false, std::string(test.choice) == "null"}),
        std::nullopt);
    EXPECT_THAT(UnreadSettings(config), IsEmpty()) << test.unread;
    ASSERT_EQ(SetField(config, test.unread, {test.value}), std::nullopt) << test.unread;
    const std::vector<ConsistencyError> errors = UnreadSettings(config);
    ASSERT_THAT(FirstKeys(errors), ElementsAre(test.unread));
    EXPECT_THAT(errors[0].keys, ElementsAre(test.unread, test.chooser));
    EXPECT_TRUE(errors[0].only_if_set_after);
  }
}

TEST(UnreadSettings, AreReadWithTheOtherChoice) {
  ExperimentConfig config;
  config.model.encoder = EncoderKind::kBoard;
  config.model.encoder_blocks = 3;
  config.model.latent_norm = LatentNorm::kSimNorm;
  config.model.sim_norm_group = 4;
  config.search.policy = SearchPolicy::kGumbel;
  config.search.gumbel_scale = 0;
  config.search.q_transform = QTransform::kMinMax;
  config.search.max_value = 2;
  config.search.num_sampled_actions = 4;
  config.search.sample_temperature = 2;
  config.replay.prioritized = true;
  config.replay.priority_exponent = 1;
  config.train.learning_rate_schedule = LearningRateSchedule::kLinear;
  config.train.final_learning_rate = 1e-5;
  config.env.random_opening_fraction = 0.5;
  config.env.random_opening_plies = 2;
  config.stop.target_return = 1;
  config.stop.patience = 7;
  EXPECT_THAT(UnreadSettings(config), IsEmpty());
}

TEST(UnreadSettings, OfExplorationAreReadWhereItDecaysOrEnds) {
  ExperimentConfig config;
  config.search.temperature_decay_env_steps = 100;
  config.search.temperature_final = 0.5;
  config.search.epsilon_decay_env_steps = 100;
  config.search.epsilon_final = 0.1;  // from 0 upwards: it does explore
  config.search.epsilon_max_hold = 10;
  config.search.min_max_delta = 0.1;  // of the default, tree_min_max
  EXPECT_THAT(UnreadSettings(config), IsEmpty());
  config.search.epsilon_final = 0.0;
  EXPECT_THAT(FirstKeys(UnreadSettings(config)), ElementsAre("search.epsilon_max_hold"));
}

TEST(UnreadSettings, OfGumbelRescalesValuesOfANodeOnlyWhenCompleted) {
  ExperimentConfig config;
  config.search.policy = SearchPolicy::kGumbel;
  config.search.q_transform = QTransform::kCompletedByMixValue;
  config.search.rescale_values = false;
  config.search.q_epsilon = 0.2;
  EXPECT_THAT(UnreadSettings(config), IsEmpty());
  config.search.q_transform = QTransform::kTreeMinMax;
  EXPECT_THAT(FirstKeys(UnreadSettings(config)),
              ElementsAre("search.q_epsilon", "search.rescale_values"));
}

TEST(UnreadSettings, SupportSizeIsReadWhereValuesOrRewardsHaveNoRange) {
  ExperimentConfig config;
  config.model.support_size = 21;
  config.model.value_support = {{"min", "-1"}, {"max", "1"}, {"bins", "3"}};
  EXPECT_THAT(UnreadSettings(config), IsEmpty());
  config.model.reward_support = config.model.value_support;
  EXPECT_THAT(FirstKeys(UnreadSettings(config)), ElementsAre("model.support_size"));
}

TEST(UnreadSettings, OfAListThoseThatDifferFromTheirDefaults) {
  ExperimentConfig config;
  config.model.num_layers = 8;
  const auto errors = UnreadErrors(config, {"model.num_layers", "model.num_heads"}, "model.family");
  ASSERT_THAT(FirstKeys(errors), ElementsAre("model.num_layers"));
  EXPECT_EQ(
      errors[0].message,
      "it has no effect with model.family unizero; got 8; allowed: 2, its default, or another "
      "model.family");
}

}  // namespace
}  // namespace lzero::unread_settings_test
