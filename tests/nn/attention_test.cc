// Attention against plain operations in double: results and gradients; its tables.
#include "lzero/nn/attention.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::attention_test {
namespace {

using Inputs = std::vector<at::Tensor>;

struct Case {
  int64_t samples, tokens, heads, head_size, window;
  bool padded;
};

// The plain path in double needs tables in double.
SequenceTables TablesFor(const SlidingAttention& attention, const Case& each, at::ScalarType type) {
  SequenceTables tables = *attention.Tables(each.tokens);
  if (type == at::kDouble) {
    tables.rotary = tables.rotary.to(at::kComplexDouble);
    tables.band_mask = tables.band_mask.to(type);
  }
  return tables;
}

void ExpectRight(const Case& each) {
  const SlidingAttention attention(each.window, each.head_size);
  at::Tensor padding;
  if (each.padded) padding = at::randint(0, each.tokens + 1, {each.samples}, at::kLong);
  const auto run = [&](const Inputs& in) {
    return attention.Run(in[0], TablesFor(attention, each, in[0].scalar_type()), padding, 0.0);
  };
  const at::Tensor qkv = at::randn({each.samples, each.tokens, 3 * each.heads * each.head_size});
  reference::ExpectGradientsOfPlainOperations(
      run, {qkv},
      absl::StrCat(each.samples, " samples, ", each.tokens, " tokens, ", each.heads, " heads of ",
                   each.head_size, ", window ", each.window, each.padded ? ", padded" : ""));
}

TEST(AttentionTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    const auto size = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    const int64_t tokens = 1 + size(24);
    ExpectRight({size(7), tokens, size(4), 2 * size(20), 1 + size(24), random() % 2 == 0});
  }
  ExpectRight({5, 10, 2, 32, 8, false});
  ExpectRight({3, 20, 8, 96, 8, true});
  ExpectRight({2, 12, 1, 64, 40, false});  // the window is longer than the sequence
}

TEST(AttentionTest, AWindowOfOneTakesTheTokensOwnValue) {
  const SlidingAttention attention(1, 6);
  const at::Tensor qkv = at::randn({3, 5, 3 * 12});
  const at::Tensor mixed = attention.Run(qkv, *attention.Tables(5), {}, 0.0);
  EXPECT_TRUE(at::equal(mixed, qkv.narrow(2, 24, 12)));
}

TEST(AttentionTest, ASampleDoesNotDependOnTheOthers) {
  const SlidingAttention attention(4, 8);
  const at::Tensor qkv = at::randn({6, 9, 3 * 16});
  const at::Tensor whole = attention.Run(qkv, *attention.Tables(9), {}, 0.0);
  const at::Tensor alone = attention.Run(qkv.narrow(0, 4, 1), *attention.Tables(9), {}, 0.0);
  EXPECT_TRUE(at::equal(whole.narrow(0, 4, 1), alone));
}

// Head sizes that are padded to whole registers, fewer keys than lanes.
TEST(AttentionTest, WhatIsNoNumberInOneSampleStaysThere) {
  const SlidingAttention attention(4, 6);
  const SequenceTables tables = *attention.Tables(5);
  for (const bool padded : {false, true}) {
    const at::Tensor padding = padded ? at::tensor({0, 2, 1}, at::kLong) : at::Tensor();
    const auto run = [&](const at::Tensor& qkv) {
      const at::Tensor leaf = qkv.clone().requires_grad_(true);
      const at::Tensor mixed = attention.Run(leaf, tables, padding, 0.0);
      mixed.backward(at::ones_like(mixed));
      return std::pair(mixed.detach(), leaf.grad());
    };
    at::Tensor qkv = at::randn({3, 5, 3 * 12});
    const auto [clean, clean_gradient] = run(qkv);
    qkv[0].fill_(std::nan(""));
    const auto [mixed, gradient] = run(qkv);
    EXPECT_TRUE(mixed[0].isnan().any().item<bool>());
    EXPECT_TRUE(at::equal(mixed.narrow(0, 1, 2), clean.narrow(0, 1, 2))) << padded;
    EXPECT_TRUE(at::equal(gradient.narrow(0, 1, 2), clean_gradient.narrow(0, 1, 2))) << padded;
  }
}

TEST(AttentionTest, TablesAreKeptWhileTheLengthStays) {
  const SlidingAttention attention(3, 4);
  const auto first = attention.Tables(5);
  EXPECT_EQ(attention.Tables(5), first);
  EXPECT_NE(attention.Tables(6), first);
  EXPECT_EQ(first->num_tokens, 5);
  EXPECT_EQ(first->cosines.sizes(), at::IntArrayRef({5, 4}));
  EXPECT_EQ(first->band_mask.eq(0.0).sum().item<int64_t>(), 1 + 2 + 3 + 3 + 3);
}

TEST(AttentionTest, DropoutTakesThePlainPathAndScalesWhatIsLeft) {
  const SlidingAttention attention(4, 8);
  const at::Tensor qkv = at::randn({300, 6, 3 * 8});
  torch::manual_seed(3);
  const at::Tensor first = attention.Run(qkv, *attention.Tables(6), {}, 0.5);
  torch::manual_seed(3);
  EXPECT_TRUE(at::equal(attention.Run(qkv, *attention.Tables(6), {}, 0.5), first));
  EXPECT_FALSE(at::equal(attention.Run(qkv, *attention.Tables(6), {}, 0.5), first));
  // A token that sees itself alone keeps its value, doubled, or loses it.
  const at::Tensor own = qkv.select(1, 0).narrow(1, 16, 8), mixed = first.select(1, 0);
  const at::Tensor doubled = (mixed - 2.0 * own).abs().amax(1) < 1e-5;
  const at::Tensor dropped = mixed.abs().amax(1) == 0.0;
  EXPECT_TRUE(at::logical_or(doubled, dropped).all().item<bool>());
  EXPECT_TRUE(doubled.any().item<bool>() && dropped.any().item<bool>());
}

TEST(AttentionTest, HasNoSecondDerivative) {
  const SlidingAttention attention(4, 8);
  const auto run = [&](const Inputs& in) {
    return attention.Run(in[0], *attention.Tables(6), {}, 0.0);
  };
  reference::ExpectNoSecondDerivative(run, {at::randn({2, 6, 24})});
}

}  // namespace
}  // namespace lzero::attention_test
