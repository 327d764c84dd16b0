// What Search refuses and reports.
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/mcts/search.h"
#include "tests/mcts/search_testing.h"

namespace lzero::search_error_test {
namespace {

using testing::HasSubstr;

class SearchErrorTest : public testing::Test {
 protected:
  SearchErrorTest() : search_(MakeSearch(SearchConfig(), 2, 2)), batch_(2, 2) {}
  absl::Status Run(InferenceModel& model) {
    return search_->Run(model, batch_.roots(), request_, &result_);
  }
  std::unique_ptr<Search> search_;
  RootBatch batch_;
  SearchRequest request_;
  SearchResult result_;
  HashModel model_{HashModelOptions{}};
};

TEST_F(SearchErrorTest, ARootWithoutALegalActionNamesTheEnvironment) {
  batch_.mask(1) = {0, 0};
  batch_.roots()[1].step = 17;
  const absl::Status status = Run(model_);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "environment 1, step 17: no legal action at the root of a search; the environment must "
            "end the episode or offer an action");
}

TEST_F(SearchErrorTest, WrongSizesAreRefused) {
  const std::vector<uint8_t> long_mask(3, 1);
  batch_.roots()[0].legal_action_mask = long_mask;
  EXPECT_EQ(Run(model_).message(), "environment 0: legal action mask of 3 entries for 2 actions");
  batch_.roots()[0].legal_action_mask = batch_.mask(0);
  const std::vector<float> noise(3, 0.0f);
  request_.root_gumbel = noise;
  EXPECT_EQ(Run(model_).message(), "root_gumbel has 3 numbers; allowed: 0, or roots * actions = 4");
  request_.root_gumbel = {};
  HashModelOptions three;
  three.num_actions = 3;
  HashModel wide(three);
  EXPECT_EQ(Run(wide).message(), "the model has 3 actions, the search was made for 2");
  batch_.roots()[1].env = EnvId(0);
  EXPECT_EQ(Run(model_).message(), "environment 0 has two roots in one search");
  batch_.roots().resize(3);
  EXPECT_EQ(Run(model_).message(), "a search of 3 roots, made for at most 2");
}

TEST(SearchCreateTest, SizesThatDoNotFitAreRefused) {
  SearchConfig config;
  EXPECT_THAT(Search::Create(config, 0, 1).status().message(),
              HasSubstr("at least 1 action and 1 root, got 0 and 1"));
  config.num_simulations = 0;
  EXPECT_THAT(Search::Create(config, 2, 1).status().message(),
              HasSubstr("num_simulations: out of range; got '0'"));
  config.num_simulations = 100'000;
  EXPECT_THAT(Search::Create(config, 1'000'000, 1'000'000).status().message(),
              HasSubstr("Lower the simulations or the number of environments"));
  EXPECT_EQ(Search::PlannedBytes(config, 1'000'000'000, 1'000'000'000), int64_t{1} << 60);
}

TEST(SearchCreateTest, PlannedBytesAreThoseOfTheTree) {
  // 26 nodes of 48 bytes and 16 for each of 4 actions (2, padded), 2 lines of 64 bytes: 52 lines,
  // 53 to be odd; a root has 24 bytes more and 2 numbers for each of the 4 actions.
  SearchConfig config;
  EXPECT_EQ(Search::PlannedBytes(config, 2, 8), 8 * (53 * 64 + 24 + 2 * 4 * 4));
  for (const auto& [simulations, actions, roots] :
       {std::tuple(1, 1, 1), std::tuple(25, 2, 8), std::tuple(50, 18, 33)}) {
    config.num_simulations = simulations;
    EXPECT_EQ(Search::PlannedBytes(config, actions, roots),
              Search::Create(config, actions, roots).value()->tree().num_bytes());
  }
}

// Returns one bad number in the call that is asked for.
class BadModel final : public InferenceModel {
 public:
  BadModel(int bad_call, char bad_output, float number)
      : good_(HashModelOptions{}), bad_call_(bad_call), bad_output_(bad_output), number_(number) {}
  int num_actions() const override { return 2; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const absl::Status status = good_.InitialInference(roots, prior_logits, value);
    if (bad_call_ == 0) (bad_output_ == 'v' ? value[1] : prior_logits[3]) = number_;
    return status;
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const absl::Status status = good_.RecurrentInference(parents, actions, children, rewards,
                                                         discounts, values, prior_logits);
    if (bad_output_ == 'e') return absl::UnavailableError("the device is gone");
    if (children[0].value != bad_call_) return status;
    if (bad_output_ == 'r') rewards[1] = number_;
    if (bad_output_ == 'd') discounts[1] = number_;
    if (bad_output_ == 'v') values[1] = number_;
    if (bad_output_ == 'p') prior_logits[3] = number_;
    return status;
  }

 private:
  HashModel good_;
  int bad_call_;
  char bad_output_;
  float number_;
};

// One action, which node 4 of the second root lacks.
class NoActionModel final : public InferenceModel {
 public:
  int num_actions() const override { return 1; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    return good_.InitialInference(roots, prior_logits, value);
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const absl::Status status = good_.RecurrentInference(parents, actions, children, rewards,
                                                         discounts, values, prior_logits);
    if (children[1].value == 4) prior_logits[1] = -kInfinity;
    return status;
  }

 private:
  HashModel good_{{.num_actions = 1}};
};

TEST_F(SearchErrorTest, NumbersThatAreNotFiniteAreNamed) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const struct {
    int call;
    char output;
    float number;
    std::string text;
  } cases[] = {{0, 'v', kNan, "value nan for environment 1, node 0 (the root)"},
               {0, 'p', kInfinity, "prior logit inf of action 1 for environment 1, node 0"},
               {3, 'r', -kInfinity, "reward -inf for environment 1, node 3 (parent "},
               {3, 'd', kNan, "discount nan for environment 1, node 3"},
               {25, 'v', kInfinity, "value inf for environment 1, node 25"},
               {0, 'p', -kInfinity, "prior logit -inf of action 1 for environment 1, node 0"},
               {2, 'p', kNan, "prior logit nan of action 1 for environment 1, node 2"}};
  for (const auto& c : cases) {
    BadModel model(c.call, c.output, c.number);
    const absl::Status status = Run(model);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(status.message(), HasSubstr("the model returned " + c.text));
  }
}

TEST_F(SearchErrorTest, ANodeWithoutAnyActionIsNamed) {
  search_ = MakeSearch(SearchConfig(), 1, 2);
  batch_.mask(0) = batch_.mask(1) = {1};
  for (Root& root : batch_.roots()) root.legal_action_mask = batch_.mask(0);
  NoActionModel model;
  const absl::Status status = Run(model);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("for all 1 actions of environment 1, node 4 (parent 3"));
}

TEST_F(SearchErrorTest, ErrorsOfTheModelArePassedOn) {
  BadModel model(1, 'e', 0.0f);
  EXPECT_EQ(Run(model), absl::UnavailableError("the device is gone"));
}

TEST_F(SearchErrorTest, ValuesThatOverflowAreReported) {
  BadModel model(1, 'r', 3e38f);
  BadModel too_large(1, 'd', 3e38f);
  EXPECT_TRUE(Run(model).ok());
  HashModelOptions options;
  options.discount = 1e30f;
  HashModel growing(options);
  const absl::Status status = Run(growing);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("are too large"));
}

}  // namespace
}  // namespace lzero::search_error_test
