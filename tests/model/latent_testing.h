// Small networks with recurrent latents for tests, of vectors and of planes.
#ifndef LZERO_TESTS_MODEL_LATENT_TESTING_H_
#define LZERO_TESTS_MODEL_LATENT_TESTING_H_

#include <cstdint>
#include <memory>

#include "lzero/family/muzero/muzero_network.h"
#include "lzero/nn/threads.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::reference {

inline ModelConfig VectorConfig(LatentLoss loss) {
  ModelConfig config;
  config.family = Family::kMuZero;
  config.encoder_width = 10;
  config.embed_dim = 16;
  config.support_size = 11;
  config.head_dim = 12;
  config.latent_loss = loss;
  return config;
}

inline ModelConfig PlaneConfig(EncoderKind encoder) {
  ModelConfig config = VectorConfig(LatentLoss::kCosine);
  config.encoder = encoder;
  config.encoder_channels = 4;
  config.encoder_blocks = 1;
  return config;
}

inline std::shared_ptr<MuZeroNetwork> Make(const ModelConfig& config, const WorldModelShape& shape,
                                           uint64_t seed) {
  SetTensorThreads(1);
  auto network = MuZeroNetwork::Create(config, shape, seed).value();
  reference::Scatter(*network, 0.4, seed);  // fresh last layers are zero
  return network;
}

inline const WorldModelShape kVectorShape{{kObservationSize}, kNumActions, 0};

}  // namespace lzero::reference

#endif  // LZERO_TESTS_MODEL_LATENT_TESTING_H_
