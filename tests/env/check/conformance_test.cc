#include "lzero/env/check/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>

#include "tests/env/walk_env.h"

namespace lzero::conformance_test {
namespace {

// A good environment behind a layer that does one thing wrong.
enum class Fault {
  kNone,
  kStepsBeforeReset,
  kRefusesLegalActions,
  kObservationOutside,
  kObservationNan,
  kLegalAfterEnd,
  kGoesPastCap,
  kTruncatesEarly,
  kWrongReturn,
  kForgetsSeed,
  kMaskHidesAction,
  kMaskHidesActionUnsaved,
  kClampsActions,
  kRefusedActionMoves,
  kStepsAfterEnd,
  kSaveForgets,
  kSavesThoughItCannot,
  kLoadsGarbage,
  kStateForgets,
  kEndsAtReset,
  kStacksNothing,
};

EnvSpec FaultySpec(Fault fault) {
  EnvSpec spec = WalkSpec();
  if (fault == Fault::kGoesPastCap) spec.max_episode_steps = 0;
  return spec;
}

class FaultyEnv : public Env {
 public:
  explicit FaultyEnv(Fault fault) : fault_(fault), walk_(FaultySpec(fault)) {
    spec_ = WalkSpec();
    if (fault == Fault::kSavesThoughItCannot || fault == Fault::kMaskHidesActionUnsaved) {
      spec_.can_save = false;
    }
    if (fault == Fault::kStepsBeforeReset) walk_.Reset(0);
    if (fault == Fault::kStacksNothing) spec_.observation.frame_stack = 2;
  }

  const EnvSpec& spec() const override { return spec_; }

  TimeStep Reset(uint64_t seed) override {
    num_steps_ = 0;
    moved_ = false;
    static uint64_t num_resets = 0;
    TimeStep step = Distort(walk_.Reset(fault_ == Fault::kForgetsSeed ? ++num_resets : seed));
    step.terminated = fault_ == Fault::kEndsAtReset;
    return step;
  }

  absl::StatusOr<TimeStep> Step(const Action& action) override {
    if (fault_ == Fault::kRefusesLegalActions && num_steps_ == 3) {
      return absl::InvalidArgumentError("not now");
    }
    Action played = action;
    if (fault_ == Fault::kClampsActions) played.index = std::clamp(played.index, 0, 2);
    absl::StatusOr<TimeStep> step = walk_.Step(played);
    if (fault_ == Fault::kRefusedActionMoves && !step.ok() && !moved_ && num_steps_ > 0 &&
        walk_.GetState()->at(0) > 0.0) {
      moved_ = walk_.Step(Action::Discrete(2)).ok();
    }
    if (fault_ == Fault::kStepsAfterEnd && !step.ok() && num_steps_ > 0) return TimeStep();
    if (!step.ok()) return step;
    ++num_steps_;
    return Distort(*std::move(step));
  }

  absl::StatusOr<std::string> Save() const override { return walk_.Save(); }
  absl::Status Load(const std::string& state) override {
    if (fault_ == Fault::kLoadsGarbage && state.empty()) return absl::OkStatus();
    const absl::Status status = walk_.Load(state);
    if (fault_ == Fault::kSaveForgets && status.ok()) {
      (void)walk_.SetState(*walk_.GetState());  // keeps the position, forgets the step count
    }
    return status;
  }
  absl::StatusOr<std::vector<double>> GetState() const override { return walk_.GetState(); }
  absl::Status SetState(const std::vector<double>& state) override {
    const absl::Status status = walk_.SetState(state);
    if (fault_ == Fault::kStateForgets && status.ok()) walk_.Reset(0);
    return status;
  }

 private:
  TimeStep Distort(TimeStep step) const {
    if (fault_ == Fault::kObservationOutside) step.observation[0] += 1.0f;
    if (fault_ == Fault::kObservationNan && step.observation[0] > 1.0f) {
      step.observation[1] = std::numeric_limits<float>::quiet_NaN();
    }
    if (fault_ == Fault::kLegalAfterEnd) step.legal_action_mask[1] = 1;
    if (fault_ == Fault::kTruncatesEarly && num_steps_ == 6) step.truncated = true;
    if (fault_ == Fault::kWrongReturn) step.episode_return *= 2.0;
    const bool hides =
        fault_ == Fault::kMaskHidesAction || fault_ == Fault::kMaskHidesActionUnsaved;
    if (hides && !step.ended()) step.legal_action_mask[2] = 0;
    return step;
  }

  Fault fault_;
  WalkEnv walk_;
  EnvSpec spec_;
  int64_t num_steps_ = 0;
  bool moved_ = false;
};

std::vector<ConformanceCheck> RunOn(Fault fault) {
  const auto make = [fault]() -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::make_unique<FaultyEnv>(fault);
  };
  return RunConformance(make, {});
}

std::string DetailOf(const std::vector<ConformanceCheck>& checks, const std::string& name) {
  for (const ConformanceCheck& check : checks) {
    if (check.name == name) return check.passed ? "passed" : check.detail;
  }
  return "no such check";
}

TEST(ConformanceTest, AGoodEnvironmentPassesEveryCheck) {
  const auto checks = RunOn(Fault::kNone);
  std::vector<std::string> names;
  for (const ConformanceCheck& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    names.push_back(check.name);
  }
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "create", "spec", "step_before_reset_refused", "random_steps", "observation_in_space",
          "frames_stacked", "mask_and_flags", "step_cap", "returns_consistent",
          "same_seed_same_episode", "mask_equals_accepted_actions", "bad_actions_refused",
          "step_after_end_refused", "save_load_equal", "broken_save_refused", "set_state_equal",
          "symmetries_hold", "chance_outcomes_hold", "box_actions_clipped"}));
}

// Each broken environment, the check that must catch it, and a part of what it says.
struct Catch {
  Fault fault;
  const char* check;
  const char* detail;
};

void PrintTo(const Catch& fault, std::ostream* out) { *out << fault.check; }

class ConformanceCatchTest : public testing::TestWithParam<Catch> {};

TEST_P(ConformanceCatchTest, TheFaultIsFound) {
  const std::string detail = DetailOf(RunOn(GetParam().fault), GetParam().check);
  EXPECT_NE(detail.find(GetParam().detail), std::string::npos) << detail;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ConformanceCatchTest,
    testing::Values(
        Catch{Fault::kStepsBeforeReset, "step_before_reset_refused",
              "Step before the first Reset gives"},
        Catch{Fault::kRefusesLegalActions, "random_steps", "step 3: not now"},
        Catch{Fault::kObservationOutside, "observation_in_space",
              "observation[0] is 6, outside 0 .. 5"},
        Catch{Fault::kObservationNan, "observation_in_space", "observation[1] is nan"},
        Catch{Fault::kLegalAfterEnd, "mask_and_flags", "1 actions are legal after the end"},
        Catch{Fault::kGoesPastCap, "step_cap", "step 20: goes on at the step cap 20"},
        Catch{Fault::kTruncatesEarly, "step_cap", "step 6: truncated away from the step cap 20"},
        Catch{Fault::kWrongReturn, "returns_consistent",
              "episode_return is 2, the rewards sum to 1"},
        Catch{Fault::kForgetsSeed, "same_seed_same_episode", "observation[0] is"},
        Catch{Fault::kMaskHidesAction, "mask_equals_accepted_actions",
              "action 2 is accepted and the mask says 0"},
        Catch{Fault::kMaskHidesActionUnsaved, "mask_equals_accepted_actions",
              "action 2 is accepted and the mask says 0"},
        Catch{Fault::kClampsActions, "bad_actions_refused", "gives OK; expected INVALID_ARGUMENT"},
        Catch{Fault::kRefusedActionMoves, "bad_actions_refused", "changed by a refused action"},
        Catch{Fault::kStepsAfterEnd, "step_after_end_refused",
              "Step after the end gives OK; expected FAILED_PRECONDITION"},
        Catch{Fault::kSaveForgets, "save_load_equal", "saving what was loaded gives other bytes"},
        Catch{Fault::kSavesThoughItCannot, "save_load_equal",
              "Save gives OK; expected UNIMPLEMENTED"},
        Catch{Fault::kSavesThoughItCannot, "broken_save_refused", "Load gives INVALID_ARGUMENT"},
        Catch{Fault::kLoadsGarbage, "broken_save_refused",
              "Load of 0 broken bytes gives OK; expected INVALID_ARGUMENT"},
        Catch{Fault::kStateForgets, "set_state_equal", "observation[0] is"},
        Catch{Fault::kStacksNothing, "frames_stacked", "the spec says frame_stack 2, but"},
        Catch{Fault::kEndsAtReset, "step_after_end_refused", "the episode ends at Reset"}));

// A walk on -3 .. 3 from 0 that looks the same in a mirror.
class MirrorWalk : public EpisodeEnv {
 public:
  static EnvSpec Spec() {
    EnvSpec spec = WalkSpec();
    spec.observation = {{2}, {0.0f}, {1.0f}};
    spec.can_set_state = false;
    spec.can_save = false;
    spec.symmetries = {Symmetry{{0, 1}, {0, 1, 2}}, Symmetry{{1, 0}, {2, 1, 0}}};
    return spec;
  }
  MirrorWalk(EnvSpec spec, float right_reward)
      : EpisodeEnv(std::move(spec)), right_reward_(right_reward) {}

 protected:
  void StartGame(uint64_t) override { position_ = 0; }
  Outcome Advance(const Action& action) override {
    position_ += action.index - 1;
    return {position_ == 3    ? right_reward_
            : position_ == -3 ? 1.0f
                              : 0.0f,
            std::abs(position_) == 3};
  }
  void Observe(absl::Span<float> observation) const override {
    observation[0] = static_cast<float>(std::max(position_, 0)) / 3.0f;
    observation[1] = static_cast<float>(std::max(-position_, 0)) / 3.0f;
  }
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    mask[0] = position_ != 1;  // never back to the middle
    mask[2] = position_ != -1;
  }

 private:
  float right_reward_;
  int position_ = 0;
};

TEST(ConformanceTest, GamesArePlayedAsTheirImagesUnderDeclaredSymmetries) {
  float right_reward = 1.0f;
  EnvSpec spec = MirrorWalk::Spec();
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::make_unique<MirrorWalk>(spec, right_reward);
  };
  const auto checks = RunConformance(make, {});
  for (const ConformanceCheck& check : checks) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    if (check.name == "symmetries_hold") {
      EXPECT_EQ(check.detail, "2 symmetries, 24 episodes played as their images");
    }
  }
  right_reward = 0.5f;  // the mirror would pay 1
  EXPECT_NE(DetailOf(RunConformance(make, {}), "symmetries_hold").find("reward is"),
            std::string::npos);
  right_reward = 1.0f;
  spec.symmetries[1].action_image = {0, 1, 2};  // turns the view, not the actions
  EXPECT_NE(DetailOf(RunConformance(make, {}), "symmetries_hold").find("under symmetry 1"),
            std::string::npos);
}

TEST(ConformanceTest, ACapThatNothingReachesIsSaidSo) {
  const auto detail = [](int64_t cap, int64_t num_steps) {
    EnvSpec spec = WalkSpec();
    spec.max_episode_steps = cap;
    const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Env>> {
      return std::make_unique<WalkEnv>(spec);
    };
    for (const ConformanceCheck& check : RunConformance(make, {0, num_steps})) {
      if (check.name != "step_cap") continue;
      EXPECT_EQ(check.skipped, !check.detail.empty());
      return check.detail;
    }
    return std::string("no such check");
  };
  EXPECT_EQ(detail(2, 100), "");
  EXPECT_EQ(detail(20, 10), "no episode reached it");
  EXPECT_EQ(detail(0, 100), "the spec says there is none");
}

TEST(ConformanceTest, WhatTheSpecDeniesIsNotAskedFor) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    EnvSpec spec = WalkSpec();
    spec.can_save = false;
    spec.can_set_state = false;
    return std::make_unique<WalkEnv>(spec);
  };
  std::vector<std::string> skipped;
  for (const ConformanceCheck& check : RunConformance(make, {})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    if (check.skipped) skipped.push_back(check.name);
    if (check.name == "save_load_equal") {
      EXPECT_EQ(check.detail, "the spec says it cannot save");
    }
  }
  EXPECT_EQ(skipped,
            (std::vector<std::string>{"frames_stacked", "save_load_equal", "broken_save_refused",
                                      "set_state_equal", "symmetries_hold", "chance_outcomes_hold",
                                      "box_actions_clipped"}));
}

TEST(ConformanceTest, NothingPassesThatNoEpisodeShowed) {
  const auto checks = RunOn(Fault::kRefusesLegalActions);  // in the first episode
  ASSERT_EQ(checks.size(), 19u);
  EXPECT_EQ(checks[3].name, "random_steps");
  for (size_t i = 4; i < checks.size(); ++i) {
    EXPECT_TRUE(checks[i].passed && checks[i].skipped) << checks[i].name;
    EXPECT_EQ(checks[i].detail, "no episode was played (random_steps)");
  }
}

TEST(ConformanceTest, EachCheckIsToldAsSoonAsItIsMade) {
  int num_made = 0;
  const auto make = [&]() -> absl::StatusOr<std::unique_ptr<Env>> {
    ++num_made;
    return std::make_unique<WalkEnv>();
  };
  std::vector<std::string> told;
  std::vector<int> made_before;
  const auto checks = RunConformance(make, {0, 100, [&](const ConformanceCheck& check) {
                                              told.push_back(check.name);
                                              made_before.push_back(num_made);
                                            }});
  ASSERT_EQ(told.size(), checks.size());
  EXPECT_EQ(told.front(), "create");
  EXPECT_EQ(told.back(), checks.back().name);
  EXPECT_EQ(made_before.front(), 1);  // long before the last check made its environments
  EXPECT_GT(made_before.back(), 10);
}

TEST(ConformanceTest, AnEnvironmentThatCannotBeMadeEndsTheList) {
  const auto fails = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    return absl::UnavailableError("no worker");
  };
  const auto checks = RunConformance(fails, {});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(DetailOf(checks, "create"), "no worker");
  const auto nothing = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    return std::unique_ptr<Env>();
  };
  EXPECT_EQ(DetailOf(RunConformance(nothing, {}), "create"), "the factory gives no environment");
}

TEST(ConformanceTest, ABrokenSpecEndsTheList) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    EnvSpec spec = WalkSpec();
    spec.action.num_actions = 0;
    return std::make_unique<WalkEnv>(spec);
  };
  const auto checks = RunConformance(make, {});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(DetailOf(checks, "spec"), "num_actions is 0");
}

TEST(ConformanceTest, NoEndWithinReachIsSaid) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<Env>> {
    EnvSpec spec = WalkSpec();
    spec.max_episode_steps = 1000000;
    // Only staying is offered, so the walk never arrives.
    class Endless : public WalkEnv {
     public:
      using WalkEnv::WalkEnv;
      void FillLegalActions(absl::Span<uint8_t> mask) const override { mask[0] = mask[2] = 0; }
    };
    return std::make_unique<Endless>(spec);
  };
  for (const ConformanceCheck& check : RunConformance(make, {0, 50})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    if (check.name == "step_after_end_refused") {
      EXPECT_TRUE(check.skipped);
      EXPECT_EQ(check.detail, "no end within 100000 steps");
    }
  }
}

}  // namespace
}  // namespace lzero::conformance_test
