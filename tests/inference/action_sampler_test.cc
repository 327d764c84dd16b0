#include "lzero/inference/action_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::action_sampler_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Roots of `num_envs` environments, all `num_actions` legal.
struct Roots {
  Roots(int num_envs, int num_actions) : legal(static_cast<size_t>(num_actions), 1) {
    for (int i = 0; i < num_envs; ++i) {
      Root root;
      root.env = EnvId(i);
      root.legal_action_mask = legal;
      roots.push_back(root);
    }
  }
  std::vector<uint8_t> legal;
  std::vector<Root> roots;
};

ActionSamplerOptions DiscreteOptions(int num_slots, int num_actions) {
  ActionSamplerOptions options;
  options.num_slots = num_slots;
  options.num_actions = num_actions;
  options.max_roots = 4;
  options.nodes_per_root = 5;
  return options;
}

ActionSamplerOptions BoxOptions(int num_slots, int action_dim) {
  ActionSamplerOptions options = DiscreteOptions(num_slots, 0);
  options.action_dim = action_dim;
  return options;
}

SearchRequest Request(uint64_t search_index) {
  SearchRequest request;
  request.add_noise = true;
  request.seed = 3;
  request.search_index = search_index;
  return request;
}

std::vector<float> DrawRoots(ActionSampler& sampler, const Roots& roots,
                             const std::vector<float>& policies, uint64_t search_index = 0) {
  sampler.BeginSearch(Request(search_index));
  std::vector<float> logits(roots.roots.size() * sampler.options().num_slots);
  sampler.DrawRoots(roots.roots, policies, absl::MakeSpan(logits));
  return logits;
}

TEST(ActionSampler, AllActionsGiveBackThePolicyInOrder) {
  ActionSampler sampler(DiscreteOptions(4, 4));
  const Roots roots(1, 4);
  const std::vector<float> logits = DrawRoots(sampler, roots, {0.5f, -1.0f, 2.0f, 0.0f});
  EXPECT_EQ(logits, (std::vector<float>{0.5f, -1.0f, 2.0f, 0.0f}));
  EXPECT_EQ(sampler.roots().indices, (std::vector<int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(sampler.roots().slot_mask, (std::vector<uint8_t>{1, 1, 1, 1}));
}

TEST(ActionSampler, IllegalActionsAreNeverDrawnAndLeaveSlotsEmpty) {
  ActionSampler sampler(DiscreteOptions(3, 4));
  Roots roots(1, 4);
  roots.legal = {0, 1, 0, 1};
  roots.roots[0].legal_action_mask = roots.legal;
  for (uint64_t search = 0; search < 50; ++search) {
    const std::vector<float> logits = DrawRoots(sampler, roots, {9.0f, -1.0f, 9.0f, 0.5f}, search);
    EXPECT_EQ(sampler.roots().indices, (std::vector<int32_t>{1, 3, -1}));
    EXPECT_EQ(sampler.roots().slot_mask, (std::vector<uint8_t>{1, 1, 0}));
    EXPECT_EQ(logits, (std::vector<float>{-1.0f, 0.5f, -kInf}));
  }
}

// Sampling without replacement by Gumbel noise draws pairs (i, j) in order with probability
// p_i p_j / (1 - p_i): the chance that an action is among the two, worked out here.
TEST(ActionSampler, DiscreteActionsAreDrawnWithoutReplacement) {
  const std::vector<double> p = {0.6, 0.25, 0.1, 0.05};
  std::vector<float> policy;
  for (const double share : p) policy.push_back(static_cast<float>(std::log(share)));
  ActionSampler sampler(DiscreteOptions(2, 4));
  const Roots roots(1, 4);
  std::vector<double> expected(4, 0.0);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (i == j) continue;
      expected[i] += p[i] * p[j] / (1.0 - p[i]);
      expected[j] += p[i] * p[j] / (1.0 - p[i]);
    }
  }
  constexpr int kSearches = 20000;
  std::vector<double> drawn(4, 0.0);
  // The corrected priors are weights under which sums over the sample have the right mean.
  std::vector<double> weighted(4, 0.0);
  for (uint64_t search = 0; search < kSearches; ++search) {
    const std::vector<float> logits = DrawRoots(sampler, roots, policy, search);
    const std::vector<int32_t>& indices = sampler.roots().indices;
    ASSERT_LT(indices[0], indices[1]);
    for (int slot = 0; slot < 2; ++slot) {
      drawn[indices[slot]] += 1.0 / kSearches;
      weighted[indices[slot]] += std::exp(logits[slot]) / kSearches;
    }
  }
  for (int a = 0; a < 4; ++a) {
    EXPECT_NEAR(drawn[a], expected[a], 0.012) << a;
    EXPECT_NEAR(weighted[a], p[a], 0.012) << a;
  }
}

TEST(ActionSampler, WithoutNoiseTheMostProbableActionsAreTaken) {
  ActionSampler sampler(DiscreteOptions(2, 4));
  const Roots roots(1, 4);
  std::vector<float> logits(2);
  for (uint64_t search = 0; search < 50; ++search) {
    SearchRequest request = Request(search);
    request.add_noise = false;
    sampler.BeginSearch(request);
    sampler.DrawRoots(roots.roots, {0.1f, -0.2f, 0.0f, 0.3f}, absl::MakeSpan(logits));
    EXPECT_EQ(sampler.roots().indices, (std::vector<int32_t>{0, 3}));
    EXPECT_EQ(logits, (std::vector<float>{0.1f, 0.3f}));
    // Below the root as well.
    sampler.DrawNodes({{NodeId(1)}}, {0.1f, 0.4f, 0.0f, 0.3f}, absl::MakeSpan(logits));
    EXPECT_EQ(logits, (std::vector<float>{0.4f, 0.3f}));
  }
}

TEST(ActionSampler, TemperatureFlattensWhatIsDrawn) {
  std::vector<float> policy = {std::log(0.9f), std::log(0.09f), std::log(0.01f)};
  ActionSamplerOptions options = DiscreteOptions(1, 3);
  options.temperature = 2.0;  // square roots of the shares
  ActionSampler sampler(options);
  const Roots roots(1, 3);
  const double sum = std::sqrt(0.9) + 0.3 + 0.1;
  std::vector<double> drawn(3, 0.0);
  for (uint64_t search = 0; search < 10000; ++search) {
    DrawRoots(sampler, roots, policy, search);
    drawn[sampler.roots().indices[0]] += 1e-4;
  }
  EXPECT_NEAR(drawn[0], std::sqrt(0.9) / sum, 0.015);
  EXPECT_NEAR(drawn[1], 0.3 / sum, 0.015);
  EXPECT_NEAR(drawn[2], 0.1 / sum, 0.015);
}

TEST(ActionSampler, DrawsDependOnSearchEnvironmentAndNodeAlone) {
  ActionSampler sampler(BoxOptions(3, 2));
  const std::vector<float> one = {0.1f, -0.3f, 0.0f, -1.0f};
  std::vector<float> two = one;
  two.insert(two.end(), one.begin(), one.end());
  const Roots both(2, 0);
  Roots second(2, 0);
  second.roots.erase(second.roots.begin());
  DrawRoots(sampler, both, two);
  const std::vector<float> together = sampler.roots().values;
  DrawRoots(sampler, second, one);
  const std::vector<float> alone = sampler.roots().values;
  EXPECT_EQ(alone, std::vector<float>(together.begin() + 6, together.end()));
  EXPECT_NE(alone, std::vector<float>(together.begin(), together.begin() + 6));
  DrawRoots(sampler, second, one, /*search_index=*/1);
  EXPECT_NE(sampler.roots().values, alone);
  std::set<float> firsts = {alone[0]};
  for (int node = 1; node < 5; ++node) {
    std::vector<float> logits(3), values(2);
    const std::vector<NodeId> nodes = {NodeId(node)};
    sampler.DrawNodes(nodes, one, absl::MakeSpan(logits));
    sampler.ReadValues(nodes, {0}, absl::MakeSpan(values));
    firsts.insert(values[0]);
  }
  EXPECT_EQ(firsts.size(), 5u);
}

TEST(ActionSampler, SlotsAreReadBackByNode) {
  ActionSampler sampler(DiscreteOptions(2, 3));
  const Roots roots(2, 3);
  DrawRoots(sampler, roots, {0.0f, -50.0f, 0.0f, -50.0f, 0.0f, 0.0f});
  std::vector<float> logits(4);
  const std::vector<NodeId> nodes = {NodeId(1), NodeId(2)};
  sampler.DrawNodes(nodes, {0.0f, 0.0f, -50.0f, 0.0f, -50.0f, 0.0f}, absl::MakeSpan(logits));
  std::vector<int64_t> indices(2);
  sampler.ReadIndices(nodes, {1, 1}, absl::MakeSpan(indices));
  EXPECT_EQ(indices, (std::vector<int64_t>{1, 2}));
  sampler.ReadIndices({kRootNode, kRootNode}, {1, 0}, absl::MakeSpan(indices));
  EXPECT_EQ(indices, (std::vector<int64_t>{2, 1}));
}

TEST(ActionSampler, BoxActionsFollowTheSquashedGaussian) {
  ActionSampler sampler(BoxOptions(8, 2));
  const Roots roots(1, 0);
  const std::vector<float> policy = {0.5f, -1.0f, std::log(0.2f), std::log(0.4f)};
  constexpr int kSearches = 4000;
  double sums[2] = {}, squares[2] = {};
  for (uint64_t search = 0; search < kSearches; ++search) {
    const std::vector<float> logits = DrawRoots(sampler, roots, policy, search);
    for (const float logit : logits) EXPECT_EQ(logit, 0.0f);  // nothing to correct
    const std::vector<float>& values = sampler.roots().values;
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(values[i]), 1.0f);
      const double u = std::atanh(values[i]);
      sums[i % 2] += u / (8.0 * kSearches);
      squares[i % 2] += u * u / (8.0 * kSearches);
    }
  }
  EXPECT_NEAR(sums[0], 0.5, 0.01);
  EXPECT_NEAR(sums[1], -1.0, 0.01);
  EXPECT_NEAR(std::sqrt(squares[0] - sums[0] * sums[0]), 0.2, 0.01);
  EXPECT_NEAR(std::sqrt(squares[1] - sums[1] * sums[1]), 0.4, 0.01);
}

// With a proposal that is not the policy, the mean under the priors is the mean under the policy.
TEST(ActionSampler, BoxPriorsCorrectForTheProposal) {
  ActionSamplerOptions options = BoxOptions(64, 1);
  options.temperature = 1.5;
  options.uniform_fraction = 0.3;
  ActionSampler sampler(options);
  const Roots roots(1, 0);
  const double mean = 0.4, sigma = 0.3;
  const std::vector<float> policy = {static_cast<float>(mean), static_cast<float>(std::log(sigma))};
  double sum = 0.0, weight = 0.0;
  for (uint64_t search = 0; search < 1000; ++search) {
    const std::vector<float> logits = DrawRoots(sampler, roots, policy, search);
    for (size_t i = 0; i < logits.size(); ++i) {
      weight += std::exp(logits[i]);
      sum += std::exp(logits[i]) * sampler.roots().values[i];
    }
  }
  // The mean of tanh under the Gaussian, by a fine sum.
  double expected = 0.0, total = 0.0;
  for (double z = -6.0; z < 6.0; z += 1e-3) {
    expected += std::exp(-0.5 * z * z) * std::tanh(mean + sigma * z);
    total += std::exp(-0.5 * z * z);
  }
  EXPECT_NEAR(sum / weight, expected / total, 0.005);
  EXPECT_NEAR(weight / 64000.0, 1.0, 0.02);  // importance weights have mean 1
}

// Three quarters of a root's samples are three times as wide, those of nodes and of searches
// without noise are not.
TEST(ActionSampler, WideSamplesStandAtTheEndOfANoisyRoot) {
  ActionSamplerOptions options = BoxOptions(16, 1);
  options.wide_fraction = 0.75;
  options.wide_scale = 3.0;
  ActionSampler sampler(options);
  const Roots roots(1, 0);
  const std::vector<float> policy = {0.2f, std::log(0.3f)};
  constexpr int kSearches = 4000;
  // What the first 4 slots have, the last 12, a node's, and a root's without noise.
  double squares[4] = {};
  const auto add = [&](double* sum, float value, int count) {
    *sum += (std::atanh(value) - 0.2) * (std::atanh(value) - 0.2) / (count * kSearches);
  };
  double weight = 0.0, mean = 0.0;
  for (uint64_t search = 0; search < kSearches; ++search) {
    std::vector<float> logits = DrawRoots(sampler, roots, policy, search);
    for (int slot = 0; slot < 16; ++slot) {
      add(&squares[slot < 4 ? 0 : 1], sampler.roots().values[slot], slot < 4 ? 4 : 12);
      weight += std::exp(logits[slot]);
      mean += std::exp(logits[slot]) * sampler.roots().values[slot];
    }
    std::vector<float> value(1);
    sampler.DrawNodes({{NodeId(1)}}, policy, absl::MakeSpan(logits));
    sampler.ReadValues({{NodeId(1)}}, {15}, absl::MakeSpan(value));
    add(&squares[2], value[0], 1);
    SearchRequest request = Request(search);
    request.add_noise = false;
    sampler.BeginSearch(request);
    sampler.DrawRoots(roots.roots, policy, absl::MakeSpan(logits));
    add(&squares[3], sampler.roots().values[15], 1);
  }
  EXPECT_NEAR(std::sqrt(squares[0]), 0.3, 0.01);
  EXPECT_NEAR(std::sqrt(squares[1]), 0.9, 0.02);
  EXPECT_NEAR(std::sqrt(squares[2]), 0.3, 0.02);
  EXPECT_NEAR(std::sqrt(squares[3]), 0.3, 0.02);
  // Priors correct for the mixture: weights have mean 1, and give the mean of the policy.
  double expected = 0.0, total = 0.0;
  for (double z = -6.0; z < 6.0; z += 1e-3) {
    expected += std::exp(-0.5 * z * z) * std::tanh(0.2 + 0.3 * z);
    total += std::exp(-0.5 * z * z);
  }
  EXPECT_NEAR(weight / (16.0 * kSearches), 1.0, 0.02);
  EXPECT_NEAR(mean / weight, expected / total, 0.01);
}

TEST(ActionSampler, NodesBelowTheRootFillFewerSlots) {
  for (const bool is_box : {true, false}) {
    ActionSamplerOptions options = is_box ? BoxOptions(4, 1) : DiscreteOptions(4, 6);
    options.num_interior_slots = 2;
    ActionSampler sampler(options);
    const Roots roots(1, is_box ? 0 : 6);
    const std::vector<float> policy(is_box ? 2 : 6, 0.0f);
    std::vector<float> logits = DrawRoots(sampler, roots, policy);
    for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit)) << is_box;
    sampler.DrawNodes({{NodeId(1)}}, policy, absl::MakeSpan(logits));
    for (int slot = 0; slot < 4; ++slot) {
      EXPECT_EQ(std::isfinite(logits[slot]), slot < 2) << is_box << " " << slot;
    }
  }
}

TEST(ActionSampler, UniformPriorsSayNothingOfThePolicy) {
  ActionSamplerOptions box = BoxOptions(4, 1), discrete = DiscreteOptions(2, 4);
  box.uniform_prior = discrete.uniform_prior = true;
  box.wide_fraction = 0.5;
  box.wide_scale = 2.0;
  ActionSampler of_box(box), of_discrete(discrete);
  EXPECT_EQ(DrawRoots(of_box, Roots(1, 0), {0.5f, 0.0f}), std::vector<float>(4, 0.0f));
  EXPECT_EQ(DrawRoots(of_discrete, Roots(1, 4), {0.5f, 0.0f, 3.0f, 1.0f}),
            std::vector<float>(2, 0.0f));
}

TEST(ActionSampler, SigmaIsHeldInItsRange) {
  ActionSampler sampler(BoxOptions(16, 1));
  const Roots roots(1, 0);
  DrawRoots(sampler, roots, {0.0f, -100.0f});
  for (const float value : sampler.roots().values) EXPECT_LT(std::abs(value), 0.05f);
  const std::vector<float> logits = DrawRoots(sampler, roots, {0.0f, 100.0f});
  for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit));
}

TEST(ActionSampler, BytesCountWhatIsKept) {
  // 4 roots of 5 nodes of 3 slots of 2 floats; the roots' own once more, and their mask.
  EXPECT_EQ(ActionSampler::Bytes(BoxOptions(3, 2)), (4 * 5 * 3 + 4 * 3) * 2 * 4 + 4 * 3);
}

}  // namespace
}  // namespace lzero::action_sampler_test
