#include "lzero/train/muzero_family.h"

#include "absl/strings/str_cat.h"
#include "lzero/inference/muzero_inference.h"
#include "lzero/world_model/muzero_network.h"
#include "lzero/world_model/update_memory.h"

namespace lzero {

std::vector<ConsistencyError> MuZeroFamily::Errors(const ExperimentConfig& config,
                                                   const EnvSpec& spec) const {
  std::vector<ConsistencyError> errors;
  if (config.replay.num_context_steps > 0) {
    errors.push_back({{"replay.num_context_steps", "model.family"},
                      absl::StrCat("got ", config.replay.num_context_steps,
                                   ", but family muzero sees one observation; allowed: 0")});
  }
  const Runner runner = config.inference.runner;
  if (runner != Runner::kAuto && runner != Runner::kEager) {
    errors.push_back({{"inference.runner", "model.family"},
                      "family muzero runs eager alone; allowed: auto, eager"});
  }
  if (config.inference.dtype != InferenceDtype::kFp32) {
    errors.push_back({{"inference.dtype", "model.family"},
                      "family muzero has fp32 alone; got bf16; allowed: fp32"});
  }
  if (config.inference.graphs == Graphs::kRequired) {
    errors.push_back({{"inference.graphs", "model.family"},
                      "family muzero records none; got required; allowed: preferred, off"});
  }
  const auto parts = LatentParts::Create(config.model, spec.observation.shape);
  const int64_t group = config.model.sim_norm_group;
  if (parts.ok() && config.model.latent_norm == LatentNorm::kSimNorm &&
      parts->latent_size() % group != 0) {
    errors.push_back({{"model.sim_norm_group", "model.encoder_channels"},
                      absl::StrCat("must divide the latent state of ", parts->latent_size(),
                                   " numbers; got ", group)});
  }
  return errors;
}

std::vector<std::string> MuZeroFamily::UnreadFields(const ModelConfig& config) const {
  std::vector<std::string> fields = {
      "model.num_layers",        "model.num_heads",        "model.context_length", "model.dropout",
      "inference.cache_storage", "inference.root_context", "loss.chance_weight"};
  if (config.latent_loss == LatentLoss::kNone) fields.push_back("loss.latent_weight");
  return fields;
}

absl::StatusOr<int64_t> MuZeroFamily::CountParameters(const ModelConfig& config,
                                                      const WorldModelShape& shape) const {
  return MuZeroNetwork::CountParameters(config, shape);
}

absl::StatusOr<std::shared_ptr<Network>> MuZeroFamily::MakeNetwork(const ModelConfig& config,
                                                                   const WorldModelShape& shape,
                                                                   uint64_t seed,
                                                                   at::Device device) const {
  return MuZeroNetwork::Create(config, shape, seed, device);
}

absl::StatusOr<int64_t> MuZeroFamily::EngineBytes(const EngineOptions& options,
                                                  const EnvFactory& /*make_env*/) const {
  return MuZeroInference::PlannedBytes(options);
}

absl::StatusOr<std::unique_ptr<InferenceEngine>> MuZeroFamily::MakeEngine(
    const EngineOptions& options, const EnvFactory& /*make_env*/) const {
  return MuZeroInference::Create(options);
}

int64_t MuZeroFamily::UpdateBytes(const ExperimentConfig& config,
                                  const WorldModelShape& shape) const {
  return MuZeroUpdateBytes(config, shape);
}

int64_t MuZeroFamily::NumRootPastSteps(const ModelConfig& /*config*/) const { return 0; }

std::string MuZeroFamily::Describe(const ModelConfig& config) const {
  const char* const kind = config.encoder == EncoderKind::kVector ? "vectors" : "planes";
  const int64_t size =
      config.encoder == EncoderKind::kVector ? config.embed_dim : config.encoder_channels;
  static constexpr const char* kLosses[] = {"mse", "group_kl", "none", "cosine"};
  return absl::StrCat("muzero, latent ", kind, " of ", size, ", latent loss ",
                      kLosses[static_cast<int>(config.latent_loss)]);
}

}  // namespace lzero
