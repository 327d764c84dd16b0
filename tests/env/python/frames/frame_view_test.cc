#include "lzero/env/python/frames/frame_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace lzero::frame_view_test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

WorkerSpec NumbersSpec() {
  WorkerSpec spec;
  spec.observation = {{3}, {-5.0f}, {5.0f}};
  spec.action.num_actions = 4;
  spec.max_episode_steps = 70;
  return spec;
}

// What a worker says after a step that gave these numbers.
struct Answer {
  std::vector<uint8_t> bytes;
  WorkerResult result;

  explicit Answer(const std::vector<float>& numbers) : bytes(numbers.size() * sizeof(float)) {
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    result.frames = bytes;
    result.num_frames = 1;
  }
};

std::vector<float> Observed(const FrameView& view) {
  std::vector<float> observation(static_cast<size_t>(view.observation().size()), -1.0f);
  view.Observe(absl::MakeSpan(observation));
  return observation;
}

TEST(FrameViewTest, IsThePlainWay) {
  FrameView view(NumbersSpec());
  EXPECT_EQ(view.num_frames(), 1);
  EXPECT_EQ(view.max_repeat(), 1);
  EXPECT_EQ(view.max_episode_steps(), 70);
  EXPECT_EQ(view.observation().shape, std::vector<int64_t>({3}));
  EXPECT_TRUE(view.BeginEpisode(1));
  EXPECT_TRUE(view.BeginEpisode(2)) << "every episode begins with a reset";
  EXPECT_TRUE(view.Prelude().empty());
  EXPECT_EQ(view.Repeats(3), std::vector<int32_t>({3}));
  view.Forget();
  EXPECT_TRUE(view.BeginEpisode(3));
}

TEST(FrameViewTest, PassesOnWhatTheWorkerSays) {
  FrameView view(NumbersSpec());
  EXPECT_EQ(Observed(view), std::vector<float>({0, 0, 0})) << "before the first observation";
  const Answer first({1.5f, -2.0f, 1e-30f});
  ASSERT_TRUE(view.First(first.result).ok());
  EXPECT_EQ(Observed(view), std::vector<float>({1.5f, -2.0f, 1e-30f}));

  Answer next({4.0f, 5.0f, 6.0f});
  next.result.reward = 0.1;  // not rounded to float32 here
  next.result.terminated = true;
  auto step = view.Next(next.result);
  ASSERT_TRUE(step.ok());
  EXPECT_EQ(step->reward, 0.1);
  EXPECT_TRUE(step->terminated);
  EXPECT_FALSE(step->truncated);
  EXPECT_EQ(Observed(view), std::vector<float>({4, 5, 6}));

  next.result.terminated = false;
  next.result.truncated = true;
  step = view.Next(next.result);
  EXPECT_FALSE(step->terminated);
  EXPECT_TRUE(step->truncated);
}

TEST(FrameViewTest, RefusesObservationsThatAreNoNumbers) {
  FrameView view(NumbersSpec());
  EXPECT_EQ(view.First(Answer({0, kNan, 0}).result),
            absl::InternalError("the environment gives observation[1] = nan"));
  EXPECT_EQ(view.Next(Answer({0, 0, kInfinity}).result).status(),
            absl::InternalError("the environment gives observation[2] = inf"));
  EXPECT_EQ(view.Next(Answer({-kInfinity, kNan, 0}).result).status(),
            absl::InternalError("the environment gives observation[0] = -inf"));
}

// An episode that is interrupted next shows "the observation before": a number, whatever came
// between.
TEST(FrameViewTest, KeepsTheObservationBeforeOneThatIsRefused) {
  FrameView view(NumbersSpec());
  ASSERT_TRUE(view.First(Answer({1, 2, 3}).result).ok());
  EXPECT_FALSE(view.Next(Answer({7, kNan, 9}).result).ok());
  EXPECT_EQ(Observed(view), std::vector<float>({1, 2, 3}));
  ASSERT_TRUE(view.Next(Answer({4, 5, 6}).result).ok());
  EXPECT_EQ(Observed(view), std::vector<float>({4, 5, 6}));
}

TEST(FrameViewTest, GivesBytesAsFractions) {
  WorkerSpec spec = NumbersSpec();
  spec.observation = {{2, 1, 2}, {0.0f}, {1.0f}, ObservationType::kUint8};
  FrameView view(spec);
  const std::vector<uint8_t> bytes = {0, 1, 128, 255};
  WorkerResult result;
  result.frames = bytes;
  ASSERT_TRUE(view.First(result).ok());
  EXPECT_EQ(Observed(view), std::vector<float>({0.0f, 1.0f / 255.0f, 128.0f / 255.0f, 1.0f}));
}

}  // namespace
}  // namespace lzero::frame_view_test
