#include "absl/strings/str_cat.h"
#include "lzero/config/consistency.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "lzero/family/packed/eager_rules.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/packed/update_memory.h"

namespace lzero {
namespace {

// The first thing that makes an environment one that cannot be searched; nothing when it can.
void CheckEnv(const EnvSpec& spec, std::vector<ConsistencyError>* errors) {
  std::string message;
  if (spec.action.kind != ActionKind::kDiscrete) {
    message = absl::StrCat("alphazero plays every action of a node in the environment; got ",
                           spec.id, ", which has box actions; allowed: discrete ones");
  } else if (!spec.can_save) {
    message = absl::StrCat("alphazero searches saved states of the environment; got ", spec.id,
                           ", which cannot be saved (nor can any that runs in worker processes); "
                           "allowed: an environment with Save and Load");
  } else if (!spec.deterministic || spec.num_chance_outcomes > 0) {
    message = absl::StrCat(
        "a saved state holds the random numbers to come, and alphazero would search them; got ",
        spec.id, ", whose steps are random; allowed: a deterministic environment");
  }
  Require(message.empty(), errors, {"model.family", "env.id"},
          absl::StrCat(message, ", or another model.family"));
}

int64_t AlphaZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  int64_t cells = 0;
  const double sample = EncoderHeld(model, shape, &cells).Total() +
                        4.0 * static_cast<double>(model.embed_dim) + PolicyHeld(model, shape) +
                        HeadHeld(model, model.value_bins());
  return HeldBytes(static_cast<double>(config.train.batch_size * config.replay.num_unroll_steps) *
                   sample);
}

}  // namespace

const ModelFamily& AlphaZeroFamily() {
  static const ModelFamily kFamily = {
      .errors =
          [](const ExperimentConfig& config, const EnvSpec& spec) {
            std::vector<ConsistencyError> errors = EagerFamilyErrors(config, spec);
            RequireWholeGroups(config, spec, config.model.policy_cells, &errors);
            CheckEnv(spec, &errors);
            return errors;
          },
      .unread_fields =
          [](const ModelConfig& config) {
            std::vector<std::string> fields = {"model.num_layers",
                                               "model.num_heads",
                                               "model.context_length",
                                               "model.dropout",
                                               "model.latent_loss",
                                               "loss.latent_weight",
                                               "replay.bootstrap_context_steps",
                                               "loss.reward_weight",
                                               "loss.chance_weight",
                                               "model.reward_support",
                                               "inference.cache_storage",
                                               "inference.root_context"};
            if (!config.policy_cells) fields.push_back("model.head_pooling");
            return fields;
          },
      .engine_bytes = PackedAlphaZeroBytes,
      .state_bytes = AlphaZeroStateBytes,
      .make_engine = MakePackedAlphaZero,
      .can_reanalyze = false,  // replay stores no states of the environment
      .update_bytes = AlphaZeroUpdateBytes,
      .describe =
          [](const ModelConfig& config) {
            const std::string encoder =
                config.policy_cells
                    ? absl::StrCat("planes of ", config.encoder_channels, ", a policy read by cell")
                    : absl::StrCat("encoder of width ", config.embed_dim, ", policy");
            return absl::StrCat("alphazero: ", encoder,
                                " and value heads; searches in the environment itself");
          },
  };
  return kFamily;
}

}  // namespace lzero
