// What every family's network inherits, on the smallest network there is.
#include "lzero/model/network.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::network_test {
namespace {

class TwoWeights : public Network {
 public:
  TwoWeights(float first, float second) : Network(ModelConfig(), WorldModelShape()) {
    register_parameter("first", torch::full({2, 3}, first));
    register_parameter("second", torch::full({4}, second));
    KeepWeights();
  }
  LossTerms ComputeLosses(const Network&, const BatchTensors&, const LossConfig&) const override {
    return {};
  }
};

TEST(Network, CountsItsParameters) { EXPECT_EQ(TwoWeights(0.0f, 0.0f).num_parameters(), 10); }

TEST(Network, CopiesInPlace) {
  TwoWeights from(1.0f, 2.0f), to(3.0f, 4.0f);
  const at::Tensor first = to.parameters()[0];
  to.CopyWeightsFrom(from);
  EXPECT_TRUE(at::equal(first, torch::full({2, 3}, 1.0f)));
  EXPECT_TRUE(at::equal(to.parameters()[1], torch::full({4}, 2.0f)));
}

TEST(MoveTensorsTowards, MovesUnlessToldToSkip) {
  TwoWeights from(1.0f, 2.0f), to(3.0f, 4.0f);
  MoveTensorsTowards(to.parameters(), from.parameters(), 0.25, torch::ones({}));
  EXPECT_TRUE(at::equal(to.parameters()[0], torch::full({2, 3}, 3.0f)));
  MoveTensorsTowards(to.parameters(), from.parameters(), 0.25, torch::zeros({}));
  EXPECT_TRUE(at::allclose(to.parameters()[0], torch::full({2, 3}, 2.5f)));
  EXPECT_TRUE(at::allclose(to.parameters()[1], torch::full({4}, 3.5f)));
}

TEST(WorldModelShape, SizesFollowTheKindOfAction) {
  WorldModelShape discrete{{3, 4}, 5};
  EXPECT_EQ(discrete.policy_size(), 5);
  EXPECT_EQ(discrete.observation_size(), 12);
  WorldModelShape box{{7}, 0, 3};
  EXPECT_EQ(box.policy_size(), 6);
}

}  // namespace
}  // namespace lzero::network_test
