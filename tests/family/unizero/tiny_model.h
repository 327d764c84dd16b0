// A world model of a few hundred weights, none of them alike, for tests of losses.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_TINY_MODEL_H_
#define LZERO_TESTS_FAMILY_UNIZERO_TINY_MODEL_H_

#include <cstdint>
#include <memory>

#include "lzero/family/unizero/world_model.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::reference {

inline ModelConfig TinyConfig(LatentNorm norm = LatentNorm::kLayerNorm,
                              LatentLoss loss = LatentLoss::kMse) {
  ModelConfig config;
  config.encoder_width = 10;
  config.embed_dim = 16;
  config.num_layers = 2;
  config.num_heads = 2;
  config.context_length = 4;
  config.support_size = 11;
  config.head_dim = 12;
  config.latent_norm = norm;
  config.latent_loss = loss;
  return config;
}

inline std::shared_ptr<WorldModel> Make(const ModelConfig& config, uint64_t seed) {
  torch::set_num_threads(1);
  std::shared_ptr<WorldModel> model =
      *WorldModel::Create(config, {{kObservationSize}, kNumActions}, seed);
  Scatter(*model, 0.2, seed + 100);
  return model;
}

}  // namespace lzero::reference

#endif  // LZERO_TESTS_FAMILY_UNIZERO_TINY_MODEL_H_
