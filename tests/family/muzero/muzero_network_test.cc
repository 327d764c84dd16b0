// MuZero's network: its size, and that it learns; its parts and losses in latent_network_test.cc.
#include "lzero/family/muzero/muzero_network.h"

#include <memory>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/latent_testing.h"
#include "tests/model/loss_metrics.h"
#include "tests/model/random_batch.h"

namespace lzero::muzero_network_test {
namespace {

using reference::kVectorShape;
using reference::Make;
using reference::PlaneConfig;
using reference::VectorConfig;

TEST(MuZeroNetwork, CountsItsParametersBeforeItIsMade) {
  for (const LatentLoss loss : {LatentLoss::kNone, LatentLoss::kMse, LatentLoss::kCosine}) {
    for (const WorldModelShape& shape : {kVectorShape, WorldModelShape{{5}, 0, 2}}) {
      EXPECT_EQ(
          MuZeroNetwork::Create(VectorConfig(loss), shape, 1, at::kMeta).value()->num_parameters(),
          Make(VectorConfig(loss), shape, 1)->num_parameters());
    }
  }
  const WorldModelShape board{{3, 6, 7}, 7, 0}, image{{1, 40, 24}, 3, 0};
  for (const auto& [encoder, shape] :
       {std::pair(EncoderKind::kBoard, board), std::pair(EncoderKind::kImage, image)}) {
    EXPECT_EQ(
        MuZeroNetwork::Create(PlaneConfig(encoder), shape, 1, at::kMeta).value()->num_parameters(),
        Make(PlaneConfig(encoder), shape, 1)->num_parameters());
  }
}

TEST(MuZeroNetwork, ABatchIsLearntByHeart) {
  for (const LatentLoss loss : {LatentLoss::kNone, LatentLoss::kCosine}) {
    const ModelConfig config = VectorConfig(loss);
    auto network = MuZeroNetwork::Create(config, kVectorShape, 1).value();
    auto target = MuZeroNetwork::Create(config, kVectorShape, 1).value();
    TrainBatch batch = reference::RandomBatch(4, 0, 2, 3);
    LossConfig weights;
    weights.latent_weight = 2.0;
    torch::optim::AdamW optimizer(network->parameters(), 1e-2);
    double first = 0.0, last = 0.0;
    for (int i = 0; i < 400; ++i) {
      optimizer.zero_grad();
      const LossTerms terms = network->ComputeLosses(*target, reference::ViewBatch(batch), weights);
      terms.total.backward();
      optimizer.step();
      last = MetricOf(terms, "value/error").item<double>();
      if (i == 0) first = last;
    }
    EXPECT_LT(last, 0.1 * first);
  }
}

}  // namespace
}  // namespace lzero::muzero_network_test
