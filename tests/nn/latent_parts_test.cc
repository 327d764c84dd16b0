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

TEST(LatentParts, ActionsOfBoardsMarkTheirCellOrColumn) {
  const auto table_of = [](EncoderKind encoder, int64_t num_actions) {
    return LatentParts::Create(Config(encoder), {2, 3, 4})->MakeInputTable(num_actions, 0);
  };
  const at::Tensor cells = table_of(EncoderKind::kBoard, 13);
  EXPECT_TRUE(at::equal(cells.slice(0, 0, 12), 2.0 * at::eye(12)));
  EXPECT_TRUE(at::equal(cells[12], at::zeros({12})));
  const at::Tensor columns = table_of(EncoderKind::kBoard, 4).view({4, 3, 4});
  EXPECT_TRUE(at::equal(columns, 2.0 * at::eye(4).unsqueeze(1).expand({4, 3, 4})));
  // Others are told apart alone, as large as latents.
  EXPECT_NEAR(table_of(EncoderKind::kBoard, 200).std().item<double>(), 1.0, 0.1);
}

TEST(LatentParts, AnEncoderThatDoesNotFitIsRefused) {
  EXPECT_FALSE(LatentParts::Create(Config(EncoderKind::kBoard), {5}).ok());
}

}  // namespace
}  // namespace lzero::latent_parts_test
