#include "lzero/mcts/output_check.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::output_check_test {
namespace {

using testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two roots of seven actions: a group of lanes and a rest.
class OutputCheckTest : public testing::Test {
 protected:
  static constexpr size_t kActions = 7;

  OutputCheckTest() : batch_(2, kActions), legal_(2 * kActions, 1), logits_(2 * kActions, 0.5f) {}

  absl::Status CheckRoots() const { return CheckRootOutputs(batch_.roots(), legal_, Outputs()); }
  absl::Status CheckStep() const {
    return CheckStepOutputs(batch_.roots(), 9, leaves_, entries_, Outputs());
  }

  mutable RootBatch batch_;
  std::vector<uint8_t> legal_;
  RowEntries entries_ = {kActions, 0};
  std::vector<Leaf> leaves_ = {{4, 1, -1, 2}, {5, 2, -1, 3}};
  std::vector<float> rewards_ = {0.0f, 1.0f}, discounts_ = {1.0f, 1.0f}, values_ = {0.0f, -1.0f};
  std::vector<float> logits_;

 private:
  ModelOutputs Outputs() const { return {rewards_, discounts_, values_, logits_}; }
};

TEST_F(OutputCheckTest, FiniteNumbersAreFine) {
  EXPECT_TRUE(CheckRoots().ok());
  EXPECT_TRUE(CheckStep().ok());
  logits_[2] = -3e38f;
  EXPECT_TRUE(CheckStep().ok());
}

TEST_F(OutputCheckTest, BelowTheRootActionsMayBeMissingButNotAll) {
  for (size_t a = 0; a < kActions; ++a) {
    for (size_t i = 0; i < kActions; ++i) logits_[kActions + i] = i == a ? 1.0f : -kInfinity;
    EXPECT_TRUE(CheckStep().ok()) << a;
    logits_[kActions + a] = -kInfinity;
    EXPECT_EQ(CheckStep(),
              absl::InternalError(
                  "the model returned prior logits of -inf for all 7 actions of environment 1, "
                  "node 9 (parent 5, action 2); at least one must be there"));
  }
}

TEST_F(OutputCheckTest, NumbersThatAreNotFiniteAreNamedAlsoBesideMissingActions) {
  for (const float number : {kInfinity, kNan}) {
    for (size_t a = 0; a < kActions; ++a) {
      logits_.assign(2 * kActions, 0.5f);
      logits_[kActions + (a + 1) % kActions] = -kInfinity;
      logits_[kActions + a] = number;
      const absl::Status status = CheckStep();
      EXPECT_TRUE(absl::IsInternal(status));
      EXPECT_THAT(status.message(),
                  HasSubstr(absl::StrCat("prior logit ", number, " of action ", a,
                                         " for environment 1, node 9 (parent 5, action 2)")));
    }
  }
}

TEST_F(OutputCheckTest, AtTheRootIllegalActionsAloneMayBeMissing) {
  legal_[kActions + 6] = 0;
  logits_[kActions + 6] = -kInfinity;
  EXPECT_TRUE(CheckRoots().ok());
  logits_[kActions + 6] = kNan;
  EXPECT_THAT(CheckRoots().message(),
              HasSubstr("prior logit nan of action 6 for environment 1, node 0 (the root)"));
  logits_[kActions + 6] = 0.0f;
  logits_[3] = -kInfinity;
  EXPECT_EQ(CheckRoots(),
            absl::InternalError(
                "the model returned prior logit -inf of action 3 for environment 0, node 0 (the "
                "root); only finite numbers can be searched, and -inf for an action that is not "
                "there"));
}

TEST_F(OutputCheckTest, RowsOfDecisionsAndChanceEndWithTheirEntries) {
  // Leaf 0 has depth 2, a decision; leaf 1 has depth 3, chance.
  entries_ = {3, kActions};
  for (size_t a = 3; a < kActions; ++a) logits_[a] = -kInfinity;
  EXPECT_TRUE(CheckStep().ok());
  logits_[6] = 2.0f;
  EXPECT_EQ(CheckStep().message(),
            "the model returned prior logit 2 at 6 for environment 0, node 9 (parent 4, action 1), "
            "which has 3 actions; behind them a row must be -inf");
  logits_[6] = -kInfinity;
  entries_ = {3, 5};
  EXPECT_THAT(CheckStep().message(), HasSubstr("at 5 for environment 1, node 9 (parent 5, action "
                                               "2), which has 5 outcomes"));
  for (size_t a = 0; a < 7; ++a) logits_[kActions + a] = -kInfinity;
  EXPECT_THAT(CheckStep().message(), HasSubstr("-inf for all 5 outcomes of environment 1"));
}

TEST_F(OutputCheckTest, RewardsDiscountsAndValuesAreFinite) {
  for (const float number : {kInfinity, -kInfinity, kNan}) {
    for (auto [name, numbers] :
         {std::pair("reward", &rewards_), {"discount", &discounts_}, {"value", &values_}}) {
      (*numbers)[1] = number;
      EXPECT_EQ(CheckStep().message(),
                absl::StrCat("the model returned ", name, " ", number,
                             " for environment 1, node 9 (parent 5, action 2); only finite numbers "
                             "can be searched"));
      (*numbers)[1] = 0.0f;
    }
    values_[0] = number;
    EXPECT_THAT(CheckRoots().message(), HasSubstr("for environment 0, node 0 (the root)"));
    values_[0] = 0.0f;
  }
}

}  // namespace
}  // namespace lzero::output_check_test
