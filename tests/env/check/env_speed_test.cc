#include "lzero/env/check/env_speed.h"

#include "gtest/gtest.h"
#include "tests/env/walk_env.h"

namespace lzero::env_speed_test {
namespace {

std::vector<std::unique_ptr<Env>> Walks(int count) {
  std::vector<std::unique_ptr<Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<WalkEnv>());
  return envs;
}

TEST(EnvSpeedTest, CountsStepsAndEpisodesForAsLongAsAsked) {
  for (const int count : {1, 3}) {
    const auto speed = MeasureEnvSpeed(Walks(count), 0.01);
    ASSERT_TRUE(speed.ok()) << speed.status();
    EXPECT_GE(speed->seconds, 0.01);
    // A walk lasts 4 to 20 steps.
    EXPECT_GE(speed->num_steps, 4 * (speed->num_episodes - count));
    EXPECT_LE(speed->num_steps, 20 * speed->num_episodes);
  }
}

// Refuses to go on after some steps.
class Tired : public WalkEnv {
 protected:
  void FillLegalActions(absl::Span<uint8_t> mask) const override {
    for (uint8_t& legal : mask) legal = 0;
  }
};

TEST(EnvSpeedTest, PassesErrorsOn) {
  std::vector<std::unique_ptr<Env>> envs;
  envs.push_back(std::make_unique<Tired>());
  EXPECT_EQ(MeasureEnvSpeed(std::move(envs), 0.01).status().message(),
            "'walk' offers no legal action in a running episode");
}

}  // namespace
}  // namespace lzero::env_speed_test
