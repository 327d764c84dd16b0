#include "lzero/env/check/conformance_verdict.h"

#include <gtest/gtest.h>

#include "tests/env/walk_env.h"

namespace lzero::conformance_verdict_test {
namespace {

TEST(ConformanceVerdictTest, AFailedCheckSaysWhatFollows) {
  const ConformanceCheck good = MakeCheck("spec", absl::OkStatus(), "a note");
  EXPECT_TRUE(good.passed);
  EXPECT_EQ(good.detail, "a note");
  const ConformanceCheck bad = MakeCheck("step_after_end_refused", absl::InternalError("x"), "n");
  EXPECT_FALSE(bad.passed);
  EXPECT_EQ(bad.detail, "x");
  EXPECT_FALSE(bad.hinders);
  EXPECT_EQ(bad.because, "lzero resets after an end");
}

TEST(ConformanceVerdictTest, SaysWhetherItMayBeTrained) {
  const ConformanceCheck good = {"spec", true, ""};
  const ConformanceCheck drifts = {"same_seed_same_episode", false, "x", false, "y"};
  const ConformanceCheck loose = {"bad_actions_refused", false, "x", false, "y"};
  const ConformanceCheck broken = {"mask_and_flags", false, "x", true, "y"};
  EXPECT_EQ(VerdictText("e", {good}), "e conforms");
  EXPECT_EQ(VerdictText("e", {good, loose}), "e: 1 check failed; it may be trained");
  EXPECT_EQ(VerdictText("e", {drifts, loose}),
            "e: 2 checks failed; it may be trained; runs will not repeat bit for bit");
  EXPECT_EQ(VerdictText("e", {broken, loose, drifts}),
            "e: 3 checks failed; to be mended first: mask_and_flags; runs will not repeat bit for "
            "bit");
}

// Finite numbers out of bounds cost nothing; a NaN does.
TEST(ConformanceVerdictTest, BoundsDoNotHinder) {
  EXPECT_FALSE(MakeCheck("observation_in_space", absl::OutOfRangeError("x")).hinders);
  EXPECT_TRUE(MakeCheck("observation_in_space", absl::InternalError("x")).hinders);
}

// A walk that drifts: each episode looks a little different, and no other check is to blame for it.
class Drifting : public WalkEnv {
 protected:
  void StartGame(uint64_t seed) override {
    WalkEnv::StartGame(seed);
    drift += 1e-6f;
  }
  void Observe(absl::Span<float> observation) const override {
    WalkEnv::Observe(observation);
    observation[1] *= 0.5f + drift;
  }

 private:
  static inline float drift = 0.0f;
};

TEST(ConformanceVerdictTest, EpisodesThatDoNotRepeatFailOneCheckAlone) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::make_unique<Drifting>();
  };
  const auto checks = RunConformance(make, {0, 200});
  for (const ConformanceCheck& check : checks) {
    EXPECT_EQ(check.passed, check.name != "same_seed_same_episode")
        << check.name << ": " << check.detail;
    if (check.name == "save_load_equal") {
      EXPECT_TRUE(check.skipped);
      EXPECT_EQ(check.detail, "the same seed gives other episodes (same_seed_same_episode)");
    }
  }
  EXPECT_EQ(VerdictText("e", checks),
            "e: 1 check failed; it may be trained; runs will not repeat bit for bit");
}

TEST(ConformanceVerdictTest, AnEnvironmentWithoutAnEndNeedsACap) {
  ConformanceCheck check = MakeCheck("step_after_end_refused", absl::OkStatus());
  EXPECT_EQ(VerdictText("e", {check}), "e conforms");
  check.skipped = true;
  check.detail = "no episode was played (random_steps)";
  EXPECT_EQ(VerdictText("e", {check}), "e conforms") << "nothing is known of an end";
  check.detail = "no end within 100000 steps";
  EXPECT_EQ(VerdictText("e", {check}),
            "e conforms; it does not end, so training and evaluation need env.max_episode_steps");
}

}  // namespace
}  // namespace lzero::conformance_verdict_test
