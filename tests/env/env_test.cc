#include "lzero/env/env.h"

#include <gtest/gtest.h>

namespace lzero::env_test {
namespace {

// Implements what must be implemented and nothing else.
class BareEnv : public Env {
 public:
  BareEnv() { spec_.id = "bare"; }
  const EnvSpec& spec() const override { return spec_; }
  TimeStep Reset(uint64_t) override { return {}; }
  absl::StatusOr<TimeStep> Step(const Action&) override { return TimeStep(); }

 private:
  EnvSpec spec_;
};

TEST(EnvTest, OptionalPartsSayThatTheyAreMissing) {
  BareEnv env;
  const auto expect = [](const absl::Status& status, const char* what) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_EQ(std::string(status.message()), std::string("environment 'bare' cannot ") + what);
  };
  expect(env.Save().status(), "save its state");
  expect(env.Load(""), "load a saved state");
  expect(env.GetState().status(), "give a physics state");
  expect(env.SetState({}), "take a physics state");
  expect(env.RenderText().status(), "draw itself as text");
}

TEST(EnvTest, AnEpisodeHasEndedEitherWay) {
  TimeStep step;
  EXPECT_FALSE(step.ended());
  step.truncated = true;
  EXPECT_TRUE(step.ended());
  step = {};
  step.terminated = true;
  EXPECT_TRUE(step.ended());
}

TEST(EnvTest, ObservationSizeIsTheProductOfItsShape) {
  EXPECT_EQ((ObservationSpec{{3, 4, 5}, {}, {}}.size()), 60);
  EXPECT_EQ((ObservationSpec{{}, {}, {}}.size()), 1);
}

TEST(MakeAction, DiscreteKeepsTheIndex) {
  ActionSpec spec;
  spec.num_actions = 3;
  Action action;
  MakeAction(spec, 2, {}, &action);
  EXPECT_EQ(action.index, 2);
  EXPECT_TRUE(action.values.empty());
}

TEST(MakeAction, BoxSpreadsOverTheBounds) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low = {-2.0f, 10.0f};
  spec.high = {2.0f, 20.0f};
  Action action;
  MakeAction(spec, 0, {0.5f, -0.2f}, &action);
  EXPECT_FLOAT_EQ(action.values[0], 1.0f);
  EXPECT_FLOAT_EQ(action.values[1], 14.0f);
  MakeAction(spec, 0, {-1.0f, 1.0f}, &action);
  EXPECT_EQ(action.values[0], -2.0f);
  EXPECT_EQ(action.values[1], 20.0f);
}

TEST(MakeAction, NeverLeavesBoundsThatRoundBadly) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low = {-0.1f, -std::numeric_limits<float>::max()};
  spec.high = {0.7f, std::numeric_limits<float>::max()};
  Action action;
  for (float value = -1.0f; value <= 1.0f; value += 0.001f) {
    MakeAction(spec, 0, {value, value}, &action);
    EXPECT_GE(action.values[0], spec.low[0]);
    EXPECT_LE(action.values[0], spec.high[0]);
    EXPECT_TRUE(std::isfinite(action.values[1]));
  }
}

}  // namespace
}  // namespace lzero::env_test
