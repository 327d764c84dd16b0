// Helpers of the inference tests: a world model whose weights all matter, and an independent full
// pass over a whole episode and a path of imagined actions.
#ifndef LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RANDOM_MODEL_H_
#define LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RANDOM_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "lzero/family/unizero/world_model.h"
#include "lzero/tensor/torch.h"

namespace lzero {

// Fresh weights have zero last layers; here every weight is drawn anew, so that all outputs depend
// on all inputs.
inline void Randomize(WorldModel& model, uint64_t seed) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& parameter : model.parameters()) {
    if (parameter.dim() >= 2) {
      parameter.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(parameter[0].numel())));
    } else {
      parameter.add_(at::randn_like(parameter).mul_(0.1));
    }
  }
}

inline std::shared_ptr<WorldModel> RandomModel(const ModelConfig& config,
                                               const WorldModelShape& shape, uint64_t seed) {
  auto model = WorldModel::Create(config, shape, seed).value();
  Randomize(*model, seed);
  model->eval();
  return model;
}

// What a full banded pass says at the end of: observations o_0 .. o_t with actions between them,
// then imagined actions, each followed by the predicted latent. Nothing is cached.
struct FullPass {
  float reward = 0.0f;  // at the last imagined action; 0 without one
  float value = 0.0f;   // at the last observation token
  std::vector<float> logits;
};

inline FullPass RunFullPass(const WorldModel& model,
                            const std::vector<std::vector<float>>& observations,
                            const std::vector<int32_t>& actions,
                            const std::vector<int32_t>& imagined) {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> tokens;  // each [E]
  for (size_t i = 0; i < observations.size(); ++i) {
    tokens.push_back(model.Encode(at::tensor(observations[i]).unsqueeze(0)).squeeze(0));
    if (i + 1 < observations.size())
      tokens.push_back(model.EmbedActions(at::tensor({actions[i]})).squeeze(0));
  }
  const auto run = [&] {
    return model.transformer().Forward(at::stack(tokens).unsqueeze(0), {}, nullptr).select(1, -1);
  };
  FullPass result;
  for (const int32_t action : imagined) {
    tokens.push_back(model.EmbedActions(at::tensor({action})).squeeze(0));
    const at::Tensor y = run();
    result.reward = model.DecodeRewards(model.RewardLogits(y)).item<float>();
    tokens.push_back(model.NextLatent(y).squeeze(0));
  }
  const at::Tensor y = run();
  result.value = model.DecodeValues(model.ValueLogits(y)).item<float>();
  const at::Tensor logits = model.PolicyLogits(y).squeeze(0).contiguous();
  result.logits.assign(logits.const_data_ptr<float>(),
                       logits.const_data_ptr<float>() + logits.numel());
  return result;
}

}  // namespace lzero

#endif  // LZERO_TESTS_FAMILY_UNIZERO_RUNNERS_RANDOM_MODEL_H_
