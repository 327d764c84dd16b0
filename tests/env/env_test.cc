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

}  // namespace
}  // namespace lzero::env_test
