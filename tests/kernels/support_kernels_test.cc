// Two-hot losses and means of the support by hand; against plain operations in
// tests/nn/two_hot_test.cc.
#include "lzero/kernels/support_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::support_kernels_test {
namespace {

TEST(SupportKernelsTest, NumbersByHand) {
  // Atoms -1, 0, 1; h(0.5) = 0.225245 lies between 0 and 1.
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f}, values = {0.5f};
  std::vector<float> log_sums(1), losses(1), dlogits(3), decoded(1);
  const TwoHotTask task = {1, SqueezedSupport(3), logits.data(), values.data(), log_sums.data()};
  RunTwoHotLoss(task, losses.data());
  const double sum = 1.0 + std::exp(1.0) + std::exp(2.0), share = 0.225245;
  EXPECT_NEAR(log_sums[0], std::log(sum), 1e-6);
  EXPECT_NEAR(losses[0], std::log(sum) - (1.0 - share) - 2.0 * share, 1e-6);
  const std::vector<float> slope = {2.0f};
  RunTwoHotLossBackward(task, slope.data(), dlogits.data());
  EXPECT_NEAR(dlogits[0], 2.0 / sum, 1e-6);
  EXPECT_NEAR(dlogits[1], 2.0 * (std::exp(1.0) / sum - (1.0 - share)), 1e-6);
  EXPECT_NEAR(dlogits[2], 2.0 * (std::exp(2.0) / sum - share), 1e-6);
  RunDecode(1, SqueezedSupport(3), logits.data(), decoded.data());
  // h of it is the mean of the atoms.
  EXPECT_NEAR(std::sqrt(decoded[0] + 1.0) - 1.0 + 0.001 * decoded[0], (std::exp(2.0) - 1.0) / sum,
              1e-6);
}

TEST(SupportKernelsTest, DecodesRowsThatLieApart) {
  // Means of the atoms 1, -1 and 0, and of loss, draw and win.
  const std::vector<float> logits = {0, 0, 90, 90, 0, 0, 0, 90, 0};
  std::vector<float> values(4, -7.0f);
  DecodeRows(3, EvenSupport(-1, 1, 3), logits.data(), 3, values.data());
  EXPECT_EQ(values, (std::vector<float>{1, -1, 0, -7}));
  DecodeRows(2, EvenSupport(2, 4, 2), logits.data() + 1, 4, values.data());
  EXPECT_EQ(values, (std::vector<float>{4, 3, 0, -7}));
}

}  // namespace
}  // namespace lzero::support_kernels_test
