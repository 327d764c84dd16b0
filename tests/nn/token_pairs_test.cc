// Tokens of latents and actions, and back: by hand, and against plain operations in double.
#include "lzero/nn/token_pairs.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::token_pairs_test {
namespace {

using Inputs = std::vector<at::Tensor>;

at::Tensor Actions(int64_t samples, int64_t steps, int64_t num_actions) {
  return at::randint(num_actions, {samples, steps}, at::kInt);
}

TEST(TokenPairsTest, LiesInPairs) {
  const at::Tensor latents = torch::tensor({{{1.0f, 2.0f}, {3.0f, 4.0f}}});
  const at::Tensor embeddings = torch::tensor({{-1.0f, -2.0f}, {-3.0f, -4.0f}, {-5.0f, -6.0f}});
  const at::Tensor tokens = PairTokens(latents, embeddings, torch::tensor({{2, 0}}, at::kInt));
  EXPECT_TRUE(at::equal(
      tokens, torch::tensor({{{1.0f, 2.0f}, {-5.0f, -6.0f}, {3.0f, 4.0f}, {-1.0f, -2.0f}}})));
  const TokenPairs all = SplitTokens(tokens, 0);
  EXPECT_TRUE(at::equal(all.at_observations, latents));
  EXPECT_TRUE(at::equal(all.at_actions, torch::tensor({{{-5.0f, -6.0f}, {-1.0f, -2.0f}}})));
  const TokenPairs last = SplitTokens(tokens, 1);
  EXPECT_TRUE(at::equal(last.at_observations, torch::tensor({{{3.0f, 4.0f}}})));
  EXPECT_TRUE(at::equal(last.at_actions, torch::tensor({{{-1.0f, -2.0f}}})));
}

TEST(TokenPairsTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  for (const int64_t size : {1, 7, 64}) {
    for (const int64_t num_actions : {1, 2, 18}) {
      const at::Tensor actions = Actions(3, 5, num_actions);
      reference::ExpectGradientsOfPlainOperations(
          [&](const Inputs& in) { return PairTokens(in[0], in[1], actions); },
          {at::randn({3, 5, size}), at::randn({num_actions, size})},
          absl::StrCat("pair, size ", size, ", ", num_actions, " actions"));
    }
    for (const int64_t num_left_out : {0, 1, 4}) {
      const Inputs inputs = {at::randn({3, 10, size})};
      const std::string what = absl::StrCat("split, size ", size, ", left out ", num_left_out);
      const auto both = [&](const Inputs& in) {
        const TokenPairs pairs = SplitTokens(in[0], num_left_out);
        return at::cat({pairs.at_observations * 2.0, at::square(pairs.at_actions)});
      };
      reference::ExpectGradientsOfPlainOperations(both, inputs, what);
      const auto one = [&](const Inputs& in) {
        return SplitTokens(in[0], num_left_out).at_actions;
      };
      reference::ExpectGradientsOfPlainOperations(one, inputs, what + ", one part used");
    }
  }
}

TEST(TokenPairsTest, TakesTensorsThatAreNotContiguous) {
  torch::manual_seed(2);
  const at::Tensor actions = Actions(5, 3, 4).t();
  reference::ExpectGradientsOfPlainOperations(
      [&](const Inputs& in) { return PairTokens(in[0].transpose(0, 1), in[1].t(), actions); },
      {at::randn({5, 3, 8}), at::randn({8, 4})}, "pair");
  reference::ExpectGradientsOfPlainOperations(
      [&](const Inputs& in) {
        const TokenPairs pairs = SplitTokens(in[0].transpose(1, 2), 1);
        // Gradients come back in strides of their own.
        return pairs.at_observations.transpose(0, 1) + pairs.at_actions.transpose(0, 1);
      },
      {at::randn({3, 8, 6})}, "split");
}

TEST(TokenPairsTest, TakesActionsOfBothTypesOnBothPaths) {
  torch::manual_seed(3);
  const at::Tensor latents = at::randn({2, 3, 4}), embeddings = at::randn({5, 4});
  const at::Tensor actions = Actions(2, 3, 5);
  const at::Tensor tokens = PairTokens(latents, embeddings, actions);
  EXPECT_TRUE(at::equal(tokens, PairTokens(latents, embeddings, actions.to(at::kLong))));
  const PlainPathGuard guard;
  EXPECT_TRUE(at::equal(tokens, PairTokens(latents, embeddings, actions)));
  EXPECT_TRUE(at::equal(SplitTokens(tokens, 1).at_actions,
                        tokens.unflatten(1, {3, 2}).select(2, 1).narrow(1, 1, 2)));
}

TEST(TokenPairsDeathTest, HasNoSecondDerivative) {
  const at::Tensor actions = torch::tensor({{0, 1}}, at::kInt);
  reference::ExpectNoSecondDerivative(
      [&](const Inputs& in) { return PairTokens(in[0], in[1], actions); },
      {at::randn({1, 2, 4}), at::randn({2, 4})});
  reference::ExpectNoSecondDerivative(
      [&](const Inputs& in) { return SplitTokens(in[0], 0).at_actions; }, {at::randn({1, 4, 4})});
}

TEST(TokenPairsDeathTest, RefusesWhatIsNoAction) {
  const at::Tensor latents = at::zeros({1, 1, 4}), embeddings = at::zeros({2, 4});
  for (const int action : {-1, 2}) {
    EXPECT_DEATH(PairTokens(latents, embeddings, torch::tensor({{action}}, at::kInt)),
                 absl::StrCat("action ", action, " of 2"));
  }
}

TEST(TokenPairsDeathTest, RefusesShapesThatDoNotFit) {
  const at::Tensor latents = at::zeros({1, 2, 4}), embeddings = at::zeros({3, 4});
  const at::Tensor actions = at::zeros({1, 2}, at::kInt);
  EXPECT_DEATH(PairTokens(latents, embeddings, at::zeros({1, 3}, at::kInt)), "actions .1, 3.");
  EXPECT_DEATH(PairTokens(latents, at::zeros({3, 5}), actions), "embeddings .3, 5.");
  EXPECT_DEATH(SplitTokens(at::zeros({1, 3, 4}), 0), "no pairs: outputs .1, 3, 4.");
  EXPECT_DEATH(SplitTokens(at::zeros({1, 4, 4}), 2), "2 steps of 4 tokens");
}

}  // namespace
}  // namespace lzero::token_pairs_test
