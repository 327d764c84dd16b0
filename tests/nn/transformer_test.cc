// The banded transformer: the full pass against plain loops in double, reach of the band, padding,
// and the central equality of the project: a chain of cached steps equals the full pass.
#include "lzero/nn/transformer.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/reference.h"

namespace lzero::transformer_test {
namespace {

using reference::RelativeError;
using reference::Row;
using reference::Rows;
using reference::RowsOf;

constexpr int64_t kEmbedDim = 16;
constexpr double kTolerance = 1e-5;

ModelConfig Config(int64_t num_layers, int64_t num_heads, int64_t context_length) {
  ModelConfig config;
  config.embed_dim = kEmbedDim;
  config.num_layers = num_layers;
  config.num_heads = num_heads;
  config.context_length = context_length;
  return config;
}

// Weights with norm weights and biases that matter; inference mode of dropout.
Transformer MakeTransformer(const ModelConfig& config, uint64_t seed = 21) {
  torch::set_num_threads(1);
  torch::manual_seed(seed);
  Transformer transformer(config);
  reference::Scatter(transformer, 0.2, seed + 1);
  transformer.eval();
  return transformer;
}

Rows ReferencePass(const Transformer& transformer, const ModelConfig& config,
                   const at::Tensor& tokens, Rows* keys_values) {
  return reference::TransformerPass(reference::WeightsOf(transformer), "",
                                    {config.num_layers, config.num_heads, config.context_length},
                                    RowsOf(tokens), keys_values);
}

// Sequences that share one cache batch: row r has its own length and joins late, so that at any
// moment the rows have contexts of different lengths.
struct Chain {
  std::vector<at::Tensor> outputs;      // [T_r, E] each
  std::vector<at::Tensor> keys_values;  // [T_r, L, 2, E] each
};

// Runs Step token by token. Row r takes part in rounds first[r] .. first[r] + T_r - 1; its context
// is a window that slides, right-aligned; free slots hold `filler`.
Chain RunSteps(const Transformer& transformer, const ModelConfig& config,
               const std::vector<at::Tensor>& sequences, const std::vector<int64_t>& first,
               float filler) {
  const torch::NoGradGuard no_grad;
  const int64_t capacity = config.context_length - 1;
  const size_t num_rows = sequences.size();
  std::vector<at::Tensor> windows;
  std::vector<std::vector<at::Tensor>> outputs(num_rows), keys_values(num_rows);
  int64_t num_rounds = 0;
  for (size_t r = 0; r < num_rows; ++r) {
    windows.push_back(torch::full({capacity, config.num_layers, 2, kEmbedDim}, filler));
    num_rounds = std::max(num_rounds, first[r] + sequences[r].size(0));
  }
  for (int64_t round = 0; round < num_rounds; ++round) {
    std::vector<size_t> rows;
    std::vector<at::Tensor> tokens, contexts;
    std::vector<int64_t> lengths;
    for (size_t r = 0; r < num_rows; ++r) {
      const int64_t t = round - first[r];
      if (t < 0 || t >= sequences[r].size(0)) continue;
      rows.push_back(r);
      tokens.push_back(sequences[r][t]);
      contexts.push_back(windows[r]);
      lengths.push_back(std::min(t, capacity));
    }
    if (rows.empty()) continue;
    at::Tensor fresh;
    const at::Tensor out =
        transformer.Step(at::stack(tokens), at::stack(contexts),
                         transformer.StepMask(torch::tensor(lengths, at::kLong)), &fresh);
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t r = rows[i];
      outputs[r].push_back(out[static_cast<int64_t>(i)].clone());
      keys_values[r].push_back(fresh[static_cast<int64_t>(i)].clone());
      windows[r] = at::cat({windows[r], keys_values[r].back().unsqueeze(0)}).slice(0, 1);
    }
  }
  Chain chain;
  for (size_t r = 0; r < num_rows; ++r) {
    chain.outputs.push_back(at::stack(outputs[r]));
    chain.keys_values.push_back(at::stack(keys_values[r]));
  }
  return chain;
}

// Largest difference over the scale of `expected`.
double Difference(const at::Tensor& actual, const at::Tensor& expected) {
  return ((actual - expected).abs().max() / expected.abs().max()).item<double>();
}

using Sizes = std::tuple<int64_t, int64_t, int64_t>;  // L, H, W

class TransformerSizes : public testing::TestWithParam<Sizes> {
 protected:
  ModelConfig config() const {
    const auto& [num_layers, num_heads, context_length] = GetParam();
    return Config(num_layers, num_heads, context_length);
  }
};

INSTANTIATE_TEST_SUITE_P(All, TransformerSizes,
                         testing::Combine(testing::Values(1, 2, 4), testing::Values(1, 2, 8),
                                          testing::Values(2, 3, 8, 20)),
                         [](const testing::TestParamInfo<Sizes>& sizes) {
                           return absl::StrCat("L", std::get<0>(sizes.param), "H",
                                               std::get<1>(sizes.param), "W",
                                               std::get<2>(sizes.param));
                         });

TEST_P(TransformerSizes, FullPassMatchesSlowReference) {
  const Transformer transformer = MakeTransformer(config());
  const int64_t num_tokens = 2 * config().context_length + 3;
  const at::Tensor tokens = torch::randn({2, num_tokens, kEmbedDim});
  at::Tensor keys_values;
  const at::Tensor outputs = transformer.Forward(tokens, {}, &keys_values);
  ASSERT_EQ(outputs.sizes(), tokens.sizes());
  ASSERT_EQ(keys_values.sizes(),
            at::IntArrayRef({2, num_tokens, config().num_layers, 2, kEmbedDim}));
  for (int64_t n = 0; n < 2; ++n) {
    Rows expected_keys_values;
    const Rows expected = ReferencePass(transformer, config(), tokens[n], &expected_keys_values);
    EXPECT_LT(RelativeError(outputs[n], expected), kTolerance);
    EXPECT_LT(RelativeError(keys_values[n], expected_keys_values), kTolerance);
  }
}

// The central equality: cached steps give what one pass over the whole sequence with the same band
// gives. Rows have different lengths, start at different times, and slide the window several times.
TEST_P(TransformerSizes, CachedStepsEqualTheFullPass) {
  const Transformer transformer = MakeTransformer(config());
  const int64_t window = config().context_length;
  const std::vector<int64_t> lengths = {1, 2, window, window + 1, 3 * window + 5, 4 * window};
  std::vector<at::Tensor> sequences;
  for (const int64_t length : lengths) sequences.push_back(torch::randn({length, kEmbedDim}));
  const std::vector<int64_t> first = {0, 2 * window, 3, 1, 0, 5};
  const Chain chain = RunSteps(transformer, config(), sequences, first, /*filler=*/0.0f);
  const int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  at::Tensor padded = torch::zeros({static_cast<int64_t>(lengths.size()), longest, kEmbedDim});
  std::vector<int64_t> num_padding;
  for (size_t r = 0; r < sequences.size(); ++r) {
    at::Tensor keys_values;
    const at::Tensor alone =
        transformer.Forward(sequences[r].unsqueeze(0), {}, &keys_values).squeeze(0);
    EXPECT_LE(Difference(chain.outputs[r], alone), kTolerance) << "row " << r;
    EXPECT_LE(Difference(chain.keys_values[r], keys_values.squeeze(0)), kTolerance) << "row " << r;
    num_padding.push_back(longest - lengths[r]);
    padded[static_cast<int64_t>(r)].slice(0, num_padding.back()).copy_(sequences[r]);
  }
  // All rows in one padded batch.
  at::Tensor keys_values;
  const at::Tensor together =
      transformer.Forward(padded, torch::tensor(num_padding, at::kLong), &keys_values);
  for (size_t r = 0; r < sequences.size(); ++r) {
    const int64_t row = static_cast<int64_t>(r);
    EXPECT_LE(Difference(chain.outputs[r], together[row].slice(0, num_padding[r])), kTolerance);
    EXPECT_LE(Difference(chain.keys_values[r], keys_values[row].slice(0, num_padding[r])),
              kTolerance);
  }
}

// A token reaches itself and the L (W - 1) tokens after it, and nothing else.
TEST_P(TransformerSizes, ATokenInfluencesExactlyTheReachOfTheBands) {
  const torch::NoGradGuard no_grad;
  const Transformer transformer = MakeTransformer(config());
  const int64_t reach = config().num_layers * (config().context_length - 1);
  const int64_t moved = 4;
  const at::Tensor tokens = torch::randn({1, moved + reach + 6, kEmbedDim});
  const at::Tensor before = transformer.Forward(tokens, {}, nullptr);
  at::Tensor changed = tokens.clone();
  changed[0][moved].add_(torch::randn({kEmbedDim}) * 10.0);
  const at::Tensor after = transformer.Forward(changed, {}, nullptr);
  for (int64_t t = 0; t < tokens.size(1); ++t) {
    const bool same = at::equal(before[0][t], after[0][t]);
    EXPECT_EQ(same, t < moved || t > moved + reach) << "token " << t << " of " << tokens.size(1);
  }
}

TEST(Transformer, CachedStepsMatchSlowReference) {
  const ModelConfig config = Config(2, 2, 3);
  const Transformer transformer = MakeTransformer(config);
  const at::Tensor sequence = torch::randn({11, kEmbedDim});
  const Chain chain = RunSteps(transformer, config, {sequence}, {0}, /*filler=*/0.0f);
  Rows keys_values;
  const Rows expected = ReferencePass(transformer, config, sequence, &keys_values);
  EXPECT_LT(RelativeError(chain.outputs[0], expected), kTolerance);
  EXPECT_LT(RelativeError(chain.keys_values[0], keys_values), kTolerance);
}

TEST(Transformer, CachedStepsHoldFarBeyondTheWindow) {
  ModelConfig config = Config(2, 2, 8);
  const Transformer transformer = MakeTransformer(config);
  const at::Tensor sequence = torch::randn({500, kEmbedDim});
  const Chain chain = RunSteps(transformer, config, {sequence}, {0}, /*filler=*/0.0f);
  const at::Tensor full = transformer.Forward(sequence.unsqueeze(0), {}, nullptr).squeeze(0);
  EXPECT_LE(Difference(chain.outputs[0], full), kTolerance);
}

TEST(Transformer, FreeSlotsOfAContextAreNotRead) {
  const ModelConfig config = Config(2, 2, 8);
  const Transformer transformer = MakeTransformer(config);
  const std::vector<at::Tensor> sequences = {torch::randn({12, kEmbedDim}),
                                             torch::randn({5, kEmbedDim})};
  const Chain zeros = RunSteps(transformer, config, sequences, {0, 3}, /*filler=*/0.0f);
  const Chain noise = RunSteps(transformer, config, sequences, {0, 3}, /*filler=*/1e4f);
  for (size_t r = 0; r < sequences.size(); ++r) {
    EXPECT_TRUE(at::equal(zeros.outputs[r], noise.outputs[r]));
  }
}

TEST(Transformer, StepReadsStridedContexts) {
  const ModelConfig config = Config(3, 2, 5);
  const Transformer transformer = MakeTransformer(config);
  const at::Tensor token = torch::randn({2, kEmbedDim});
  const at::Tensor contexts = torch::randn({2, 4, 3, 2, kEmbedDim});
  // The layout of the cache: [B, L, 2, W - 1, E].
  const at::Tensor strided =
      contexts.permute({0, 2, 3, 1, 4}).contiguous().permute({0, 3, 1, 2, 4});
  const at::Tensor mask = transformer.StepMask(torch::tensor({4, 2}, at::kLong));
  at::Tensor keys_values, strided_keys_values;
  const at::Tensor expected = transformer.Step(token, contexts, mask, &keys_values);
  const at::Tensor actual = transformer.Step(token, strided, mask, &strided_keys_values);
  EXPECT_LE(Difference(actual, expected), 1e-6);
  EXPECT_LE(Difference(strided_keys_values, keys_values), 1e-6);
}

TEST(Transformer, StepMaskByHand) {
  const Transformer transformer = MakeTransformer(Config(1, 1, 4));
  const at::Tensor mask = transformer.StepMask(torch::tensor({0, 1, 3}, at::kLong));
  ASSERT_EQ(mask.sizes(), at::IntArrayRef({3, 1, 1, 4}));
  const double hidden = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(reference::FlatValues(mask),
            Row({hidden, hidden, hidden, 0, hidden, hidden, 0, 0, 0, 0, 0, 0}));
}

TEST(Transformer, PaddedRowsEqualTheShorterSequences) {
  const ModelConfig config = Config(2, 2, 4);
  const Transformer transformer = MakeTransformer(config);
  const int64_t num_tokens = 14;
  at::Tensor tokens = torch::randn({4, num_tokens, kEmbedDim});
  const std::vector<int64_t> num_padding = {0, 2, 9, 13};
  for (int64_t n = 0; n < 4; ++n) {
    tokens[n].slice(0, 0, num_padding[static_cast<size_t>(n)]).fill_(100.0 * (n + 1));
  }
  at::Tensor keys_values;
  const at::Tensor outputs =
      transformer.Forward(tokens, torch::tensor(num_padding, at::kLong), &keys_values);
  EXPECT_TRUE(at::isfinite(outputs).all().item<bool>()) << "padding rows too: they enter means";
  for (int64_t n = 0; n < 4; ++n) {
    const int64_t first = num_padding[static_cast<size_t>(n)];
    Rows expected_keys_values;
    const Rows expected =
        ReferencePass(transformer, config, tokens[n].slice(0, first), &expected_keys_values);
    EXPECT_LT(RelativeError(outputs[n].slice(0, first), expected), kTolerance);
    EXPECT_LT(RelativeError(keys_values[n].slice(0, first), expected_keys_values), kTolerance);
  }
}

TEST(Transformer, NoGradientFlowsFromRealTokensIntoPadding) {
  const Transformer transformer = MakeTransformer(Config(2, 2, 4));
  const at::Tensor tokens = torch::randn({1, 9, kEmbedDim}).requires_grad_();
  const at::Tensor outputs = transformer.Forward(tokens, torch::tensor({4}, at::kLong), nullptr);
  outputs.slice(1, 4).square().sum().backward();
  EXPECT_EQ(torch::count_nonzero(tokens.grad().slice(1, 0, 4)).item<int64_t>(), 0);
  EXPECT_EQ(torch::count_nonzero(tokens.grad().slice(1, 4)).item<int64_t>(), 5 * kEmbedDim);
  EXPECT_TRUE(at::isfinite(tokens.grad()).all().item<bool>());
}

TEST(Transformer, DropoutActsInTrainingAloneAndNeverInSteps) {
  ModelConfig config = Config(2, 2, 4);
  Transformer plain = MakeTransformer(config);
  config.dropout = 0.5;
  Transformer dropping = MakeTransformer(config);
  const at::Tensor tokens = torch::randn({1, 6, kEmbedDim});
  const at::Tensor expected = plain.Forward(tokens, {}, nullptr);
  EXPECT_TRUE(at::equal(dropping.Forward(tokens, {}, nullptr), expected));
  dropping.train();
  EXPECT_FALSE(at::allclose(dropping.Forward(tokens, {}, nullptr), expected));
  // A cached step is inference by definition.
  const at::Tensor mask = plain.StepMask(torch::tensor({3}, at::kLong));
  const at::Tensor context = torch::randn({1, 3, 2, 2, kEmbedDim});
  at::Tensor keys_values;
  const at::Tensor step = plain.Step(tokens[0].slice(0, 0, 1), context, mask, &keys_values);
  EXPECT_TRUE(
      at::equal(dropping.Step(tokens[0].slice(0, 0, 1), context, mask, &keys_values), step));
}

TEST(Transformer, TellsItsSizes) {
  const Transformer transformer(Config(4, 2, 20));
  EXPECT_EQ(transformer.num_layers(), 4);
  EXPECT_EQ(transformer.context_length(), 20);
}

TEST(TransformerDeathTest, HeadsMustDivideTheWidth) {
  EXPECT_DEATH(Transformer(Config(1, 3, 8)), "16 / 3");
}

}  // namespace
}  // namespace lzero::transformer_test
