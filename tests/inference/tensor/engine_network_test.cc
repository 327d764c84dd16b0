// The network of an engine: where its weights come from, and that they stay where they are.
#include "lzero/inference/tensor/engine_network.h"

#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"

namespace lzero::engine_network_test {
namespace {

std::shared_ptr<MuZeroNetwork> MakeNetwork(uint64_t seed) {
  ModelConfig config;
  config.latent_loss = LatentLoss::kNone;
  config.embed_dim = 8;
  return MuZeroNetwork::Create(config, {{3}, 4}, seed).value();
}

// Weights that are numbers and no network.
class CopiedWeights : public packed::WeightSource {
 public:
  explicit CopiedWeights(const Network& network) {
    for (const auto& entry : network.named_parameters()) {
      const at::Tensor& tensor = entry.value();
      const float* first = tensor.const_data_ptr<float>();
      numbers_[entry.key()].assign(first, first + tensor.numel());
    }
  }
  absl::Status Prepare() const override { return status; }
  absl::Span<const float> Get(const std::string& name,
                              absl::Span<const int64_t> /*shape*/) const override {
    return numbers_.at(name);
  }
  absl::Status status;

 private:
  std::map<std::string, std::vector<float>> numbers_;
};

TEST(EngineNetwork, TakesTheWeightsOfANetworkOrOfAFileInPlace) {
  const auto source = MakeNetwork(5), other = MakeNetwork(6);
  EngineNetwork network(EngineDevice(), MakeNetwork(1));
  const at::Tensor mine = network.network().parameters()[0];
  int num_calls = 0;
  ASSERT_TRUE(network.CopyFrom(NetworkWeights(*source), [&] { ++num_calls; }).ok());
  EXPECT_TRUE(at::equal(mine, source->parameters()[0]));
  ASSERT_TRUE(network.CopyFrom(CopiedWeights(*other), [&] { ++num_calls; }).ok());
  for (const auto& entry : other->named_parameters()) {
    EXPECT_TRUE(at::equal(network.network().named_parameters()[entry.key()], entry.value()));
  }
  EXPECT_TRUE(at::equal(mine, other->parameters()[0]));
  EXPECT_EQ(num_calls, 2);
}

TEST(EngineNetwork, ASourceThatCannotBeReadChangesNothing) {
  CopiedWeights source(*MakeNetwork(5));
  source.status = absl::DataLossError("gone");
  EngineNetwork network(EngineDevice(), MakeNetwork(1));
  const at::Tensor before = network.network().parameters()[0].clone();
  EXPECT_EQ(network.CopyFrom(source, [] { FAIL(); }), source.status);
  EXPECT_TRUE(at::equal(network.network().parameters()[0], before));
}

TEST(EngineNetwork, WeightsOnAnotherDeviceAreNamedWithBothDevices) {
  const auto source = MakeNetwork(3);
  const at::Tensor weight = source->named_parameters()["value_head.head.first.weight"];
  // What a module of another device looks like: nn::Module itself cannot be moved to meta.
  weight.unsafeGetTensorImpl()->shallow_copy_from(weight.detach().to(at::kMeta).getIntrusivePtr());
  const absl::Status refused = absl::InvalidArgumentError(
      "weight value_head.head.first.weight lies on device meta, expected cpu");
  EngineNetwork network(EngineDevice(), MakeNetwork(1));
  EXPECT_EQ(network.CopyFrom(NetworkWeights(*source), [] { FAIL(); }), refused);
  EXPECT_EQ(NetworkWeights(*source).Prepare(), refused);
}

}  // namespace
}  // namespace lzero::engine_network_test
