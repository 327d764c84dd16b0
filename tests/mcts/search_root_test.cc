// The root before and after a search: legal actions, noise, results.
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::search_root_test {
namespace {

class SearchRootTest : public testing::Test {
 protected:
  static constexpr int kActions = 5;

  SearchRootTest()
      : batch_(2, kActions), model_([] {
          HashModelOptions options;
          options.num_actions = kActions;
          return options;
        }()) {
    batch_.mask(0) = batch_.mask(1) = {1, 0, 1, 1, 0};
    config_.num_simulations = 20;
  }

  std::vector<float> RootPriors(const SearchRequest& request) {
    search_ = MakeSearch(config_, kActions, 2);
    EXPECT_TRUE(search_->Run(model_, batch_.roots(), request, &result_).ok());
    std::vector<float> priors;
    for (int a = 0; a < kActions; ++a) priors.push_back(search_->tree().prior(0, 0, a));
    return priors;
  }

  // softmax over the legal actions, by the library.
  std::vector<double> ExpectedPriors() {
    const auto logits = model_.Evaluate(EnvId(0), 0, {}).prior_logits;
    std::vector<double> priors(kActions, 0.0);
    double sum = 0.0;
    for (const size_t a : {0, 2, 3}) sum += priors[a] = std::exp(static_cast<double>(logits[a]));
    for (double& prior : priors) prior /= sum;
    return priors;
  }

  SearchConfig config_;
  RootBatch batch_;
  HashModel model_;
  std::unique_ptr<Search> search_;
  SearchResult result_;
};

TEST_F(SearchRootTest, IllegalActionsLoseTheirPriorToTheLegalOnes) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    config_.policy = policy;
    const auto priors = RootPriors({});
    const auto expected = ExpectedPriors();
    for (size_t a = 0; a < kActions; ++a) EXPECT_NEAR(priors[a], expected[a], 1e-6);
  }
}

TEST_F(SearchRootTest, DirichletNoiseIsMixedIntoLegalPriorsWithItsFraction) {
  SearchRequest request;
  request.add_noise = true;
  request.seed = 9;
  const auto clean = ExpectedPriors();
  config_.root_noise_fraction = 0.25;
  const auto noisy = RootPriors(request);
  double noise_sum = 0.0;
  for (size_t a = 0; a < kActions; ++a) {
    const double noise = (noisy[a] - 0.75 * clean[a]) / 0.25;
    EXPECT_GT(noise, -1e-5);
    EXPECT_EQ(noisy[a] > 0.0f, clean[a] > 0.0);
    noise_sum += noise;
  }
  EXPECT_NEAR(noise_sum, 1.0, 1e-5);
  EXPECT_EQ(noisy, RootPriors(request)) << "a pure function of seed, search and environment";
  request.search_index = 1;
  EXPECT_NE(noisy, RootPriors(request));
  config_.root_noise_fraction = 0.0;
  const auto without = RootPriors(request);
  for (size_t a = 0; a < kActions; ++a) EXPECT_NEAR(without[a], clean[a], 1e-6);
}

TEST_F(SearchRootTest, EvaluationAddsNoNoise) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    config_.policy = policy;
    SearchRequest request;
    RootPriors(request);
    const auto visits = result_.visit_counts;
    request.seed = 1234;
    request.search_index = 99;
    RootPriors(request);
    EXPECT_EQ(visits, result_.visit_counts);
  }
}

TEST_F(SearchRootTest, GumbelNoiseIsScaledAndCanBeGiven) {
  config_.policy = SearchPolicy::kGumbel;
  SearchRequest request;
  request.add_noise = true;
  RootPriors(request);
  std::vector<float> drawn(search_->tree().view().root_gumbel(0),
                           search_->tree().view().root_gumbel(0) + kActions);
  config_.gumbel_scale = 2.0;
  RootPriors(request);
  for (size_t a = 0; a < kActions; ++a) {
    EXPECT_NEAR(search_->tree().view().root_gumbel(0)[a], 2.0f * drawn[a], 1e-5);
  }
  std::vector<float> given(2 * kActions, 0.0f);
  given[3] = 100.0f;  // environment 0 must prefer action 3
  given[kActions + 2] = 100.0f;
  request.root_gumbel = given;
  RootPriors(request);
  EXPECT_EQ(result_.best_actions, (std::vector<int32_t>{3, 2}));
}

TEST_F(SearchRootTest, WeightsOfPuctAreVisitShares) {
  RootPriors({});
  for (size_t i = 0; i < result_.visit_counts.size(); ++i) {
    EXPECT_FLOAT_EQ(result_.action_weights[i], static_cast<float>(result_.visit_counts[i]) / 20);
  }
}

TEST_F(SearchRootTest, ResultsAreThoseOfTheTree) {
  RootPriors({});
  EXPECT_EQ(result_.num_roots, 2);
  EXPECT_EQ(result_.num_actions, kActions);
  for (int b = 0; b < 2; ++b) {
    const size_t i = static_cast<size_t>(b);
    EXPECT_FLOAT_EQ(result_.root_values[i], static_cast<float>(search_->tree().value(b, 0)));
    EXPECT_EQ(result_.network_values[i], model_.Evaluate(EnvId(b), 0, {}).value);
    for (int a = 0; a < kActions; ++a) {
      EXPECT_FLOAT_EQ(result_.q_values[i * kActions + static_cast<size_t>(a)],
                      static_cast<float>(search_->tree().q_value(b, 0, a)));
    }
  }
}

}  // namespace
}  // namespace lzero::search_root_test
