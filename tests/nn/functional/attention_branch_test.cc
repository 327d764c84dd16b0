// The attention half of a block against plain operations in double.
#include "lzero/nn/functional/attention_branch.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::attention_branch_test {
namespace {

using Inputs = std::vector<at::Tensor>;

struct Case {
  int64_t samples, tokens, heads, head_size, window;
  bool padded;
};

Inputs MakeInputs(const Case& each) {
  const int64_t size = each.heads * each.head_size;
  return {at::randn({each.samples, each.tokens, size}),
          at::randn({size}),
          at::randn({size}),
          at::randn({3 * size, size}) * 0.3,
          at::randn({3 * size}),
          at::randn({size, size}),
          at::randn({size})};
}

// The kernels where they apply, else the formula in plain operations.
reference::Function FunctionOf(const Case& each, const at::Tensor& num_padding) {
  return [each, num_padding](const Inputs& in) {
    const SlidingAttention attention(each.window, each.head_size);
    SequenceTables tables = *attention.Tables(each.tokens);
    const AttentionBranchWeights weights = {in[1], in[2], in[3], in[4], in[5], in[6]};
    if (CanFuseAttentionBranch(in[0], weights)) {
      return AttentionBranch(in[0], weights, tables, num_padding, each.window);
    }
    tables.rotary = tables.rotary.to(at::kComplexDouble);
    tables.band_mask = tables.band_mask.to(at::kDouble);
    const at::Tensor normal = at::layer_norm(in[0], {in[0].size(-1)}, in[1], in[2]);
    const at::Tensor qkv = at::linear(normal, in[3], in[4]);
    return in[0] + at::linear(attention.Run(qkv, tables, num_padding, 0.0), in[5], in[6]);
  };
}

at::Tensor PaddingOf(const Case& each) {
  if (!each.padded) return {};
  return at::randint(0, each.tokens + 1, {each.samples}, at::kLong);
}

void ExpectRight(const Case& each) {
  reference::ExpectGradientsOfPlainOperations(
      FunctionOf(each, PaddingOf(each)), MakeInputs(each),
      absl::StrCat(each.samples, " x ", each.tokens, ", ", each.heads, " heads of ", each.head_size,
                   ", window ", each.window, each.padded ? ", padded" : ""));
}

TEST(AttentionBranchTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  std::mt19937 random(2);
  for (int i = 0; i < 30; ++i) {
    const auto size = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    ExpectRight({size(40), size(30), size(3), 2 * size(12), size(12), random() % 2 == 0});
  }
}

TEST(AttentionBranchTest, SizesOfTheSmallNet) {
  torch::manual_seed(3);
  ExpectRight({30, 10, 2, 32, 8, false});
  ExpectRight({20, 20, 2, 32, 8, true});
  ExpectRight({3, 150, 2, 32, 8, false});  // a sequence longer than a block
}

TEST(AttentionBranchTest, TheSameThreadsGiveTheSameBits) {
  const Case each = {70, 9, 2, 10, 4, true};
  torch::manual_seed(4);
  const at::Tensor num_padding = PaddingOf(each);
  reference::ExpectBitsOfThreads(FunctionOf(each, num_padding), MakeInputs(each));
}

TEST(AttentionBranchTest, TheGraphCanBeRetained) {
  const Case each = {20, 9, 2, 10, 4, true};
  torch::manual_seed(5);
  const at::Tensor num_padding = PaddingOf(each);
  reference::ExpectTheGraphCanBeRetained(FunctionOf(each, num_padding), MakeInputs(each));
}

TEST(AttentionBranchTest, TakesWhatItsKernelsCanDo) {
  const Inputs small = MakeInputs({20, 4, 2, 8, 4, false}),
               large = MakeInputs({20, 4, 2, 96, 4, false});
  const auto weights = [](const Inputs& in) {
    return AttentionBranchWeights{in[1], in[2], in[3], in[4], in[5], in[6]};
  };
  EXPECT_FALSE(CanFuseAttentionBranch(small[0].to(at::kDouble), weights(small)));
  EXPECT_TRUE(CanFuseAttentionBranch(small[0], weights(small)));
  EXPECT_FALSE(CanFuseAttentionBranch(large[0], weights(large))) << "weights out of the cache";
  const Inputs few = MakeInputs({9, 7, 2, 8, 4, false});
  EXPECT_FALSE(CanFuseAttentionBranch(few[0], weights(few)));
  const PlainPathGuard guard;
  EXPECT_FALSE(CanFuseAttentionBranch(small[0], weights(small)));
}

TEST(AttentionBranchTest, HasNoSecondDerivative) {
  const Case each = {20, 4, 2, 8, 4, false};
  reference::ExpectNoSecondDerivative(FunctionOf(each, {}), MakeInputs(each));
}

}  // namespace
}  // namespace lzero::attention_branch_test
