// Sizes of the parts of a latent model, and what a step and a head must be: a change of the latent,
// and zero at the start. The numbers themselves are in muzero_network_test.cc.
#include "lzero/nn/latent_parts.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::latent_parts_test {
namespace {

ModelConfig Config(EncoderKind encoder) {
  ModelConfig config;
  config.encoder = encoder;
  config.embed_dim = 16;
  config.encoder_channels = 6;
  config.encoder_blocks = 2;
  return config;
}

TEST(LatentParts, EveryKindHasTheSizesItTells) {
  const std::pair<EncoderKind, std::vector<int64_t>> cases[] = {{EncoderKind::kVector, {5}},
                                                                {EncoderKind::kBoard, {3, 6, 7}},
                                                                {EncoderKind::kImage, {2, 33, 20}}};
  for (const auto& [encoder, shape] : cases) {
    const LatentParts parts = LatentParts::Create(Config(encoder), shape).value();
    const torch::NoGradGuard no_grad;
    const auto made = parts.MakeLatentEncoder();
    int64_t size = 1;
    for (const int64_t length : shape) size *= length;
    const at::Tensor latents = made->Forward(torch::randn({4, size}));
    EXPECT_EQ(latents.sizes(), at::IntArrayRef({4, parts.latent_size()}));
    const auto step = parts.MakeStep();
    const at::Tensor next = step->Forward(latents, torch::randn({4, parts.input_size()}));
    EXPECT_EQ(next.sizes(), latents.sizes());
    const auto head = parts.MakeHead(9);
    EXPECT_TRUE(at::equal(head->Forward(latents), torch::zeros({4, 9})));
  }
}

TEST(LatentParts, AnEncoderThatDoesNotFitIsRefused) {
  EXPECT_FALSE(LatentParts::Create(Config(EncoderKind::kBoard), {5}).ok());
}

}  // namespace
}  // namespace lzero::latent_parts_test
