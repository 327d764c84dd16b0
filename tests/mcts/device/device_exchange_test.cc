#include "lzero/mcts/device/device_exchange.h"

#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mcts/device/device_driver.h"
#include "tests/mcts/search_testing.h"
#include "tests/support/plain_functions.h"

namespace lzero::device_exchange_test {
namespace {

using testing::HasSubstr;

class DeviceExchangeTest : public testing::Test {
 protected:
  DeviceExchangeTest() : batch_(2, 3) {
    BlockCursor size(nullptr);
    DeviceInputs::Over(&size, 2, 3);
    memory_.resize(static_cast<size_t>(size.num_bytes()));
    BlockCursor cursor(memory_.data());
    inputs_ = DeviceInputs::Over(&cursor, 2, 3);
  }
  void Fill(const SearchRequest& request) {
    FillDeviceInputs(config_, batch_.roots(), request, inputs_);
  }

  SearchConfig config_;
  RootBatch batch_;
  std::vector<double> memory_;
  DeviceInputs inputs_;
};

TEST_F(DeviceExchangeTest, InputsSayWhichRootsAndWhichActions) {
  batch_.mask(1)[2] = 0;
  batch_.roots()[0].env = EnvId(7);
  Fill({});
  EXPECT_EQ(inputs_.switches->num_roots, 2);
  EXPECT_EQ(inputs_.switches->has_noise, 0);
  EXPECT_EQ(inputs_.switches->first_of_ties, 1);
  EXPECT_EQ(inputs_.envs[0], 7);
  EXPECT_EQ(std::vector<int>(inputs_.legal, inputs_.legal + 6),
            (std::vector<int>{1, 1, 1, 1, 1, 0}));
  EXPECT_NE(inputs_.tie_keys[0], inputs_.tie_keys[1]);
}

TEST_F(DeviceExchangeTest, NoiseGoesToTheLegalActions) {
  batch_.mask(1)[0] = 0;
  SearchRequest request;
  request.add_noise = true;
  Fill(request);
  EXPECT_EQ(inputs_.switches->has_noise, 1);
  EXPECT_NEAR(inputs_.noise[0] + inputs_.noise[1] + inputs_.noise[2], 1.0, 1e-12);
  EXPECT_NEAR(inputs_.noise[3] + inputs_.noise[4], 1.0, 1e-12) << "two legal actions";
}

TEST_F(DeviceExchangeTest, GivenGumbelNoiseIsTaken) {
  config_.policy = SearchPolicy::kGumbel;
  const std::vector<float> gumbel = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
  SearchRequest request;
  request.root_gumbel = gumbel;
  Fill(request);
  EXPECT_EQ(inputs_.switches->has_noise, 1);
  EXPECT_EQ(std::vector<float>(inputs_.noise, inputs_.noise + 6), gumbel);
}

// Answers as the hash model, but for one number of one root.
class FaultyModel final : public InferenceModel {
 public:
  FaultyModel(int node, float number) : model_({.num_actions = 3}), node_(node), number_(number) {}
  int num_actions() const override { return 3; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const auto status = model_.InitialInference(roots, prior_logits, value);
    if (node_ == 0) prior_logits[4] = number_;
    return status;
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const auto status = model_.RecurrentInference(parents, actions, children, rewards, discounts,
                                                  values, prior_logits);
    if (children[0].value == node_) values[1] = number_;
    return status;
  }

 private:
  HashModel model_;
  int node_;
  float number_;
};

// Lacks all actions at node 5 of root 1, and one at the others.
class LackingModel final : public InferenceModel {
 public:
  int num_actions() const override { return 3; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    return model_.InitialInference(roots, prior_logits, value);
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const auto status = model_.RecurrentInference(parents, actions, children, rewards, discounts,
                                                  values, prior_logits);
    for (size_t b = 0; b < 2; ++b) prior_logits[b * 3] = -kInfinity;
    if (children[1].value == 5) prior_logits[4] = prior_logits[5] = -kInfinity;
    return status;
  }

 private:
  HashModel model_{{.num_actions = 3}};
};

// What a search of two roots with that model says.
absl::Status RunWith(InferenceModel& model, const SearchConfig& config,
                     absl::Span<const Root> roots) {
  const auto search = DeviceSearch::Create(config, 3, 2, PlainFunctions());
  EXPECT_TRUE(search.ok()) << search.status();
  DeviceDriver<HostCopies> driver(search->get(), 3, nullptr);
  SearchResult result;
  return driver.Run(model, roots, {}, static_cast<int>(config.num_simulations), true, &result);
}
absl::Status RunFaulty(const SearchConfig& config, absl::Span<const Root> roots, int node,
                       float number) {
  FaultyModel model(node, number);
  return RunWith(model, config, roots);
}

TEST_F(DeviceExchangeTest, NumbersThatAreNotFiniteAreAnErrorWithEnvironmentAndNode) {
  for (const int node : {0, 5}) {
    for (const float number : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
      for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
        config_.policy = policy;
        const auto status = RunFaulty(config_, batch_.roots(), node, number);
        EXPECT_TRUE(absl::IsInternal(status));
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr(absl::StrCat("environment 1, node ", node, ";")));
      }
    }
  }
  batch_.mask(1)[1] = 0;
  EXPECT_TRUE(RunFaulty(config_, batch_.roots(), 0, -kInfinity).ok())
      << "an illegal action may be missing";
  const auto status = RunFaulty(config_, batch_.roots(), 1, 1e30f);
  EXPECT_TRUE(status.ok()) << "a large number is still finite: " << status;
}

TEST_F(DeviceExchangeTest, ANodeWithoutAnyActionIsAnError) {
  LackingModel model;
  const auto status = RunWith(model, config_, batch_.roots());
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("environment 1, node 5;"));
}

}  // namespace
}  // namespace lzero::device_exchange_test
