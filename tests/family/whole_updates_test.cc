// Losses and gradients of whole updates by the kernels against plain operations and autograd: every
// family, with the encoders that its configs have.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/tensor_families.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/random_batch.h"

namespace lzero::whole_updates_test {
namespace {

constexpr int kNumSamples = 70;  // enough for every kernel
constexpr int kNumUnroll = 5;

struct Case {
  const char* name;
  Family family;
  EncoderKind encoder;
  std::vector<int64_t> observation;
  std::vector<int32_t> places = {};  // of actions, for a policy read cell by cell
  bool is_bytes = false;
  int num_context = 0;
};

constexpr int kNumActions = 4;

ModelConfig ConfigOf(const Case& each) {
  ModelConfig config;
  config.family = each.family;
  config.encoder = each.encoder;
  config.encoder_width = 20;
  config.encoder_channels = 16;
  config.encoder_blocks = 2;
  config.embed_dim = 32;
  config.num_heads = 2;
  config.context_length = 16;
  config.head_dim = 24;
  config.support_size = 21;
  config.policy_cells = config.head_pooling = !each.places.empty();
  const bool has_dynamics = each.family != Family::kAlphaZero && each.family != Family::kUniZero;
  config.latent_loss = has_dynamics ? LatentLoss::kCosine : LatentLoss::kMse;
  return config;
}

WorldModelShape ShapeOf(const Case& each) {
  WorldModelShape shape = {each.observation, kNumActions};
  shape.action_places = each.places;
  if (each.family == Family::kStochasticMuZero) shape.num_chance_outcomes = 6;
  return shape;
}

// Every weight counts: fresh last layers are zero.
std::shared_ptr<Network> RandomNetwork(const Case& each, uint64_t seed) {
  auto network =
      TensorFamilyOf(ConfigOf(each)).make_network(ConfigOf(each), ShapeOf(each), seed, at::kCPU);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (at::Tensor& weight : (*network)->parameters()) weight.add_(at::randn_like(weight), 0.2);
  return *std::move(network);
}

BatchTensors TensorsOf(const Case& each, TrainBatch& batch) {
  BatchTensors tensors = reference::ViewBatch(batch);
  if (each.family == Family::kStochasticMuZero) {
    torch::manual_seed(5);
    tensors.chance_outcomes = at::randint(-1, 6, {kNumSamples, kNumUnroll}, at::kInt);
  }
  if (each.is_bytes) {
    for (at::Tensor* pictures : {&tensors.observations, &tensors.bootstrap_observations}) {
      *pictures = (*pictures * 50 + 128).clamp(0, 255).to(at::kByte);
    }
  }
  return tensors;
}

class WholeUpdates : public testing::TestWithParam<Case> {};

TEST_P(WholeUpdates, KernelsGiveTheGradientsOfPlainOperations) {
  SetTensorThreads(1);
  const auto network = RandomNetwork(GetParam(), 1), target = RandomNetwork(GetParam(), 2);
  TrainBatch batch =
      reference::RandomBatch(kNumSamples, GetParam().num_context, kNumUnroll, 11, kNumActions,
                             static_cast<int>(ShapeOf(GetParam()).observation_size()));
  const BatchTensors tensors = TensorsOf(GetParam(), batch);
  const auto run = [&] {
    network->zero_grad();
    const LossTerms terms = network->ComputeLosses(*target, tensors, {7.0, 1.3, 0.6, 0.9, 0.07});
    terms.total.backward();
    std::vector<at::Tensor> numbers = {terms.total.detach(), terms.value_errors.detach()};
    for (const LossMetric& metric : terms.metrics) numbers.push_back(metric.value);
    for (const at::Tensor& weight : network->parameters()) numbers.push_back(weight.grad().clone());
    return numbers;
  };
  const std::vector<at::Tensor> fused = run();
  const PlainPathGuard guard;
  const std::vector<at::Tensor> plain = run();
  int64_t num_rounded = 0;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double apart = (fused[i] - plain[i]).norm().item<double>();
    EXPECT_LE(apart, 1e-5 * (plain[i].norm().item<double>() + 1e-3)) << i;
    num_rounded += apart > 0.0;
  }
  EXPECT_GT(num_rounded, 0) << "no kernel ran";
}

INSTANTIATE_TEST_SUITE_P(
    All, WholeUpdates,
    testing::Values(
        Case{"MuZeroVector", Family::kMuZero, EncoderKind::kVector, {7}},
        Case{"MuZeroBoard", Family::kMuZero, EncoderKind::kBoard, {3, 6, 7}},
        Case{"MuZeroCells", Family::kMuZero, EncoderKind::kBoard, {3, 6, 7}, {3, 40, -1, 59}},
        Case{"MuZeroImage", Family::kMuZero, EncoderKind::kImage, {2, 40, 24}, {}, true},
        Case{"StochasticMuZero", Family::kStochasticMuZero, EncoderKind::kVector, {7}},
        Case{"AlphaZeroVector", Family::kAlphaZero, EncoderKind::kVector, {7}},
        Case{"AlphaZeroBoard", Family::kAlphaZero, EncoderKind::kBoard, {3, 6, 7}},
        Case{"AlphaZeroCells", Family::kAlphaZero, EncoderKind::kBoard, {3, 6, 7}, {3, 40, -1, 59}},
        Case{"UniZeroBoard", Family::kUniZero, EncoderKind::kBoard, {3, 6, 7}},
        Case{"UniZeroImage", Family::kUniZero, EncoderKind::kImage, {2, 40, 24}, {}, true, 2}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::whole_updates_test
