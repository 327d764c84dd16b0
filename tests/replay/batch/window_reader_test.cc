#include "lzero/replay/batch/window_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::window_reader_test {
namespace {

using ::testing::ElementsAre;

void Append(GameSegment* segment, int t) {
  const std::vector<float> numbers = {1.0f};
  const std::vector<uint8_t> legal = {1};
  Transition step;
  step.reward = static_cast<float>(t);
  step.root_value = 10.0f * static_cast<float>(t);
  step.policy = numbers;
  step.observation = numbers;
  step.legal_action_mask = legal;
  step.to_play = (t + 1) % 2;
  ASSERT_TRUE(segment->Append(step, t, t).ok());
}

// An episode of three steps, cut after the first two.
TEST(WindowReader, GoesOnInTheNextSegment) {
  const SegmentShape shape = {1, 1};
  GameSegment first(shape, 2, EnvId(0), 0, 0), second(shape, 2, EnvId(0), 0, 2);
  ASSERT_TRUE(first.SetFirstObservation({1.0f}, {1}, 0).ok());
  Append(&first, 0);
  Append(&first, 1);
  second.SetFirstObservationFrom(first);
  Append(&second, 2);
  second.set_end(SegmentEnd::kTerminated);
  GameSegment::Link(&first, &second);
  WindowReader reader(3);
  const StepWindow all = reader.Read({&first, 0});
  EXPECT_THAT(all.rewards, ElementsAre(0, 1, 2));
  EXPECT_THAT(all.root_values, ElementsAre(0, 10, 20));
  EXPECT_THAT(all.to_play, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(all.end, SegmentEnd::kTerminated);
  WindowReader narrow(2);
  const StepWindow some = narrow.Read({&first, 0});
  EXPECT_THAT(some.rewards, ElementsAre(0, 1));
  EXPECT_EQ(some.end, SegmentEnd::kRunsOn) << "a step follows that is not read";
  const StepWindow rest = narrow.Read({&first, 1});
  EXPECT_THAT(rest.rewards, ElementsAre(1, 2));
  EXPECT_EQ(rest.end, SegmentEnd::kTerminated);
}

}  // namespace
}  // namespace lzero::window_reader_test
