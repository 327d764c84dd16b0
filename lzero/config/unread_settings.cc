#include "lzero/config/unread_settings.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/config/schema.h"

namespace lzero {
namespace {

// Every field's value as text, by key path.
std::map<std::string, std::string> ValueTexts(ExperimentConfig config) {
  std::map<std::string, std::string> texts;
  ForEachField(config, [&texts](const FieldDescription& field, const FieldValue& value) {
    texts[field.path] = ValueText(field, value);
  });
  return texts;
}

const std::map<std::string, std::string>& DefaultTexts() {
  static const auto* const kTexts =
      new std::map<std::string, std::string>(ValueTexts(ExperimentConfig()));
  return *kTexts;
}

struct Choice {
  bool holds;
  std::string chooser;
  std::vector<std::string> unread;
};

// How the search chooses, and how an action is drawn from what it found.
std::vector<Choice> SearchChoices(const SearchConfig& search) {
  const bool puct = search.policy == SearchPolicy::kPuct;
  const bool of_tree = search.q_transform == QTransform::kTreeMinMax;
  const bool of_config = search.q_transform == QTransform::kMinMax;
  const bool completed = search.q_transform == QTransform::kCompletedByMixValue;
  const bool decays = search.temperature_decay_env_steps > 0;
  const bool epsilon_decays = search.epsilon_decay_env_steps > 0;
  const bool explores = search.epsilon > 0.0 || (epsilon_decays && search.epsilon_final > 0.0);
  return {
      {puct,
       "search.policy",
       {"search.max_num_considered_actions", "search.value_scale", "search.maxvisit_init",
        "search.rescale_values", "search.use_mixed_value", "search.gumbel_scale"}},
      {!puct,
       "search.policy",
       {"search.root_noise_alpha", "search.root_noise_fraction", "search.pb_c_init",
        "search.pb_c_base", "search.temperature", "search.temperature_final",
        "search.temperature_decay_env_steps"}},
      {puct && search.root_noise_fraction == 0.0,
       "search.root_noise_fraction",
       {"search.root_noise_alpha"}},
      {puct && !decays, "search.temperature_decay_env_steps", {"search.temperature_final"}},
      {!epsilon_decays, "search.epsilon_decay_env_steps", {"search.epsilon_final"}},
      {!explores, "search.epsilon", {"search.epsilon_max_hold"}},
      {!of_config, "search.q_transform", {"search.min_value", "search.max_value"}},
      {!of_tree, "search.q_transform", {"search.min_max_delta"}},
      {of_tree || of_config, "search.q_transform", {"search.q_epsilon"}},
      {!puct && !completed, "search.q_transform", {"search.rescale_values"}},
      {!search.num_sampled_actions.has_value(),
       "search.num_sampled_actions",
       {"search.sample_temperature", "search.uniform_sample_fraction"}},
  };
}

std::vector<Choice> ChoicesOf(const ExperimentConfig& c) {
  const bool vector = c.model.encoder == EncoderKind::kVector;
  std::vector<Choice> choices = {
      {vector, "model.encoder", {"model.encoder_channels", "model.encoder_blocks"}},
      {!vector, "model.encoder", {"model.encoder_width", "model.encoder_layers"}},
      {c.model.latent_norm != LatentNorm::kSimNorm, "model.latent_norm", {"model.sim_norm_group"}},
      {!c.replay.prioritized,
       "replay.prioritized",
       {"replay.priority_exponent", "replay.importance_exponent"}},
      {c.train.learning_rate_schedule == LearningRateSchedule::kConstant,
       "train.learning_rate_schedule",
       {"train.final_learning_rate"}},
      {c.env.random_opening_fraction == 0.0,
       "env.random_opening_fraction",
       {"env.random_opening_plies"}},
      {!c.stop.target_return.has_value(),
       "stop.target_return",
       {"stop.patience", "stop.end_at_target"}},
  };
  for (Choice& choice : SearchChoices(c.search)) choices.push_back(std::move(choice));
  return choices;
}

}  // namespace

std::vector<ConsistencyError> UnreadErrors(const ExperimentConfig& config,
                                           const std::vector<std::string>& keys,
                                           const std::string& chooser) {
  const std::map<std::string, std::string> texts = ValueTexts(config);
  std::vector<ConsistencyError> errors;
  for (const std::string& key : keys) {
    const auto text = texts.find(key);
    LZ_CHECK(text != texts.end(), "no field ", key);
    const std::string& otherwise = DefaultTexts().at(key);
    if (text->second == otherwise) continue;
    ConsistencyError error;
    error.keys = {key, chooser};
    error.message =
        absl::StrCat("nothing reads it with ", chooser, " ", texts.at(chooser), "; got ",
                     text->second, "; allowed: ", otherwise, ", its default, or another ", chooser);
    error.only_if_set_after = true;
    errors.push_back(std::move(error));
  }
  return errors;
}

std::vector<ConsistencyError> UnreadSettings(const ExperimentConfig& config) {
  std::vector<ConsistencyError> errors;
  for (const Choice& choice : ChoicesOf(config)) {
    if (!choice.holds) continue;
    for (ConsistencyError& error : UnreadErrors(config, choice.unread, choice.chooser)) {
      errors.push_back(std::move(error));
    }
  }
  return errors;
}

}  // namespace lzero
