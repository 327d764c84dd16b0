#include "lzero/pipe/env_server.h"

#include <memory>

#include "absl/status/status.h"
#include "envs/register_all.h"
#include "gtest/gtest.h"
#include "lzero/env/env_registry.h"

namespace lzero::env_server_test {
namespace {

std::string Number(int32_t number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::string Seed(uint64_t seed) {
  return std::string(reinterpret_cast<const char*>(&seed), sizeof(seed));
}

// Counting: the right action at count n is n modulo 3, pays 1 and counts on; a wrong one pays
// nothing and ends the episode. Observation {11}: one-hot of the count.
struct Served {
  Served() {
    EnvRegistry registry;
    RegisterAllEnvs(registry);
    env = registry.Make("counting", EnvOptions()).value();
    server = std::make_unique<EnvServer>(env.get());
  }
  absl::StatusOr<std::string> Ask(FrameType type, const std::string& body = "") {
    return server->Answer({type, 0, body});
  }
  std::unique_ptr<Env> env;
  std::unique_ptr<EnvServer> server;
};

const std::string kOne("\0\0\x80\x3f", 4);
const std::string kTwoAsDouble("\0\0\0\0\0\0\0\x40", 8);

TEST(EnvServerTest, ATimeStepHasTheEndsPlayerRewardReturnObservationAndMask) {
  Served served;
  ASSERT_TRUE(served.Ask(FrameType::kEnvReset, Seed(1)).ok());
  ASSERT_TRUE(served.Ask(FrameType::kStep, Number(0)).ok());
  const auto frame = served.Ask(FrameType::kStep, Number(1));
  ASSERT_TRUE(frame.ok()) << frame.status();
  ASSERT_EQ(frame->size(), 4 + 24 + 11 * 4 + 3u);
  EXPECT_EQ(frame->substr(0, 8), std::string("\x85\0\0\0\0\0\0\0", 8));  // the episode goes on
  EXPECT_EQ(frame->substr(8, 4), Number(0));                             // to play
  EXPECT_EQ(frame->substr(12, 4), kOne);                                 // reward
  EXPECT_EQ(frame->substr(16, 4), Number(-1));                           // no chance outcome
  EXPECT_EQ(frame->substr(20, 8), kTwoAsDouble);                         // return
  EXPECT_EQ(frame->substr(28, 12), std::string(8, '\0') + kOne);         // the count is 2
  EXPECT_EQ(frame->substr(72), std::string("\1\1\1", 3));
}

TEST(EnvServerTest, AnEpisodeEnds) {
  Served served;
  ASSERT_TRUE(served.Ask(FrameType::kEnvReset, Seed(1)).ok());
  const auto last = served.Ask(FrameType::kStep, Number(2));
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->substr(4, 4), std::string("\1\0\0\0", 4));
  EXPECT_EQ(last->substr(72), std::string("\0\0\0", 3));
  EXPECT_TRUE(absl::IsFailedPrecondition(served.Ask(FrameType::kStep, Number(2)).status()));
}

TEST(EnvServerTest, SavesAndDrawsWhatTheEnvironmentDoes) {
  Served served;
  ASSERT_TRUE(served.Ask(FrameType::kEnvReset, Seed(1)).ok());
  EXPECT_EQ(served.Ask(FrameType::kSave)->substr(4), *served.env->Save());
  EXPECT_EQ(served.Ask(FrameType::kText)->substr(4), *served.env->RenderText());
  const Image picture = *served.env->RenderRgb();
  const auto frame = served.Ask(FrameType::kPicture);
  EXPECT_EQ(frame->substr(4, 8), Number(picture.width) + Number(picture.height));
  EXPECT_EQ(frame->substr(12), std::string(picture.pixels.begin(), picture.pixels.end()));
}

TEST(EnvServerTest, RefusesWhatItCannotRead) {
  Served served;
  ASSERT_TRUE(served.Ask(FrameType::kEnvReset, Seed(0)).ok());
  EXPECT_TRUE(absl::IsDataLoss(served.Ask(FrameType::kEnvReset, "1234567").status()));
  EXPECT_TRUE(absl::IsDataLoss(served.Ask(FrameType::kStep, "12345").status()));
  EXPECT_TRUE(absl::IsDataLoss(served.Ask(FrameType::kSave, "x").status()));
  EXPECT_TRUE(absl::IsDataLoss(served.Ask(FrameType::kAct).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(served.Ask(FrameType::kStep, Number(3)).status()));
}

TEST(ReadActionTest, ABoxActionIsItsNumbers) {
  ActionSpec spec;
  spec.kind = ActionKind::kBox;
  spec.low = spec.high = {0.0f, 0.0f};
  const std::string body("\0\0\x80\x3f\0\0\0\xc0", 8);
  const auto action = ReadAction({FrameType::kStep, 0, body}, spec);
  ASSERT_TRUE(action.ok()) << action.status();
  EXPECT_EQ(action->values, std::vector<float>({1.0f, -2.0f}));
  EXPECT_FALSE(ReadAction({FrameType::kStep, 0, body.substr(4)}, spec).ok());
}

}  // namespace
}  // namespace lzero::env_server_test
