// Roots on packed weights: the numbers and contexts of eager roots, for every encoder,
// pasts of every length, one thread and two.
#include "lzero/family/unizero/engine/packed_roots.h"

#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "lzero/family/unizero/engine/packed_step.h"
#include "lzero/family/unizero/runners/eager_roots.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/family/unizero/runners/root_scene.h"

namespace lzero::packed_roots_test {
namespace {

constexpr int kNumEnvs = 6;
constexpr int kNumActions = 5;

struct Case {
  const char* name;
  EncoderKind encoder;
  int64_t num_layers;
  int64_t context_length;
  int num_threads;
};

WorldModelShape ShapeOf(EncoderKind encoder) {
  std::vector<int64_t> observation = {7};
  if (encoder == EncoderKind::kBoard) observation = {2, 3, 4};
  if (encoder == EncoderKind::kImage) observation = {3, 22, 18};
  return {observation, kNumActions};
}

std::shared_ptr<WorldModel> ModelOf(const Case& parameters) {
  ModelConfig config;
  config.embed_dim = 48;
  config.num_heads = 3;
  config.num_layers = parameters.num_layers;
  config.context_length = parameters.context_length;
  config.encoder = parameters.encoder;
  config.encoder_width = 40;
  config.encoder_layers = 2;
  config.encoder_channels = 4;
  return RandomModel(config, ShapeOf(parameters.encoder), 3);
}

void ExpectClose(const std::vector<float>& got, const std::vector<float>& expected) {
  float scale = 1.0f;
  for (const float number : expected) scale = std::max(scale, std::abs(number));
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5f * scale) << i;
}

void ExpectSameContexts(const KVCacheManager& got, const KVCacheManager& expected,
                        const std::vector<int64_t>& steps) {
  for (int e = 0; e < kNumEnvs; ++e) {
    const auto got_cache = got.CloneInit(EnvId(e), steps[e]);
    const auto expected_cache = expected.CloneInit(EnvId(e), steps[e]);
    ASSERT_TRUE(got_cache.ok() && expected_cache.ok()) << got_cache.status();
    ASSERT_EQ(got_cache->size(), expected_cache->size());
    const std::vector<float> got_tokens = got_cache->CopyTokens(0, got_cache->size());
    const std::vector<float> expected_tokens = expected_cache->CopyTokens(0, got_cache->size());
    for (size_t i = 0; i < got_tokens.size(); ++i) {
      ASSERT_NEAR(got_tokens[i], expected_tokens[i], 2e-5f) << e;
    }
  }
}

class PackedRootsParity : public testing::TestWithParam<Case> {};

TEST_P(PackedRootsParity, RebuiltThenContinuedRootsAreThoseOfEager) {
  SetTensorThreads(1);
  const auto model = ModelOf(GetParam());
  SceneCache packed_scene(*model, kNumEnvs), eager_scene(*model, kNumEnvs);
  PackedStep step(
      {model->config(), model->shape(), kNumEnvs, InferenceDtype::kFp32, GetParam().num_threads});
  step.Load(NetworkWeights(*model));
  const auto packed = MakePackedRoots(&step, packed_scene.cache.get(), packed_scene.contexts.get());
  const auto eager =
      std::make_unique<EagerRoots>(*model, eager_scene.cache.get(), eager_scene.contexts.get());
  const int64_t observation_size = model->shape().observation_size();
  // The last root's window is full, or fills and begins to slide.
  const int64_t last = std::max<int64_t>(30, GetParam().context_length / 2 - 2);
  const auto episodes = RandomEpisodes(kNumEnvs, last + 10, observation_size, kNumActions, 4);
  std::vector<int64_t> steps = {0, 1, 2, 5, 9, last};
  for (int round = 0; round < 6; ++round) {
    const SceneRoots roots(episodes, steps);
    SceneOutputs got(kNumEnvs, kNumActions), expected(kNumEnvs, kNumActions);
    const auto run = [&](RootRunner& runner, SceneOutputs& outputs) {
      return round == 0 ? runner.Rebuild(roots.roots(), roots.rows(), outputs.spans())
                        : runner.Continue(roots.roots(), roots.rows(), outputs.spans());
    };
    ASSERT_TRUE(run(*packed, got).ok());
    ASSERT_TRUE(run(*eager, expected).ok());
    ExpectClose(got.values, expected.values);
    ExpectClose(got.logits, expected.logits);
    ExpectSameContexts(*packed_scene.cache, *eager_scene.cache, steps);
    for (int64_t& at : steps) ++at;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, PackedRootsParity,
                         testing::Values(Case{"vector", EncoderKind::kVector, 2, 8, 1},
                                         Case{"board", EncoderKind::kBoard, 2, 8, 1},
                                         Case{"image", EncoderKind::kImage, 2, 8, 2},
                                         Case{"deep", EncoderKind::kVector, 4, 5, 2},
                                         Case{"long", EncoderKind::kVector, 1, 23, 2},
                                         Case{"longest", EncoderKind::kVector, 2, 200, 1},
                                         Case{"short", EncoderKind::kVector, 3, 2, 1}),
                         [](const auto& parameters) { return parameters.param.name; });

TEST(PackedRootsTest, AnActionThatCannotBeIsRefused) {
  const auto model = ModelOf({"", EncoderKind::kVector, 2, 8, 1});
  SceneCache scene(*model, 1);
  PackedStep step({model->config(), model->shape(), 1});
  step.Load(NetworkWeights(*model));
  const auto roots = MakePackedRoots(&step, scene.cache.get(), scene.contexts.get());
  auto episodes = RandomEpisodes(1, 4, 7, kNumActions, 5);
  episodes[0].actions[1] = kNumActions;
  SceneOutputs outputs(1, kNumActions);
  const SceneRoots wrong(episodes, {3});
  EXPECT_EQ(roots->Rebuild(wrong.roots(), wrong.rows(), outputs.spans()),
            absl::InvalidArgumentError("root 0: action 5; allowed: 0 .. 4"));
  EXPECT_FALSE(scene.cache->HasInit(EnvId(0), 3));
}

}  // namespace
}  // namespace lzero::packed_roots_test
