// Steps and heads of vectors, and heads of planes, beside plain loops. Steps of planes are towers.
#include "lzero/packed/latent_parts.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "tests/packed/plain_network.h"

namespace lzero::packed::latent_parts_test {
namespace {

constexpr int64_t kRows = 5, kEmbed = 8, kWidth = 20;

ModelConfig Config() {
  ModelConfig config;
  config.embed_dim = kEmbed;
  config.head_dim = kWidth;
  config.encoder_channels = 16;
  return config;
}

TEST(LatentParts, AStepOfVectorsAddsAChange) {
  DrawnWeights weights;
  weights.DrawLinear("step.first", 2 * kEmbed, kWidth);
  weights.DrawNorm("step.norm", kWidth);
  weights.DrawLinear("step.last", kWidth, kEmbed);
  weights.Draw("table", 3 * kEmbed);
  const LatentShape latents = {std::nullopt, kEmbed};
  LatentStep step(Config(), latents, 3);
  step.Load(weights, "step", "table");
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kRows * kEmbed, -1, 1);
  const std::vector<float> values = RandomNumbers(&random, kRows * 2, -1, 1);
  const std::vector<int64_t> rows = {2, 0, 1, 1, 2};
  const auto table = weights.Get("table");
  for (const bool is_box : {false, true}) {
    Numbers both;
    for (size_t row = 0; row < kRows; ++row) {
      both.insert(both.end(), x.begin() + static_cast<int64_t>(row) * kEmbed,
                  x.begin() + static_cast<int64_t>(row + 1) * kEmbed);
      for (size_t i = 0; i < kEmbed; ++i) {
        const double box = values[2 * row] * table[i] + values[2 * row + 1] * table[kEmbed + i] +
                           table[2 * kEmbed + i];
        both.push_back(is_box ? box : table[static_cast<size_t>(rows[row]) * kEmbed + i]);
      }
    }
    const Numbers hidden = PlainNorm(
        weights, "step.norm", PlainLinear(weights, "step.first", both, 2 * kEmbed), /*gelu=*/true);
    Numbers expected = PlainLinear(weights, "step.last", hidden, kWidth);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] += x[i];
    FloatsAtTheEnd y(kRows * kEmbed), scratch(LatentStep::ScratchSize(Config(), latents, kRows));
    const TowerInputs inputs = {is_box ? nullptr : rows.data(), is_box ? values.data() : nullptr};
    step.Run(x.data(), inputs, kRows, y.first(), scratch.first());
    EXPECT_LT(RelativeError(y.first(), expected, 1.0), 1e-5) << is_box;
  }
}

TEST(LatentParts, HeadsReadVectorsAndPlanes) {
  constexpr int64_t kCells = 6, kChannels = 16, kSqueezed = 16, kOut = 5;
  DrawnWeights weights;
  weights.DrawNorm("vector.norm_in", kEmbed);
  weights.DrawLinear("vector.first", kEmbed, kWidth);
  weights.DrawNorm("vector.norm_hidden", kWidth);
  weights.DrawLinear("vector.last", kWidth, kOut);
  weights.DrawLinear("plane.squeeze", kChannels, kSqueezed);
  weights.DrawLinear("plane.first", kSqueezed * kCells, kWidth);
  weights.DrawNorm("plane.norm", kWidth);
  weights.DrawLinear("plane.last", kWidth, kOut);
  std::mt19937 random(1);
  for (const bool planes : {false, true}) {
    const std::string module = planes ? "plane" : "vector";
    LatentShape latents = {std::nullopt, kEmbed};
    if (planes) latents = {PlaneSizes{1, 2, 3}, kCells * kChannels};
    const std::vector<float> x = RandomNumbers(&random, kRows * latents.size, -1, 1);
    Numbers y = Widened(x);
    if (planes) {
      y = PlainLinear(weights, "plane.squeeze", y, kChannels);
      for (double& number : y) number = std::max(0.0, number);
    } else {
      y = PlainNorm(weights, "vector.norm_in", y, /*gelu=*/false);
    }
    y = PlainLinear(weights, module + ".first", y, y.size() / kRows);
    y = PlainNorm(weights, planes ? "plane.norm" : "vector.norm_hidden", y, /*gelu=*/true);
    y = PlainLinear(weights, module + ".last", y, kWidth);
    const HeadPart part = {module, kOut};
    LatentHead head(Config(), latents, part);
    head.Load(weights, module);
    FloatsAtTheEnd result(kRows * kOut);
    FloatsAtTheEnd scratch(LatentHead::ScratchSize(Config(), latents, part, kRows));
    head.Run(x.data(), kRows, result.first(), scratch.first());
    EXPECT_LT(RelativeError(result.first(), y, 1.0), 1e-5) << module;
  }
}

// Five actions of two kinds on a board of 2 x 3, and one without a cell.
TEST(LatentParts, APolicyReadsCellsOneByOne) {
  constexpr int64_t kCells = 6, kChannels = 16, kOutputs = 3;
  const HeadPart part = {"cells", 6, std::nullopt, {0, 5, -1, 6, 8, 11}};
  DrawnWeights weights;
  weights.DrawLinear("cells.first", kChannels, kWidth);
  weights.DrawNorm("cells.norm", kWidth);
  weights.DrawLinear("cells.last", kWidth, kOutputs);
  std::mt19937 random(1);
  const std::vector<float> x = RandomNumbers(&random, kRows * kCells * kChannels, -1, 1);
  const Numbers said = PlainLinear(
      weights, "cells.last",
      PlainNorm(weights, "cells.norm", PlainLinear(weights, "cells.first", Widened(x), kChannels),
                /*gelu=*/true),
      kWidth);
  Numbers expected;
  for (size_t row = 0; row < kRows; ++row) {
    const auto at = [&](size_t cell, size_t kind) {
      return said[(row * kCells + cell) * kOutputs + kind];
    };
    double mean = 0;
    for (size_t cell = 0; cell < kCells; ++cell) mean += at(cell, 2) / kCells;
    for (const double logit : {at(0, 0), at(5, 0), mean, at(0, 1), at(2, 1), at(5, 1)}) {
      expected.push_back(logit);
    }
  }
  const LatentShape latents = {PlaneSizes{1, 2, 3}, kCells * kChannels};
  LatentHead head(Config(), latents, part);
  head.Load(weights, "cells");
  EXPECT_EQ(head.out(), 6);
  FloatsAtTheEnd result(kRows * 6);
  FloatsAtTheEnd scratch(LatentHead::ScratchSize(Config(), latents, part, kRows));
  head.Run(x.data(), kRows, result.first(), scratch.first());
  EXPECT_LT(RelativeError(result.first(), expected, 1.0), 1e-5);
}

}  // namespace
}  // namespace lzero::packed::latent_parts_test
