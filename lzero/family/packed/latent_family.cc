#include "lzero/family/packed/latent_family.h"

#include "absl/strings/str_cat.h"
#include "lzero/config/schema.h"
#include "lzero/family/packed/eager_rules.h"
#include "lzero/family/packed/update_memory.h"

namespace lzero {
namespace {

std::vector<ConsistencyError> LatentErrors(const ExperimentConfig& config, const EnvSpec& spec) {
  std::vector<ConsistencyError> errors = EagerFamilyErrors(config, spec);
  RequireWholeGroups(config, spec, /*has_planes=*/true, &errors);
  return errors;
}

std::vector<std::string> LatentUnreadFields(const ModelConfig& config) {
  std::vector<std::string> fields = {"model.num_layers",        "model.num_heads",
                                     "model.context_length",    "model.dropout",
                                     "inference.cache_storage", "inference.root_context",
                                     "loss.chance_weight",      "replay.bootstrap_context_steps"};
  if (config.latent_loss == LatentLoss::kNone) fields.push_back("loss.latent_weight");
  return fields;
}

int64_t LatentUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape) {
  const ModelConfig& model = config.model;
  // One encoding, one step of the dynamics, and the heads.
  int64_t cells = 0;
  const double encoder = EncoderHeld(model, shape, &cells).Total();
  HeldNumbers step;
  if (cells == 0) {
    step.Add(static_cast<double>(model.embed_dim), 6);
    step.Add(static_cast<double>(model.head_units()), 3);
  } else {
    const auto planes = static_cast<double>(model.encoder_channels * cells);
    step.Add(planes, 6);
    for (int64_t i = 0; i < 2 * model.encoder_blocks; ++i) step.Add(planes, kCopiesOfConvolution);
  }
  const double heads = PolicyHeld(model, shape) + HeadHeld(model, model.value_bins()) +
                       HeadHeld(model, model.reward_bins()) +
                       HeadHeld(model, shape.num_chance_outcomes);
  // All of them in an update.
  const auto unroll = static_cast<double>(config.replay.num_unroll_steps);
  // The first state is encoded; a latent loss encodes those after it and projects them, chance
  // comes between a state and the next.
  const bool compares = model.latent_loss != LatentLoss::kNone;
  const double sample =
      (compares ? unroll + 1.0 : 1.0) * encoder +
      (compares || shape.num_chance_outcomes > 0 ? 2.0 : 1.0) * unroll * (step.Total() + heads);
  return HeldBytes(static_cast<double>(config.train.batch_size) * sample);
}

std::string DescribeLatent(const ModelConfig& config) {
  const char* const kind = config.encoder == EncoderKind::kVector ? "vectors" : "planes";
  const int64_t size =
      config.encoder == EncoderKind::kVector ? config.embed_dim : config.encoder_channels;
  ExperimentConfig named;
  named.model = config;
  return absl::StrCat("muzero: latent ", kind, " of ", size, ", latent loss ",
                      ValueText(named, "model.latent_loss"));
}

}  // namespace

ModelFamily LatentFamily() {
  return {.errors = LatentErrors,
          .unread_fields = LatentUnreadFields,
          .update_bytes = LatentUpdateBytes,
          .reads_sequences = false,
          .describe = DescribeLatent};
}

}  // namespace lzero
