// An owned transition holds what its views showed, after these are gone.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/worker/staged_steps.h"

namespace lzero::transition_test {
namespace {

using testing::ElementsAre;

TEST(OwnedTransition, HoldsCopiesOfEverything) {
  OwnedTransition owned;
  for (const float number : {1.0f, 2.0f}) {  // its memory is used again
    std::vector<float> policy = {number, 0.5f}, observation = {3.0f * number};
    std::vector<float> values = {-number}, sampled = {0.1f, 0.2f};
    std::vector<uint8_t> mask = {1, 0};
    Transition seen;
    seen.action = 1;
    seen.reward = number;
    seen.policy = policy;
    seen.root_value = -2.0f;
    seen.observation = observation;
    seen.legal_action_mask = mask;
    seen.to_play = 1;
    seen.terminated = true;
    seen.chance_outcome = 4;
    seen.action_values = values;
    seen.sampled_actions = sampled;
    owned.Set(seen);
    for (std::vector<float>* each : {&policy, &observation, &values, &sampled}) {
      each->assign(each->size(), 99.0f);
    }
    mask.assign(2, 7);
    const Transition kept = owned.view();
    EXPECT_EQ(kept.action, 1);
    EXPECT_EQ(kept.reward, number);
    EXPECT_THAT(kept.policy, ElementsAre(number, 0.5f));
    EXPECT_EQ(kept.root_value, -2.0f);
    EXPECT_THAT(kept.observation, ElementsAre(3.0f * number));
    EXPECT_THAT(kept.legal_action_mask, ElementsAre(1, 0));
    EXPECT_EQ(kept.to_play, 1);
    EXPECT_TRUE(kept.terminated);
    EXPECT_FALSE(kept.truncated);
    EXPECT_EQ(kept.chance_outcome, 4);
    EXPECT_THAT(kept.action_values, ElementsAre(-number));
    EXPECT_THAT(kept.sampled_actions, ElementsAre(0.1f, 0.2f));
  }
}

}  // namespace
}  // namespace lzero::transition_test
