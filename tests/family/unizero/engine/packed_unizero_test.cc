// The packed engine of UniZero; its numbers are those of unizero_inference_test.cc, which runs it.
#include "gtest/gtest.h"
#include "lzero/base/log.h"
#include "lzero/family/unizero/engine/unizero_inference.h"

namespace lzero::packed_unizero_test {
namespace {

EngineOptions Options() {
  EngineOptions options;
  options.model.embed_dim = 16;
  options.model.encoder_width = 16;
  options.shape = {{5}, 3};
  options.num_envs = 2;
  options.search.num_simulations = 7;
  options.owner = "evaluator";
  return options;
}

TEST(PackedUniZeroTest, TheLogNamesTheRoleWhoseRunnerWasChosen) {
  ShowDetails();
  testing::internal::CaptureStderr();
  const bool created = MakePackedUniZero(Options()).ok();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(created);
  EXPECT_NE(log.find("runner        evaluator: auto chose packed, "), std::string::npos) << log;
}

TEST(PackedUniZeroTest, PlannedBytesGrowByTheTokensOfNodes) {
  EngineOptions options = Options();
  const int64_t few = PackedUniZeroBytes(options).value();
  options.search.num_simulations += 10;
  EXPECT_EQ(PackedUniZeroBytes(options).value() - few, 2 * 10 * 2 * (2 * 2 * 16) * 4);
}

TEST(PackedUniZeroTest, AnEncoderThatDoesNotFitIsRefused) {
  EngineOptions options = Options();
  options.model.encoder = EncoderKind::kBoard;
  EXPECT_EQ(MakePackedUniZero(options).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PackedUniZeroBytes(options).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace lzero::packed_unizero_test
