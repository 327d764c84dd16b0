// The packed engine of UniZero, for boards and pictures; for vectors its numbers are those of
// unizero_inference_test.cc, which runs it.
#include "gtest/gtest.h"
#include "lzero/base/log.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "tests/family/packed_engine_parity.h"

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

using packed_engine_parity::Case;
using enum EncoderKind;

class PackedUniZero : public testing::TestWithParam<Case> {};

TEST_P(PackedUniZero, GivesTheNumbersOfTheEagerOne) {
  packed_engine_parity::ExpectNumbersOfEager(GetParam());
}

TEST_P(PackedUniZero, ThreadsChangeNoBit) {
  packed_engine_parity::ExpectThreadsChangeNoBit(GetParam());
}

TEST_P(PackedUniZero, AllocatesNothingOnceWarm) {
  packed_engine_parity::ExpectNoAllocationOnceWarm(GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, PackedUniZero,
                         testing::Values(Case{"Board", Family::kUniZero, kBoard, {2, 5, 6}},
                                         Case{"Image", Family::kUniZero, kImage, {3, 22, 18}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace lzero::packed_unizero_test
