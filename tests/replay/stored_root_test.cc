#include "lzero/replay/stored_root.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::stored_root_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Step t shows observation (t, 10 t), takes action t % 3 and has policy (t, 0, 1), root value -t,
// player t % 2; action a is illegal at step t where a == t % 3.
std::vector<uint8_t> LegalAt(int t) {
  std::vector<uint8_t> legal = {1, 1, 1};
  legal[t % 3] = 0;
  return legal;
}

void Append(GameSegment* segment, int t) {
  const std::vector<float> observation = {t + 1.0f, 10.0f * (t + 1)};
  const std::vector<float> policy = {1.0f * t, 0.0f, 1.0f};
  const std::vector<uint8_t> legal = LegalAt(t + 1);
  Transition step;
  step.action = t % 3;
  step.policy = policy;
  step.root_value = -1.0f * t;
  step.observation = observation;
  step.legal_action_mask = legal;
  step.to_play = (t + 1) % 2;
  EXPECT_TRUE(segment->Append(step, t, t).ok());
}

// Steps 0 .. 3 and 4 .. 5 of one episode; two steps of context.
class StoredRootTest : public testing::Test {
 protected:
  StoredRootTest() {
    shape_.observation_size = 2;
    shape_.num_actions = 3;
    shape_.num_root_past_steps = 2;
    EXPECT_TRUE(first_.SetFirstObservation({0.0f, 0.0f}, LegalAt(0), 0).ok());
    for (int t = 0; t < 4; ++t) Append(&first_, t);
    second_.SetFirstObservationFrom(first_);
    second_.SetContextFrom(first_);
    for (int t = 4; t < 6; ++t) Append(&second_, t);
  }

  ReplayShape shape_;
  GameSegment first_{{2, 3, 2}, 4, EnvId(0), 0, 0};
  GameSegment second_{{2, 3, 2}, 4, EnvId(0), 0, 4};
  StoredRoot root_;
};

TEST_F(StoredRootTest, AnEpisodeBeginsWithoutAPast) {
  ReadStoredRoot(first_, 0, shape_, &root_);
  EXPECT_EQ(root_.step, 0);
  EXPECT_EQ(root_.to_play, 0);
  EXPECT_THAT(root_.observations, ElementsAre(0, 0));
  EXPECT_THAT(root_.actions, IsEmpty());
  EXPECT_THAT(root_.legal_action_mask, ElementsAre(0, 1, 1));
  EXPECT_THAT(root_.policy, ElementsAre(0, 0, 1));
  EXPECT_EQ(root_.root_value, 0.0f);
  ReadStoredRoot(first_, 1, shape_, &root_);
  EXPECT_THAT(root_.observations, ElementsAre(0, 0, 1, 10));
  EXPECT_THAT(root_.actions, ElementsAre(0));
}

TEST_F(StoredRootTest, ThePastIsThatOfTheEpisode) {
  ReadStoredRoot(first_, 3, shape_, &root_);
  EXPECT_EQ(root_.step, 3);
  EXPECT_EQ(root_.to_play, 1);
  EXPECT_THAT(root_.observations, ElementsAre(1, 10, 2, 20, 3, 30));
  EXPECT_THAT(root_.actions, ElementsAre(1, 2));
  EXPECT_THAT(root_.legal_action_mask, ElementsAre(0, 1, 1));
  EXPECT_THAT(root_.policy, ElementsAre(3, 0, 1));
  EXPECT_EQ(root_.root_value, -3.0f);
  EXPECT_THAT(root_.action_values, IsEmpty());
}

// The segment before may be gone: its last steps are the context.
TEST_F(StoredRootTest, ThePastMayLieInTheContext) {
  ReadStoredRoot(second_, 0, shape_, &root_);
  EXPECT_EQ(root_.step, 4);
  EXPECT_EQ(root_.to_play, 0);
  EXPECT_THAT(root_.observations, ElementsAre(2, 20, 3, 30, 4, 40));
  EXPECT_THAT(root_.actions, ElementsAre(2, 0));
  EXPECT_THAT(root_.legal_action_mask, ElementsAre(1, 0, 1));
  ReadStoredRoot(second_, 1, shape_, &root_);
  EXPECT_THAT(root_.observations, ElementsAre(3, 30, 4, 40, 5, 50));
  EXPECT_THAT(root_.actions, ElementsAre(0, 1));
  EXPECT_EQ(root_.root_value, -5.0f);
}

// Segments may keep more context than a root needs, for burn-in.
TEST_F(StoredRootTest, NoMoreThanARootNeeds) {
  shape_.num_root_past_steps = 1;
  ReadStoredRoot(second_, 0, shape_, &root_);
  EXPECT_THAT(root_.observations, ElementsAre(3, 30, 4, 40));
  EXPECT_THAT(root_.actions, ElementsAre(0));
  shape_.num_root_past_steps = 0;
  ReadStoredRoot(second_, 1, shape_, &root_);
  EXPECT_THAT(root_.observations, ElementsAre(5, 50));
  EXPECT_THAT(root_.actions, IsEmpty());
}

TEST(StoredRootBoxTest, ActionsAreTheirValues) {
  ReplayShape shape;
  shape.observation_size = 1;
  shape.num_actions = 2;
  shape.action_dim = 2;
  shape.num_root_past_steps = 3;
  const SegmentShape segment_shape = {1, 2, 3, ObservationType::kFloat32, 1, /*action_dim=*/2};
  GameSegment first(segment_shape, 2, EnvId(0), 0, 0), second(segment_shape, 2, EnvId(0), 0, 2);
  EXPECT_TRUE(first.SetFirstObservation({0.0f}, {}, 0).ok());
  const auto append = [](GameSegment* segment, int t) {
    const std::vector<float> observation = {t + 1.0f}, policy = {0.5f + t, 0.5f};
    const std::vector<float> values = {0.1f * t, 0.25f}, sampled = {0, 0, 0, 0};
    Transition step;
    step.policy = policy;
    step.root_value = 2.0f * t;
    step.observation = observation;
    step.action_values = values;
    step.sampled_actions = sampled;
    EXPECT_TRUE(segment->Append(step, t, t).ok());
  };
  append(&first, 0);
  append(&first, 1);
  second.SetFirstObservationFrom(first);
  second.SetContextFrom(first);
  append(&second, 2);
  append(&second, 3);
  StoredRoot root;
  root.legal_action_mask = {1, 1};  // of a root that was read before
  ReadStoredRoot(second, 1, shape, &root);
  EXPECT_THAT(root.observations, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(root.action_values, ElementsAre(0, 0.25f, 0.1f, 0.25f, 0.2f, 0.25f));
  EXPECT_THAT(root.legal_action_mask, IsEmpty());
  EXPECT_THAT(root.policy, ElementsAre(3.5f, 0.5f));
  EXPECT_EQ(root.root_value, 6.0f);
}

}  // namespace
}  // namespace lzero::stored_root_test
