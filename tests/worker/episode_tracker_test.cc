// The recent past of an episode: which steps are kept, what a root shows, and exact restoring.
#include "lzero/worker/episode_tracker.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::episode_tracker_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Observations of two numbers: (10 t, 10 t + 1) at step t.
std::vector<float> Observation(int t) {
  return {static_cast<float>(10 * t), static_cast<float>(10 * t + 1)};
}

EpisodeTracker After(int64_t max_past, int num_steps) {
  EpisodeTracker tracker(max_past, 2);
  tracker.Begin(Observation(0));
  for (int t = 1; t <= num_steps; ++t) tracker.Add(100 + t, {}, Observation(t));
  return tracker;
}

TEST(EpisodeTrackerTest, AFreshEpisodeShowsItsFirstObservationAlone) {
  const EpisodeTracker tracker = After(3, 0);
  const Root root = tracker.MakeRoot(EnvId(4), TimeStep());
  EXPECT_EQ(root.env, EnvId(4));
  EXPECT_EQ(root.step, 0);
  EXPECT_THAT(root.observations, ElementsAre(0, 1));
  EXPECT_THAT(root.actions, IsEmpty());
}

TEST(EpisodeTrackerTest, KeepsTheLastStepsOldestFirst) {
  const EpisodeTracker tracker = After(2, 5);
  const Root root = tracker.MakeRoot(EnvId(0), TimeStep());
  EXPECT_EQ(root.step, 5);
  EXPECT_EQ(tracker.step(), 5);
  EXPECT_THAT(root.observations, ElementsAre(30, 31, 40, 41, 50, 51));
  // The action of step t led from observation t - 1 to observation t.
  EXPECT_THAT(root.actions, ElementsAre(104, 105));
}

TEST(EpisodeTrackerTest, FillsUpBeforeItForgets) {
  const EpisodeTracker tracker = After(3, 2);
  const Root root = tracker.MakeRoot(EnvId(0), TimeStep());
  EXPECT_THAT(root.observations, ElementsAre(0, 1, 10, 11, 20, 21));
  EXPECT_THAT(root.actions, ElementsAre(101, 102));
}

TEST(EpisodeTrackerTest, WithoutPastOnlyTheNewestObservationIsKept) {
  const EpisodeTracker tracker = After(0, 4);
  const Root root = tracker.MakeRoot(EnvId(0), TimeStep());
  EXPECT_EQ(root.step, 4);
  EXPECT_THAT(root.observations, ElementsAre(40, 41));
  EXPECT_THAT(root.actions, IsEmpty());
}

TEST(EpisodeTrackerTest, ARootTakesPlayerAndLegalActionsFromTheTimeStep) {
  const EpisodeTracker tracker = After(1, 1);
  TimeStep time_step;
  time_step.to_play = 1;
  time_step.legal_action_mask = {0, 1, 1};
  const Root root = tracker.MakeRoot(EnvId(0), time_step);
  EXPECT_EQ(root.to_play, 1);
  EXPECT_EQ(root.legal_action_mask.data(), time_step.legal_action_mask.data());
  EXPECT_EQ(root.legal_action_mask.size(), 3u);
}

TEST(EpisodeTrackerTest, BeginForgetsTheEpisodeBefore) {
  EpisodeTracker tracker = After(3, 5);
  tracker.Begin(Observation(7));
  const Root root = tracker.MakeRoot(EnvId(0), TimeStep());
  EXPECT_EQ(root.step, 0);
  EXPECT_THAT(root.observations, ElementsAre(70, 71));
  EXPECT_THAT(root.actions, IsEmpty());
}

TEST(EpisodeTrackerTest, BoxActionsKeepTheirValues) {
  EpisodeTracker tracker(2, 2, /*action_dim=*/2);
  tracker.Begin(Observation(0));
  tracker.Add(0, {0.1f, 0.2f}, Observation(1));
  tracker.Add(0, {0.3f, 0.4f}, Observation(2));
  tracker.Add(0, {0.5f, 0.6f}, Observation(3));
  const std::vector<float> newest = {0.3f, 0.4f, 0.5f, 0.6f};
  EXPECT_EQ(tracker.MakeRoot(EnvId(0), TimeStep()).action_values, absl::MakeConstSpan(newest));
  std::vector<NamedArray> arrays;
  tracker.Export("x.", &arrays);
  EpisodeTracker restored(2, 2, 2);
  ASSERT_TRUE(restored.Import("x.", arrays).ok());
  EXPECT_EQ(restored.MakeRoot(EnvId(0), TimeStep()).action_values, absl::MakeConstSpan(newest));
  arrays.back() = MakeNamedArray<float>("x.action_values", {0.5f});
  EXPECT_FALSE(restored.Import("x.", arrays).ok());
  tracker.Begin(Observation(0));
  EXPECT_TRUE(tracker.MakeRoot(EnvId(0), TimeStep()).action_values.empty());
}

TEST(EpisodeTrackerTest, AnImportedTrackerGoesOnLikeTheExportedOne) {
  for (const int num_steps : {0, 1, 2, 6}) {
    EpisodeTracker tracker = After(2, num_steps);
    std::vector<NamedArray> arrays;
    After(2, 3).Export("env8.", &arrays);  // arrays of another environment beside it
    tracker.Export("env3.", &arrays);
    ASSERT_EQ(arrays.size(), 6u);
    EXPECT_EQ(arrays[3].name, "env3.step");
    EXPECT_EQ(arrays[4].name, "env3.observations");
    EXPECT_EQ(arrays[5].name, "env3.actions");

    EpisodeTracker restored(2, 2);
    ASSERT_TRUE(restored.Import("env3.", arrays).ok());
    tracker.Add(55, {}, Observation(9));
    restored.Add(55, {}, Observation(9));
    const Root expected = tracker.MakeRoot(EnvId(0), TimeStep());
    const Root got = restored.MakeRoot(EnvId(0), TimeStep());
    EXPECT_EQ(got.step, expected.step);
    EXPECT_EQ(got.observations, expected.observations);
    EXPECT_EQ(got.actions, expected.actions);
  }
}

TEST(EpisodeTrackerTest, ImportNamesAnArrayThatIsMissing) {
  std::vector<NamedArray> arrays;
  After(2, 3).Export("env0.", &arrays);
  for (const char* name : {"env0.step", "env0.observations", "env0.actions"}) {
    std::vector<NamedArray> fewer = arrays;
    std::erase_if(fewer, [&](const NamedArray& array) { return array.name == name; });
    EpisodeTracker tracker(2, 2);
    const absl::Status status = tracker.Import("env0.", fewer);
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
  }
}

// A run may go on with a program that needs less of the past.
TEST(EpisodeTrackerTest, OfALongerPastTheNewestStepsAreImported) {
  std::vector<NamedArray> arrays;
  After(3, 6).Export("env0.", &arrays);
  for (const int max_past : {0, 1, 2}) {
    EpisodeTracker tracker(max_past, 2);
    ASSERT_TRUE(tracker.Import("env0.", arrays).ok());
    const EpisodeTracker shorter = After(max_past, 6);
    const Root expected = shorter.MakeRoot(EnvId(0), TimeStep());
    const Root got = tracker.MakeRoot(EnvId(0), TimeStep());
    EXPECT_EQ(got.step, 6);
    EXPECT_EQ(got.observations, expected.observations);
    EXPECT_EQ(got.actions, expected.actions);
  }
}

TEST(EpisodeTrackerTest, ImportRefusesAPastOfLargerObservationsAndChangesNothing) {
  std::vector<NamedArray> arrays;
  After(3, 3).Export("env0.", &arrays);
  EpisodeTracker tracker(3, 3);
  tracker.Begin(std::vector<float>(3, 5.0f));
  EXPECT_EQ(tracker.Import("env0.", arrays),
            absl::InvalidArgumentError(
                "the past of env0. does not fit: 3 actions, 8 observation values of 3 each"));
  const Root root = tracker.MakeRoot(EnvId(0), TimeStep());
  EXPECT_EQ(root.step, 0);
  EXPECT_EQ(root.observations, absl::MakeConstSpan({5.0f, 5.0f, 5.0f}));
}

TEST(EpisodeTrackerTest, ImportRefusesAStepBelowTheNumberOfPastActions) {
  std::vector<NamedArray> arrays;
  After(3, 3).Export("env0.", &arrays);
  const int64_t step = 2;
  arrays[0] = MakeNamedArray("env0.step", absl::Span<const int64_t>(&step, 1));
  EpisodeTracker tracker(3, 2);
  EXPECT_EQ(tracker.Import("env0.", arrays).code(), absl::StatusCode::kInvalidArgument);
}

TEST(EpisodeTrackerDeathTest, AnObservationOfAnotherSizeIsACallersBug) {
  EpisodeTracker tracker(2, 2);
  const std::vector<float> longer(3);
  EXPECT_DEATH(tracker.Begin(longer), "3");
  tracker.Begin(Observation(0));
  EXPECT_DEATH(tracker.Add(0, {}, longer), "3");
}

TEST(EpisodeTrackerTest, ARootHasTheStateThatItsTimeStepBrings) {
  EpisodeTracker tracker(0, 1);
  TimeStep step;
  step.observation = {1.0f};
  tracker.Begin(step.observation);
  EXPECT_EQ(tracker.MakeRoot(EnvId(0), step).state, "");
  step.state = "saved";
  EXPECT_EQ(tracker.MakeRoot(EnvId(0), step).state, "saved");
}

}  // namespace
}  // namespace lzero::episode_tracker_test
